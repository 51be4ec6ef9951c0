// Asks the server as the person goes: not at every key, never showing an older answer over a newer one, and trying
// again by itself when the server was away.
import { Failure, edit, isThere, makeRequest } from "./api.js";
import { state } from "./state.js";

// Typing waits for a pause; what is set by hand or by a slider is answered at once, yet not at every pixel.
const DELAY_MS = { typed: 220, slid: 60, set: 0, linked: 0 };
const LONGEST_DELAY_MS = 900;
const FIRST_RETRY_S = 1;
const LONGEST_RETRY_S = 10;

let tell = () => {};
let sequence = 0;
let control = null;
let timer = 0;
let waitingSince = 0;
let retryTimer = 0;
let retries = 0;

/** Tell `listen` each new situation: {kind, answer?, request?, direction?, failure?, wait?, ms?}. */
export function start(listen) {
  tell = listen;
  addEventListener("online", retryNow);
  document.addEventListener("visibilitychange", () => !document.hidden && retryTimer && retryNow());
}

/** Ask again soon, for something has changed in the way `how` says. */
export function schedule(how) {
  const now = performance.now();
  waitingSince ||= now;
  clearTimeout(timer);
  const delay = DELAY_MS[how] ?? DELAY_MS.typed;
  // Someone who types on and on still sees an answer now and then; a slider that never rests, at each step.
  const longest = how === "slid" ? DELAY_MS.slid : LONGEST_DELAY_MS;
  timer = setTimeout(ask, Math.max(0, Math.min(delay, waitingSince + longest - now)));
}

/** Ask for what is on the page now. */
export async function ask() {
  clearTimeout(timer);
  clearTimeout(retryTimer);
  retryTimer = 0;
  waitingSince = 0;
  const number = ++sequence;
  control?.abort();
  control = new AbortController();
  const { direction } = state();
  const request = makeRequest(state());
  if (!request.question) {
    retries = 0;
    tell({ kind: "idle" });
    return;
  }
  tell({ kind: "loading" });
  const started = performance.now();
  try {
    const answer = await edit(direction, request, control.signal);
    if (number !== sequence) return;
    retries = 0;
    tell({ kind: "done", answer, request, direction, ms: performance.now() - started });
  } catch (error) {
    if (number === sequence) fail(error);
  }
}

function fail(error) {
  const failure = error instanceof Failure ? error : new Failure("error", String(error.message ?? error));
  if (failure.kind === "locked" || failure.kind === "error") {
    tell({ kind: failure.kind, failure });
    return;
  }
  const wait = failure.wait ?? Math.min(LONGEST_RETRY_S, FIRST_RETRY_S * 2 ** retries);
  retries += 1;
  tell({ kind: failure.kind, failure, wait });
  retryTimer = setTimeout(failure.kind === "gone" ? retryIfThere : ask, wait * 1000);
}

async function retryIfThere() {
  const number = sequence;
  const there = await isThere();
  if (number !== sequence) return;
  if (there) await ask();
  else fail(new Failure("gone", "The server does not answer."));
}

/** Try again now, where a try was waiting for its time. */
export function retryNow() {
  if (!retryTimer) return;
  retries = 0;
  ask();
}
