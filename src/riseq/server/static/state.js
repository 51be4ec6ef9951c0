// What the person has written and set: one value, changed in one place, told to whoever listens.

export const NEUTRAL = 0.5;
export const SPEAKERS = { user: "Person", assistant: "Assistant" };

const STORED = "riseq-draft";
const EMPTY = { turns: [], question: "", strength: NEUTRAL, protect: [], direction: "simplify" };
const MAX_TURNS = 1000;

const listeners = [];
let current = EMPTY;
let lastId = 0;

export const state = () => current;
export const other = (speaker) => (speaker === "user" ? "assistant" : "user");
export const newTurn = (speaker, text) => ({ id: ++lastId, speaker, text });

/** Call `listen(state, changed)` after each change; `changed` is the set of the fields that were replaced. */
export function subscribe(listen) {
  listeners.push(listen);
}

/** Replace the fields in `patch`. `how` says what made the change, so that a slider is answered faster than typing. */
export function update(patch, how = "typed") {
  const changed = new Set(Object.keys(patch));
  // The same direction again changes nothing, and what is on show may stay.
  if (patch.direction === current.direction) changed.delete("direction");
  current = { ...current, ...patch };
  store();
  for (const listen of listeners) listen(current, changed, how);
}

/** Replace everything by `saved`, which may come from a link or a file: what does not fit is left out. */
export function restore(saved, how = "set") {
  update(read(saved), how);
}

/** Return the state as plain data. */
export function snapshot() {
  const { turns, question, strength, protect, direction } = current;
  return {
    turns: turns.map(({ speaker, text }) => ({ speaker, text })),
    question,
    strength,
    protect: [...protect],
    ...(direction === "resolve" ? { direction } : {}),
  };
}

function read(saved) {
  const from = saved && typeof saved === "object" ? saved : {};
  const turns = Array.isArray(from.turns) ? from.turns.slice(0, MAX_TURNS) : [];
  return {
    turns: turns
      .filter((turn) => turn && typeof turn.text === "string")
      .map((turn) => newTurn(turn.speaker === "assistant" ? "assistant" : "user", turn.text)),
    question: typeof from.question === "string" ? from.question : "",
    // The slider's stops are tenths.
    strength: typeof from.strength === "number" ? Math.round(Math.min(1, Math.max(0, from.strength)) * 10) / 10 : NEUTRAL,
    protect: Array.isArray(from.protect) ? from.protect.filter((word) => typeof word === "string") : [],
    direction: from.direction === "resolve" ? "resolve" : "simplify",
  };
}

function store() {
  try {
    sessionStorage.setItem(STORED, JSON.stringify(snapshot()));
  } catch {
    // Without storage a reload starts from the first example.
  }
}

/** Return what this tab was last showing, or null. */
export function readStored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED));
  } catch {
    return null;
  }
}

/** Return a link to this page as it is. It is a fragment, which browsers keep to themselves. */
export function makeLink() {
  const bytes = new TextEncoder().encode(JSON.stringify(snapshot()));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const link = new URL(location.href);
  link.hash = `s=${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  return link.href;
}

/** Return the state in the page's address, or null where there is none that can be read. */
export function readLink(hash = location.hash) {
  if (!hash.startsWith("#s=")) return null;
  try {
    const binary = atob(hash.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0))));
  } catch {
    return null;
  }
}
