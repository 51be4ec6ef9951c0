// The two directions: a question made conversational, or the way back; what the page says goes with the one on show.
import { byId } from "./dom.js";
import { state, subscribe } from "./state.js";

/** What stands where, by the ids of the elements; `placeholder` is the question's. */
const TEXTS = {
  simplify: {
    "intro-title": "Ask it the way people do.",
    "intro-text":
      "Give the dialogue so far and a question that says everything. riseq returns the question a person would ask next.",
    "question-label": "The next question, in full",
    "outcome-title": "What a person would ask",
    "strength-most": "Shortest",
    placeholder: "When was Alien released?",
  },
  resolve: {
    "intro-title": "Say everything again.",
    "intro-text":
      "Give the dialogue so far and the question as a person asked it. riseq returns the one that says everything, as a search needs it.",
    "question-label": "The next question, as it was asked",
    "outcome-title": "The question in full",
    "strength-most": "Most put in",
    placeholder: "When was it released?",
  },
};

/** The names of what is at work in each direction, as far as they are known. */
const models = { simplify: "", resolve: "" };

/** Name the model that is at work in `direction`. */
export function nameModel(direction, name) {
  models[direction] = name;
  drawModel();
}

/** Return the name of the model that is at work in `direction`, "" where it is not known. */
export const readModel = (direction) => models[direction];

function drawModel() {
  byId("model").textContent = models[state().direction];
  byId("model").hidden = !byId("model").textContent;
}

/** Let the page's texts follow the direction. */
export function startDirection() {
  subscribe((_, changed) => changed.has("direction") && draw());
  draw();
}

function draw() {
  const { placeholder, ...texts } = TEXTS[state().direction];
  for (const [id, text] of Object.entries(texts)) byId(id).textContent = text;
  byId("question").placeholder = placeholder;
  drawModel();
}

/** Return what the edits of `form` put in from the dialogue of `request`: {text, turn}, a mention once, from 1. */
export function listSources(form, { context }) {
  const mentions = form.steps.flatMap((step) => step.edits.filter((edit) => edit.new && edit.refers_to)).map(
    ({ refers_to: { utterance, start, end } }) => ({
      // The server counts characters as Python does.
      text: Array.from(context[utterance]?.content ?? "")
        .slice(start, end)
        .join(""),
      turn: utterance + 1,
    }),
  );
  return [...new Map(mentions.map((one) => [JSON.stringify(one), one])).values()].filter(({ text }) => text);
}
