// The dialog in which a whole dialogue is pasted; what was found in it is told before it is used.
import { byId } from "./dom.js";
import { readDialogue } from "./paste.js";
import { useDialogue } from "./question.js";

/** Listen to the button that opens it, and to the dialog. */
export function startPasteSheet() {
  const sheet = byId("paste-sheet");
  const text = byId("paste-text");
  const last = byId("paste-last");
  const draw = () => {
    const { turns, question } = readDialogue(text.value);
    const asks = question !== null || (last.checked && turns.length > 0);
    const count = turns.length - (asks && question === null ? 1 : 0);
    byId("paste-found").textContent = text.value.trim()
      ? `${count} ${count === 1 ? "turn" : "turns"}${asks ? " and the question" : ""} found`
      : "";
    byId("paste-use").disabled = !turns.length && question === null;
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
