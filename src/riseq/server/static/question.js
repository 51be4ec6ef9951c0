// The self-contained question, and its words as buttons that protect them.
import { byId, fitHeight, icon, make } from "./dom.js";
import { ask } from "./live.js";
import { readDialogue, splitQuestion } from "./paste.js";
import { newTurn, restore, snapshot, state, subscribe, update } from "./state.js";
import { toast } from "./toast.js";
import { splitWords, wordKey } from "./words.js";

const field = byId("question");
const bar = byId("words");

/** Show the question and listen to it. */
export function startQuestion() {
  subscribe((_, changed) => {
    if (changed.has("question")) show();
    if (changed.has("question") || changed.has("protect")) showWords();
  });
  field.addEventListener("input", () => update({ question: field.value }));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    ask();
  });
  field.addEventListener("paste", onPaste);
  bar.addEventListener("keydown", onWordKey);
  bar.addEventListener("focusin", (event) => setCurrent(event.target.closest(".word")));
}

function show() {
  if (field.value !== state().question) field.value = state().question;
  fitHeight(field);
}

function showWords() {
  const words = splitWords(state().question);
  const kept = new Set(state().protect.map(wordKey));
  byId("keep").hidden = !words.length;
  const focused = [...bar.children].indexOf(document.activeElement);
  const current = Math.max(
    0,
    [...bar.children].findIndex((button) => button.tabIndex === 0),
  );
  const buttons = words.map((word) => {
    const isKept = kept.has(wordKey(word));
    return make(
      "button",
      {
        class: "word",
        type: "button",
        tabindex: -1,
        "aria-pressed": String(isKept),
        on: { click: () => toggle(word) },
      },
      isKept ? icon("lock") : null,
      word,
    );
  });
  bar.replaceChildren(...buttons);
  setCurrent(buttons[Math.min(current, buttons.length - 1)]);
  if (focused >= 0) (buttons[Math.min(focused, buttons.length - 1)] ?? field).focus();
}

function toggle(word) {
  const key = wordKey(word);
  const { protect } = state();
  const without = protect.filter((one) => wordKey(one) !== key);
  update({ protect: without.length < protect.length ? without : [...protect, word] }, "set");
}

/** Make `button` the one that the Tab key reaches; arrows move between the words. */
function setCurrent(button) {
  if (!button) return;
  for (const one of bar.children) one.tabIndex = one === button ? 0 : -1;
}

function onWordKey(event) {
  const buttons = [...bar.children];
  const place = buttons.indexOf(document.activeElement);
  const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  buttons[(next + buttons.length) % buttons.length].focus();
}

/** A dialogue pasted here ends in its question, unless one is written; other text is put in between spaces. */
function onPaste(event) {
  const text = (event.clipboardData?.getData("text/plain") ?? "").trim();
  const isWritten = field.value.trim() !== "";
  const found = readDialogue(text);
  if (/[\r\n]/.test(text) && found.turns.length && (found.named || !isWritten)) {
    event.preventDefault();
    useDialogue(found, !isWritten);
  } else if (isWritten && text) {
    event.preventDefault();
    insertApart(text.replaceAll(/\s*[\r\n]+\s*/g, " "));
  }
}

/** Put `text` in place of what is selected, with a space where it would run into a word. */
function insertApart(text) {
  const touches = (one, two) => /[\p{L}\p{N}?!.,]$/u.test(one) && /^[\p{L}\p{N}]/u.test(two);
  const before = touches(field.value.slice(0, field.selectionStart), text) ? " " : "";
  const after = touches(text, field.value.slice(field.selectionEnd)) ? " " : "";
  // The only way that the browser's own undo knows of.
  document.execCommand("insertText", false, before + text + after);
}

/** Replace the dialogue by the one `found`, with its last turn as the question where `lastAsks` and it asks. */
export function useDialogue(found, lastAsks) {
  const before = snapshot();
  const { said, asked } = splitQuestion(found, lastAsks);
  const patch = { turns: said.map((turn) => newTurn(turn.speaker, turn.text)), protect: [] };
  update(asked === null ? patch : { ...patch, question: asked }, "set");
  // Whoever types on replaces the question that came with the dialogue, and never writes into its end.
  if (asked === null) field.focus();
  else if (document.activeElement === field) field.select();
  toast("Dialogue replaced", { label: "Undo", run: () => restore(before) });
}
