// The dialogue as chat bubbles: each is edited where it stands, can change its speaker, and goes with one key.
import { byId, fitHeight, icon, make } from "./dom.js";
import { readDialogue } from "./paste.js";
import { SPEAKERS, newTurn, other, restore, snapshot, state, subscribe, update } from "./state.js";
import { toast } from "./toast.js";

const list = byId("turns");
const draft = byId("draft");
const draftText = byId("draft-text");
const draftSpeaker = byId("draft-speaker");
let drawn = [];
/** The speaker picked for the turn being added; null follows the dialogue. */
let picked = null;

/** Draw the turns and keep them up to date. */
export function startTurns() {
  subscribe((_, changed) => changed.has("turns") && draw());
  draftSpeaker.addEventListener("click", () => {
    picked = other(nextSpeaker());
    drawDraft();
  });
  draftText.addEventListener("input", () => {
    fitHeight(draftText);
    drawDraft();
  });
  draftText.addEventListener("keydown", onDraftKey);
  draftText.addEventListener("paste", (event) => onPaste(event, state().turns.length));
  byId("draft-add").addEventListener("click", addDraft);
  draw();
}

/** Put `turns` at `place`, replacing `count` of those there, and offer the way back. */
function splice(place, count, turns, message) {
  const before = snapshot();
  const all = [...state().turns];
  all.splice(place, count, ...turns.map((turn) => newTurn(turn.speaker, turn.text)));
  update({ turns: all }, "set");
  toast(message, { label: "Undo", run: () => restore(before) });
}

function nextSpeaker() {
  const last = state().turns.at(-1);
  return picked ?? (last ? other(last.speaker) : "user");
}

function draw() {
  const { turns } = state();
  // Bubbles that stay keep their element, and with it the cursor of the person writing in them.
  const grew = turns.length > drawn.length;
  const known = new Map(drawn.map((bubble) => [bubble.id, bubble]));
  drawn = turns.map((turn) => known.get(turn.id) ?? makeBubble(turn));
  drawn.forEach((bubble, place) => {
    bubble.show(turns[place], place, turns.length);
    if (list.children[place] !== bubble.element) list.insertBefore(bubble.element, list.children[place] ?? null);
  });
  while (list.children.length > drawn.length) list.lastChild.remove();
  if (grew) list.scrollTop = list.scrollHeight;
  drawDraft();
}

function drawDraft() {
  const speaker = nextSpeaker();
  draft.dataset.speaker = speaker;
  draft.dataset.empty = String(!draftText.value.trim());
  draftSpeaker.replaceChildren(SPEAKERS[speaker], icon("swap"));
  draftSpeaker.setAttribute("aria-label", `The new turn is the ${SPEAKERS[speaker].toLowerCase()}’s; change speaker`);
}

function makeBubble(turn) {
  const { id } = turn;
  const speaker = make("button", { class: "speaker", type: "button", on: { click: () => changeSpeaker(id) } });
  const remove = make(
    "button",
    { class: "turn-delete", type: "button", on: { click: () => removeTurn(id) } },
    icon("trash"),
  );
  const text = make("textarea", { class: "bubble", rows: 1, dir: "auto", enterkeyhint: "next" });
  text.value = turn.text;
  text.addEventListener("input", () => {
    fitHeight(text);
    update({ turns: state().turns.map((one) => (one.id === id ? { ...one, text: text.value } : one)) });
  });
  text.addEventListener("keydown", (event) => onBubbleKey(event, id));
  text.addEventListener("paste", (event) => onPaste(event, findPlace(id), id));
  const element = make("li", { class: "turn" }, make("div", { class: "turn-head" }, speaker, remove), text);
  const show = (now, place, count) => {
    element.dataset.speaker = now.speaker;
    const name = SPEAKERS[now.speaker];
    speaker.replaceChildren(name, icon("swap"));
    speaker.setAttribute("aria-label", `${name}, turn ${place + 1} of ${count}; change speaker`);
    remove.setAttribute("aria-label", `Delete turn ${place + 1}`);
    remove.title = "Delete this turn";
    text.setAttribute("aria-label", `Turn ${place + 1} of ${count}, ${name.toLowerCase()}`);
    if (text.value !== now.text) text.value = now.text;
    queueMicrotask(() => fitHeight(text));
  };
  return { id, element, text, show };
}

/** Return the turn that the mention {utterance, start, end} is in; empty turns are not said, see makeRequest. */
const findSaid = (mention) => (mention ? drawn.filter(({ text }) => text.value.trim())[mention.utterance] : undefined);

/** Return the words of `mention`, "" where there is none; the spaces around a turn are not said either. */
export function readMention(mention) {
  const said = findSaid(mention);
  return said ? Array.from(said.text.value.trim()).slice(mention.start, mention.end).join("") : "";
}

/** Light up the mention {utterance, start, end} in the dialogue, or none. */
export function lightMention(mention) {
  list.querySelector(".mention")?.remove();
  const said = findSaid(mention);
  if (!said) return;
  const { value } = said.text;
  const before = Array.from(value.trim()).slice(0, mention.start).join("");
  const meant = readMention(mention);
  const space = value.slice(0, value.length - value.trimStart().length);
  const layer = make("div", { class: "bubble mention", "aria-hidden": "true" }, space + before, make("mark", {}, meant));
  layer.style.setProperty("width", `${said.text.offsetWidth}px`);
  said.element.append(layer);
  // Only the list scrolls: a page that moved would take the edit from under the pointer.
  const mark = layer.lastChild.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  if (mark.top < frame.top) list.scrollTop -= frame.top - mark.top;
  else if (mark.bottom > frame.bottom) list.scrollTop += mark.bottom - frame.bottom;
}

const findPlace = (id) => state().turns.findIndex((turn) => turn.id === id);

function changeSpeaker(id) {
  update(
    { turns: state().turns.map((turn) => (turn.id === id ? { ...turn, speaker: other(turn.speaker) } : turn)) },
    "set",
  );
}

function removeTurn(id) {
  const place = findPlace(id);
  const wasEmpty = !state().turns[place].text.trim();
  if (wasEmpty) update({ turns: state().turns.filter((turn) => turn.id !== id) }, "set");
  else splice(place, 1, [], "Turn deleted");
  focusTurn(Math.max(0, place - 1));
}

/** Put the cursor at the end of the turn at `place`, or into the new one where there is no such turn. */
function focusTurn(place) {
  const text = drawn[place]?.text ?? draftText;
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

function onBubbleKey(event, id) {
  if (event.isComposing) return;
  const place = findPlace(id);
  if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    focusTurn(place + 1);
  } else if (event.key === "Backspace" && !event.target.value) {
    event.preventDefault();
    removeTurn(id);
  } else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    event.preventDefault();
    moveTurn(place, place + (event.key === "ArrowUp" ? -1 : 1));
  }
}

function moveTurn(from, to) {
  const turns = [...state().turns];
  if (to < 0 || to >= turns.length) return;
  [turns[from], turns[to]] = [turns[to], turns[from]];
  update({ turns }, "set");
  focusTurn(to);
}

function onDraftKey(event) {
  if (event.isComposing) return;
  if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    // Enter on an empty line is done with the dialogue.
    if (draftText.value.trim()) addDraft();
    else byId("question").focus();
  } else if (event.key === "Backspace" && !draftText.value && state().turns.length) {
    event.preventDefault();
    focusTurn(state().turns.length - 1);
  }
}

function addDraft() {
  const text = draftText.value.trim();
  if (!text) return;
  const turn = newTurn(nextSpeaker(), text);
  draftText.value = "";
  picked = null;
  fitHeight(draftText);
  update({ turns: [...state().turns, turn] }, "set");
  draftText.focus();
}

/** Split a pasted text of several lines into turns at `place`; into `id` it replaces an empty bubble. */
function onPaste(event, place, id = null) {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (!/[\r\n]/.test(text.trim())) return;
  const { turns, question } = readDialogue(text);
  if (turns.length < 2 && !question) return;
  event.preventDefault();
  // What was being typed is a turn of its own, before what was pasted.
  if (id === null && draftText.value.trim()) {
    addDraft();
    place += 1;
  }
  const fills = id !== null && !event.target.value.trim();
  splice(id === null || fills ? place : place + 1, fills ? 1 : 0, turns, `${turns.length} turns pasted`);
  if (question) update({ question }, "set");
}
