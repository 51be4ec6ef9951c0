// Models and systems side by side: what others make of the question, each from the moment that a person chooses it.
import { edit } from "./api.js";
import { byId, make, meter, percent } from "./dom.js";
import { state, subscribe } from "./state.js";
import { splitAdded } from "./words.js";

const STILL_MS = 400;
const list = byId("models");

let listed = [];
/** Those of `listed` that go in the direction on show. */
let choices = [];
const chosen = new Set();
/** The question on show: {request, answer}; null where there is none. */
let asked = null;
/** What each one was asked last, by name, and what it said: {body, control, answer or failure}. */
const said = new Map();
let timer = 0;
let toAnnounce = null;

/** Offer `models`, as the server lists them: those that go in the direction on show. */
export function setModels(models) {
  listed = models;
  offer();
}

/** Let the choices follow the direction. */
export function startModels() {
  subscribe((_, changed) => {
    if (!changed.has("direction")) return;
    asked = null;
    chosen.clear();
    said.clear();
    offer();
  });
}

function offer() {
  choices = listed.filter((one) => (one.direction ?? "simplify") === state().direction);
  const others = choices.filter((one) => !one.at_work);
  byId("models-block").hidden = !others.length;
  byId("models-picks").replaceChildren(...others.map(makePick));
  draw();
}

/** Follow the situations that the asking goes through, as live.js tells them. */
export function followModels({ kind, answer, request }) {
  clearTimeout(timer);
  if (kind === "loading") return; // the last answers stay until there is a new one
  asked = kind === "done" ? { answer, request } : null;
  for (const choice of choices) {
    const found = said.get(choice.name);
    if (found && (!asked || found.body !== writeBody(choice))) found.control.abort();
  }
  draw();
  if (asked) timer = setTimeout(askAll, STILL_MS);
}

/** Return the body of the request to one of the choices; a system takes no controls. */
function writeBody({ name, kind }) {
  const { question, context, strength, protect } = asked.request;
  return JSON.stringify({ question, context, ...(kind === "model" ? { strength, protect } : {}), model: name });
}

function makePick({ name, about }) {
  const toggle = () => {
    if (!chosen.delete(name)) chosen.add(name);
    button.setAttribute("aria-pressed", String(chosen.has(name)));
    if (chosen.has(name)) {
      if (said.get(name)?.failure) said.delete(name); // it is tried again
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
  for (const choice of choices.filter(({ name }) => chosen.has(name))) {
    const found = said.get(choice.name);
    if (found?.body !== writeBody(choice) || found.control.signal.aborted) ask(choice.name, writeBody(choice));
  }
}

async function ask(name, body) {
  const found = { body, control: new AbortController() };
  said.set(name, found);
  try {
    found.answer = await edit(state().direction, JSON.parse(body), found.control.signal);
  } catch (failure) {
    if (found.control.signal.aborted) return;
    found.failure = failure;
  }
  if (toAnnounce === name && found.answer) {
    byId("live").textContent = `${name}: ${found.answer.text}`;
    toAnnounce = null;
  }
  draw();
}

function draw() {
  if (!asked) return list.replaceChildren();
  const rows = choices.filter(({ name }) => chosen.has(name)).map(makeRow);
  const own = choices.find((one) => one.at_work);
  if (own && rows.length) rows.unshift(writeRow(own.name, asked.answer, "at work"));
  return list.replaceChildren(...rows.map((row) => make("li", {}, row)));
}

function makeRow(choice) {
  const found = said.get(choice.name);
  const { answer, failure } = found?.body === writeBody(choice) ? found : {};
  if (!answer) return writeWaiting(choice.name, failure);
  const isOrigin = answer.text === asked.request.question;
  const badge = answer.text === asked.answer.text ? "the same" : isOrigin ? "the question itself" : null;
  return writeRow(choice.name, answer, badge);
}

function writeWaiting(name, failure) {
  return make(
    "div",
    { class: "form compared", "data-state": failure ? "failed" : "waiting", "data-name": name },
    make("span", { class: "compared-name" }, name),
    make("span", { class: "form-text" }, failure ? `No answer: ${failure.message}` : "Asking…"),
  );
}

function writeRow(name, { text, confidence }, badge) {
  const { question } = asked.request;
  const pieces = splitAdded(question, text).map(({ piece, added }) => (added ? make("mark", {}, piece) : piece));
  const isSure = typeof confidence === "number" && text !== question;
  return make(
    "div",
    { class: "form compared", "data-state": "done", "data-name": name },
    make("span", { class: "compared-name" }, name),
    make(
      "span",
      { class: "form-text" },
      make("span", { dir: "auto" }, ...pieces),
      badge && make("span", { class: "badge" }, badge),
    ),
    isSure ? make("span", { class: "form-share", title: "Confidence" }, percent(confidence), meter(confidence)) : null,
  );
}
