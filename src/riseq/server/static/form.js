// One form of the question: its text with the new words marked, its numbers, and the passes that led to it.
import { gradeConfidence } from "./confidence.js";
import { hideTip, markEdits } from "./diff.js";
import { listSources } from "./direction.js";
import { byId, make, meter, percent } from "./dom.js";
import { findKept } from "./kept.js";
import { showPeek } from "./peek.js";
import { setShown } from "./report.js";
import { splitAdded, splitWords } from "./words.js";

/** Show `form`, one of those that the server's `answer` to `request` in this `direction` has. */
export function showForm(form, answer, request, direction) {
  hideTip();
  const question = answer.question ?? request.question;
  const pieces = splitAdded(question, form.text);
  byId("answer").replaceChildren(...pieces.map(({ piece, added }) => (added ? make("mark", {}, piece) : piece)));
  byId("answer-note").textContent = form.steps.length ? "" : explainUnchanged(form, answer, request, direction);
  byId("facts").replaceChildren(...listFacts(form, question).map(makeFact));
  byId("passes").replaceChildren(...listPasses(form, question));
  byId("kept").textContent =
    direction === "resolve" ? explainSources(form, request) : explainKept(form, question, request);
  showPeek(form.text);
  setShown(request, form.text, direction);
}

function explainKept(form, question, { context, protect = [] }) {
  if (!context.length) return "";
  const kept = findKept(question, form.text, context.map((turn) => turn.content)).filter(
    (word) => !protect.includes(word),
  );
  return kept.length ? `Kept because only the question says it: ${kept.map((word) => `“${word}”`).join(", ")}` : "";
}

function explainSources(form, request) {
  const sources = listSources(form, request).map(({ text, turn }) => `“${text}” (turn ${turn})`);
  return sources.length ? `Put in from the dialogue: ${sources.join(", ")}` : "";
}

function explainUnchanged(form, answer, request, direction) {
  const lack = direction === "resolve" ? "nothing it could refer to" : "nothing it could leave out";
  if (!request.context.length) return `No dialogue comes before it, so there is ${lack}.`;
  if (request.strength === 0) return "At strength 0 every question stays as it is.";
  if (form !== answer && answer.changed) return "The question as you wrote it.";
  if (answer.reason) return `It stays as it is: ${answer.reason}.`;
  return `It stays as it is: the model would ${direction === "resolve" ? "put nothing in" : "leave nothing out"}.`;
}

function listFacts(form, question) {
  const before = splitWords(question).length;
  const after = splitWords(form.text).length;
  const facts = [{ name: "Words", value: before === after ? `${after}` : `${before} → ${after}` }];
  if (form.steps.length) facts.push({ name: "Passes", value: String(form.steps.length) });
  const sure = form.steps.flatMap((step) => step.edits.map((edit) => edit.probability));
  if (typeof form.confidence === "number") {
    const title = "How likely it is that a person would say this";
    facts.push({ name: "Confidence", share: form.confidence, title, grade: gradeConfidence(form.confidence) });
  } else if (sure.length && sure.every((value) => typeof value === "number")) {
    const title = "The probability of the edit the model was least sure of";
    facts.push({ name: "Least sure edit", share: Math.min(...sure), title });
  }
  return facts;
}

function makeFact({ name, value, share, title, grade }) {
  const shown = share === undefined ? [value] : [percent(share), meter(share)];
  const told = grade ? make("dd", { class: "grade" }, grade) : null;
  return make("div", { title }, make("dt", {}, name), make("dd", {}, ...shown), told);
}

function listPasses(form, question) {
  let before = question;
  const rows = [makePass("given", "Your question", [question])];
  form.steps.forEach((step, place) => {
    const edits = step.edits.length === 1 ? "1 edit" : `${step.edits.length} edits`;
    rows.push(makePass("edit", `Pass ${place + 1} · ${edits}`, markEdits(step.before ?? before, step.edits)));
    before = step.text;
  });
  return [...rows, makePass("end", form.steps.length ? "Result" : "No pass changed it", [form.text])];
}

function makePass(kind, label, text) {
  const line = make("p", { class: "pass-text", dir: "auto" }, ...text);
  return make("li", { class: "pass", "data-kind": kind }, make("span", { class: "pass-label" }, label), line);
}
