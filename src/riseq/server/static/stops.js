// The answer at every stop of the slider, by one request once the answer has come and things are still.
import { editMany, makeRequest } from "./api.js";
import { state } from "./state.js";

/** The strengths that the slider stops at; at 0 every question stays as it is, so the server is not asked. */
export const STOPS = Array.from({ length: 11 }, (_, place) => place / 10);
const STILL_MS = 600;

const listeners = [];
let known = { key: null, groups: null };
let control = null;
let timer = 0;

/** Call `listen(groups)` with each new list {text, confidence, from, to} of neighbouring stops; null: not known. */
export function subscribeStops(listen) {
  listeners.push(listen);
}

/** Return the group of the stops that have the text of `strength`, null where it is not known. */
export const findGroup = (strength) =>
  known.groups?.find(({ from, to }) => from <= strength && strength <= to) ?? null;

/** Follow the situations that the asking goes through, as live.js tells them. */
export function followStops({ kind }) {
  const { direction } = state();
  const { question, context, protect } = makeRequest(state());
  const key = JSON.stringify([direction, question, context, protect]);
  if (key === known.key) return;
  clearTimeout(timer);
  control?.abort();
  if (kind === "loading") {
    known = { key: null, groups: known.groups }; // on show until the next answer is there
    return;
  }
  known = { key: kind === "done" ? key : null, groups: null };
  tell();
  if (kind === "done") timer = setTimeout(() => ask(direction, { question, context, protect }, key), STILL_MS);
}

async function ask(direction, asked, key) {
  control = new AbortController();
  const items = STOPS.slice(1).map((strength) => ({ ...asked, strength }));
  let results;
  try {
    results = await editMany(direction, items, control.signal);
  } catch {
    return; // The answer itself is there; what the other strengths would say is an extra.
  }
  if (key !== known.key || results.some((result) => typeof result?.text !== "string")) return;
  known = { key, groups: group([{ text: asked.question, confidence: null }, ...results]) };
  tell();
}

/** Return the forms, one a stop, with neighbours of the same text as one. */
function group(forms) {
  const groups = [];
  forms.forEach(({ text, confidence }, place) => {
    const stop = STOPS[place];
    if (groups.at(-1)?.text === text) Object.assign(groups.at(-1), { to: stop, confidence });
    else groups.push({ text, confidence, from: stop, to: stop });
  });
  return groups;
}

function tell() {
  for (const listen of listeners) listen(known.groups);
}
