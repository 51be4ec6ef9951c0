// The box above the answer: what went wrong, what happens next, and what a person can do.
import { byId, icon, make } from "./dom.js";
import { ask, retryNow } from "./live.js";

const FAILURES = {
  gone: { name: "offline", title: "The server does not answer.", detail: "What you wrote is safe here. " },
  away: { name: "offline", title: "The server is not ready.", detail: "" },
  busy: { name: "alert", title: "The server is busy.", detail: "" },
};
const TRUNCATED =
  "The dialogue or the question is longer than the model reads: the oldest turns or the question’s end were left out.";

const box = byId("notice");
let counting = 0;

/** Take the notice away. */
export function hideNotice() {
  clearInterval(counting);
  box.hidden = true;
}

/** Say that not everything was read. */
export function showTruncated() {
  if (!box.hidden && box.dataset.reason === "truncated") return;
  showBox("warning", "alert", "Only part of this was read.", TRUNCATED);
  box.dataset.reason = "truncated";
}

/** Say that the key was wrong, as `failure` has it. */
export function showWrongKey(failure) {
  showBox("error", "lock", "That key was not accepted.", failure.message);
}

/** Say what the server refused, and offer to ask again. */
export function showError(failure) {
  const text = showBox("error", "alert", "That did not work.", failure.message, { label: "Try again", run: ask });
  if (failure.requestId) text.append(make("small", {}, ` Request ${failure.requestId}`));
}

/** Say that the server is gone, away or busy, and in how many seconds it is asked again. */
export function showWaiting(kind, seconds) {
  // A new alert at each try would be read out each time: the same trouble only counts anew.
  if (box.hidden || box.dataset.reason !== kind) {
    const { name, title, detail } = FAILURES[kind];
    const text = showBox("warning", name, title, detail, { label: "Try now", run: retryNow });
    text.append(make("span", { class: "ticking", "aria-hidden": "true" }));
    box.dataset.reason = kind;
  }
  countDown(box.querySelector(".ticking"), seconds);
}

function countDown(ticking, seconds) {
  clearInterval(counting);
  const until = performance.now() + seconds * 1000;
  const tick = () => {
    const left = Math.ceil((until - performance.now()) / 1000);
    ticking.textContent = left > 0 ? `Trying again in ${left} s.` : "Trying again…";
  };
  tick();
  counting = setInterval(tick, 250);
}

/** Show the box and return the element of its text. */
function showBox(kind, name, title, detail, action = null) {
  clearInterval(counting);
  const text = make("div", { class: "notice-text" }, make("strong", {}, title), detail);
  const button = action && make("button", { type: "button", on: { click: action.run } }, action.label);
  box.dataset.kind = kind;
  delete box.dataset.reason;
  box.replaceChildren(...[icon(name), text, button].filter(Boolean));
  box.hidden = false;
  return text;
}
