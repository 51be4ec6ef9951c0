// The last answers of this session, kept by the tab alone; a click brings one back with its dialogue and settings.
import { byId, make } from "./dom.js";
import { restore, snapshot } from "./state.js";
import { toast } from "./toast.js";

const STORED = "riseq-history";
const MOST = 20;
// While someone types there is an answer to every pause; what has stood for a moment is one worth keeping.
const STANDS_MS = 700;

let entries = readStored();
let timer = 0;

/** List what was kept, and listen to the button that clears it. */
export function startHistory() {
  byId("history-clear").addEventListener("click", () => {
    const before = entries;
    keep([]);
    byId("question").focus();
    toast("History cleared", { label: "Undo", run: () => keep(before) });
  });
  draw();
}

/** Follow the situations that the asking goes through, as live.js tells them. */
export function followHistory({ kind, answer }) {
  clearTimeout(timer);
  if (kind !== "done") return;
  const entry = { ...snapshot(), text: answer.text };
  timer = setTimeout(() => add(entry), STANDS_MS);
}

function add(entry) {
  const same = JSON.stringify(entry);
  keep([entry, ...entries.filter((one) => JSON.stringify(one) !== same)].slice(0, MOST));
}

function keep(list) {
  entries = list;
  try {
    sessionStorage.setItem(STORED, JSON.stringify(entries));
  } catch {
    // Without storage, or room in it, the list lasts as long as the page.
  }
  draw();
}

function readStored() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED));
    const isEntry = (one) => typeof one?.text === "string" && typeof one?.question === "string";
    return Array.isArray(stored) ? stored.filter(isEntry).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

function draw() {
  byId("history").hidden = !entries.length;
  const list = byId("history-list");
  const focused = [...list.querySelectorAll("button")].indexOf(document.activeElement);
  list.replaceChildren(...entries.map((entry) => make("li", {}, makeButton(entry))));
  if (focused >= 0) list.querySelectorAll("button")[0]?.focus();
}

function makeButton(entry) {
  const bringBack = () => {
    const before = snapshot();
    restore(entry);
    toast("Brought back", { label: "Undo", run: () => restore(before) });
  };
  return make(
    "button",
    { class: "past", type: "button", on: { click: bringBack } },
    make("span", { class: "past-text", dir: "auto" }, entry.text),
    make("span", { class: "past-question", dir: "auto" }, entry.text === entry.question ? "as it was" : entry.question),
  );
}
