// What can be done from anywhere by a key.
import { copyShown, startAnew } from "./actions.js";
import { byId, make } from "./dom.js";
import { useNextExample } from "./examples.js";
import { showOne } from "./modes.js";

const focus = (id) => () => byId(id).focus();
const SHORTCUTS = [
  ["KeyT", "Add a turn", focus("draft-text")],
  ["KeyQ", "Write the question", focus("question")],
  ["KeyW", "Protect words: arrows move, Space protects", () => byId("words").querySelector('[tabindex="0"]')?.focus()],
  ["KeyS", "Set the strength with the arrow keys", focus("strength")],
  ["KeyC", "Copy the result", copyShown],
  ["KeyX", "Next example", useNextExample],
  ["KeyN", "Start anew", startAnew],
];
const ALT = /^(Mac|iP)/.test(navigator.platform) ? "⌥" : "Alt";
const OTHER_KEYS = [
  [["Enter"], "In a turn: go to the next; in the question: ask now"],
  [["Shift", "Enter"], "A new line in a turn"],
  [["⌫"], "In an empty turn: delete it"],
  [[ALT, "↑ ↓"], "Move a turn"],
  [["?"], "This list"],
];

/** Listen to the keys, and list them in their dialog. */
export function startShortcuts() {
  const sheet = byId("help-sheet");
  const rows = [...SHORTCUTS.map(([name, what]) => [[ALT, name.slice(3)], what]), ...OTHER_KEYS];
  byId("shortcuts").replaceChildren(
    ...rows.flatMap(([keys, what]) => [
      make("dt", {}, ...keys.map((key) => make("kbd", {}, key))),
      make("dd", {}, what),
    ]),
  );
  const open = () => sheet.open || sheet.showModal();
  byId("help").addEventListener("click", open);
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const writes = event.target.closest?.("textarea, input:not([type=range])");
    if (event.key === "?" && !writes) {
      event.preventDefault();
      open();
    } else if (event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      // By the key's place: Alt changes the letter on some keyboards.
      const found = SHORTCUTS.find(([name]) => name === event.code);
      if (!found) return;
      event.preventDefault();
      showOne();
      found[2]();
    }
  });
}
