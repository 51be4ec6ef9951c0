// Models and systems side by side: what others make of the question, each from the moment that a person chooses it.
import { simplify } from "./api.js";
import { byId, make, meter, percent } from "./dom.js";
import { splitAdded } from "./words.js";

const STILL_MS = 400;
const list = byId("models");

let choices = [];
const chosen = new Set();
/** The question on show: {request, answer, key}; null where there is none. */
let asked = null;
/** What each one said last, by name: {key, answer} or {key, failure}. */
const said = new Map();
let control = new AbortController();
let timer = 0;
let toAnnounce = null;

/** Offer `models`, as the server lists them. */
export function setModels(models) {
  choices = models;
  const others = choices.filter((one) => !one.at_work);
  byId("models-block").hidden = !others.length;
  byId("models-picks").replaceChildren(...others.map(makePick));
  draw();
}

/** Follow the situations that the asking goes through, as live.js tells them. */
export function followModels({ kind, answer, request }) {
  clearTimeout(timer);
  if (kind === "loading") return; // the last answers stay until there is a new one
  control.abort();
  control = new AbortController();
  asked = kind === "done" ? { answer, request, key: JSON.stringify(request) } : null;
  draw();
  if (asked) timer = setTimeout(askAll, STILL_MS);
}

function makePick({ name, about }) {
  const toggle = () => {
    if (!chosen.delete(name)) chosen.add(name);
    button.setAttribute("aria-pressed", String(chosen.has(name)));
    if (chosen.has(name)) {
      said.delete(name); // one that failed is tried again
      toAnnounce = name;
      askAll();
    }
    draw();
  };
  const pressed = String(chosen.has(name));
  const button = make("button", { class: "pick", type: "button", title: about, "aria-pressed": pressed }, name);
  button.addEventListener("click", toggle);
  return button;
}

function askAll() {
  if (!asked) return;
  for (const choice of choices)
    if (chosen.has(choice.name) && said.get(choice.name)?.key !== asked.key) ask(choice, asked, control.signal);
}

async function ask({ name, kind }, { request, key }, signal) {
  const { question, context, strength, protect } = request;
  // A system takes no controls.
  const controls = kind === "model" ? { strength, protect } : {};
  const pending = { key };
  said.set(name, pending);
  try {
    pending.answer = await simplify({ question, context, ...controls, model: name }, signal);
  } catch (failure) {
    // One that was called off is asked again with what is written now.
    if (signal.aborted) pending.key = null;
    else pending.failure = failure;
  }
  if (toAnnounce === name && pending.answer) {
    byId("live").textContent = `${name}: ${pending.answer.text}`;
    toAnnounce = null;
  }
  draw();
}

function draw() {
  const own = choices.find((one) => one.at_work);
  if (!asked) return list.replaceChildren();
  const rows = choices.filter(({ name }) => chosen.has(name)).map(({ name }) => makeRow(name, said.get(name)));
  if (own && rows.length) rows.unshift(makeRow(own.name, asked, true));
  return list.replaceChildren(...rows.map((row) => make("li", {}, row)));
}

function makeRow(name, found, isOwn = false) {
  const { answer, failure } = found?.key === asked.key ? found : {};
  const state = answer ? "done" : failure ? "failed" : "waiting";
  const text = answer ? markAdded(answer.text) : [failure ? `No answer: ${failure.message}` : "Asking…"];
  const badge = answer ? describe(answer.text, isOwn) : null;
  const sure = typeof answer?.confidence === "number" && answer.text !== asked.request.question;
  return make(
    "div",
    { class: "form compared", "data-state": state, "data-name": name },
    make("span", { class: "compared-name" }, name),
    make(
      "span",
      { class: "form-text" },
      make("span", { dir: "auto" }, ...text),
      badge && make("span", { class: "badge" }, badge),
    ),
    sure
      ? make("span", { class: "form-share", title: "Confidence" }, percent(answer.confidence), meter(answer.confidence))
      : null,
  );
}

function markAdded(text) {
  const pieces = splitAdded(asked.request.question, text);
  return pieces.map(({ piece, added }) => (added ? make("mark", {}, piece) : piece));
}

function describe(text, isOwn) {
  if (isOwn) return "at work";
  if (text === asked.answer.text) return "the same";
  return text === asked.request.question ? "the question itself" : null;
}
