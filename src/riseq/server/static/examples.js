// Example dialogues, one click each.
import { byId, make } from "./dom.js";
import { NEUTRAL, restore, snapshot, state, subscribe } from "./state.js";
import { toast } from "./toast.js";

let examples = [];

/** Show the examples and return them. */
export async function startExamples() {
  const response = await fetch("static/examples.json");
  examples = await response.json();
  const buttons = examples.map((example) =>
    make("button", { type: "button", on: { click: () => useExample(example) } }, example.name),
  );
  byId("examples").replaceChildren(...buttons.map((button) => make("li", {}, button)));
  subscribe(markExample);
  markExample();
  return examples;
}

const isShown = (example) =>
  state().question === example.question &&
  JSON.stringify(snapshot().turns) === JSON.stringify(example.turns.map(({ speaker, text }) => ({ speaker, text })));

function markExample() {
  examples.forEach((example, place) => {
    byId("examples").children[place].firstChild.setAttribute("aria-pressed", String(isShown(example)));
  });
}

function useExample(example) {
  const before = snapshot();
  const isOwn = before.question && !examples.some(isShown);
  restore({ ...example, strength: NEUTRAL, protect: [] });
  if (isOwn) toast("Example loaded", { label: "Undo", run: () => restore(before) });
}

/** Load the example after the one on the page. */
export function useNextExample() {
  const place = examples.findIndex(isShown);
  if (examples.length) useExample(examples[(place + 1) % examples.length]);
}
