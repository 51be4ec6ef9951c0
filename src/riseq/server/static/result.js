// The right side of the page: what the server said, or why it said nothing.
import { hasKey } from "./api.js";
import { showCode } from "./code.js";
import { byId } from "./dom.js";
import { showForm } from "./form.js";
import { listForms } from "./forms.js";
import { hideNotice, showError, showTruncated, showWaiting, showWrongKey } from "./notices.js";
import { showPeek } from "./peek.js";
import { subscribe } from "./state.js";

const ANNOUNCE_MS = 700;
const STATUS = {
  idle: "Ready",
  loading: "Asking…",
  gone: "Offline",
  away: "Not ready",
  busy: "Busy",
  locked: "Needs a key",
  error: "Failed",
};

const outcome = byId("outcome");
const hero = byId("hero");
let answer = null;
/** The form on show: the server's own choice, or another that the person picked. */
let shown = null;
let wasAway = false;
let announcing = 0;
let onReturn = () => {};

/** Call `listen` when the server answers after it was gone. */
export function startResult(listen) {
  onReturn = listen;
  // What the other direction made of it is no answer in this one, not even until there is one.
  subscribe((_, changed) => changed.has("direction") && showNothing());
}

/** Return the text of the form on show, "" where there is none. */
export const shownText = () => shown?.text ?? "";

/** Show the situation that the asking is in. */
export function show(situation) {
  const { kind } = situation;
  const hadFocus = byId("notice").contains(document.activeElement) || byId("key").contains(document.activeElement);
  outcome.dataset.state = kind;
  outcome.dataset.busy = String(kind === "loading");
  outcome.dataset.stale = String(!["loading", "done", "idle"].includes(kind));
  outcome.setAttribute("aria-busy", String(kind === "loading"));
  byId("status").textContent = kind === "done" ? `${Math.max(1, Math.round(situation.ms))} ms` : STATUS[kind];
  // While it is asked again, the key's field stays, with the cursor in it.
  if (kind !== "loading") byId("key").hidden = kind !== "locked";
  if (kind === "idle") showNothing();
  else if (kind === "done") showAnswer(situation);
  else if (kind !== "loading") showFailure(situation);
  else if (!answer) hero.dataset.view = "loading";
  if (hadFocus) keepFocus();
  if (kind === "done" && wasAway) onReturn();
  if (kind === "gone" || kind === "away") wasAway = true;
  else if (kind === "done") wasAway = false;
}

function showNothing() {
  answer = shown = null;
  clearTimeout(announcing);
  hero.dataset.view = "empty";
  byId("after").hidden = true;
  hideNotice();
  showPeek("");
}

function showAnswer({ answer: got, request, direction }) {
  answer = shown = got;
  hero.dataset.view = "full";
  byId("after").hidden = false;
  if (got.truncated) showTruncated();
  else hideNotice();
  showForm(got, got, request, direction);
  listForms(got, (form) => {
    shown = form;
    showForm(form, got, request, direction);
    announce(`Showing: ${form.text}`, 0);
  });
  showCode(request, direction);
  // Told once things are still: a voice at every key would drown the person's own typing.
  const name = direction === "resolve" ? "In full" : "Would ask";
  announce(`${got.changed ? name : "Unchanged"}: ${got.text}`, ANNOUNCE_MS);
}

function announce(text, delay) {
  clearTimeout(announcing);
  announcing = setTimeout(() => (byId("live").textContent = text), delay);
}

function showFailure({ kind, failure, wait }) {
  if (answer) byId("answer-note").textContent = "The last answer. It may not fit what is written now.";
  else hero.dataset.view = kind === "locked" ? "none" : "empty";
  if (kind === "error") showError(failure);
  else if (kind !== "locked") showWaiting(kind, wait);
  else if (hasKey()) showWrongKey(failure);
  else hideNotice();
}

/** Give the focus to what took the place of the button or field that had it. */
function keepFocus() {
  if (document.activeElement !== document.body && document.activeElement.offsetParent) return;
  if (!byId("key").hidden) byId("key-text").focus();
  else (document.querySelector(".notice:not([hidden]) button") ?? byId("question")).focus();
}
