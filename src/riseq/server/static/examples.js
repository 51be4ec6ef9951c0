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

const readForm = (example, direction) => (direction === "resolve" ? example.asked : example.question);

const isShown = (example) =>
  state().question === readForm(example, state().direction) &&
  JSON.stringify(snapshot().turns) === JSON.stringify(example.turns.map(({ speaker, text }) => ({ speaker, text })));

function markExample() {
  examples.forEach((example, place) => {
    byId("examples").children[place].firstChild.setAttribute("aria-pressed", String(isShown(example)));
  });
}

function useExample(example) {
  const before = snapshot();
  const isOwn = before.question && !examples.some(isShown);
  const { direction } = state();
  restore({ ...example, question: readForm(example, direction), strength: NEUTRAL, protect: [], direction });
  if (isOwn) toast("Example loaded", { label: "Undo", run: () => restore(before) });
}

/** Return {question} of the example on the page as `direction` asks it, {} where what is there is someone's own. */
export function findOtherForm(direction) {
  const found = examples.find(isShown);
  return found ? { question: readForm(found, direction) } : {};
}

/** Load the example after the one on the page. */
export function useNextExample() {
  const place = examples.findIndex(isShown);
  if (examples.length) useExample(examples[(place + 1) % examples.length]);
}
