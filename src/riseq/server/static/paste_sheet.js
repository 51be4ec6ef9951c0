// The dialog in which a whole dialogue is pasted; what was found in it is told before it is used.
import { byId } from "./dom.js";
import { readDialogue, splitQuestion } from "./paste.js";
import { useDialogue } from "./question.js";

/** Listen to the button that opens it, and to the dialog. */
export function startPasteSheet() {
  const sheet = byId("paste-sheet");
  const text = byId("paste-text");
  const last = byId("paste-last");
  const draw = () => {
    const found = readDialogue(text.value);
    const { said, asked } = splitQuestion(found, last.checked);
    const turns = `${said.length} ${said.length === 1 ? "turn" : "turns"}`;
    const answers = last.checked && asked === null && said.length;
    byId("paste-found").textContent = text.value.trim()
      ? `${turns}${asked === null ? "" : " and the question"} found${answers ? "; the last one is an answer" : ""}`
      : "";
    byId("paste-use").disabled = !said.length && asked === null;
  };
  byId("paste").addEventListener("click", () => {
    text.value = "";
    draw();
    sheet.showModal();
    text.focus();
  });
  text.addEventListener("input", draw);
  last.addEventListener("change", draw);
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close("cancel"));
  sheet.addEventListener("close", () => {
    if (sheet.returnValue === "use") useDialogue(readDialogue(text.value), last.checked);
    sheet.returnValue = "";
  });
}
