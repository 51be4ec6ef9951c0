// Short messages at the foot of the page, with a way back where something was thrown away.
import { byId, copyText, make } from "./dom.js";

const STAYS_MS = 3000;
const STAYS_WITH_ACTION_MS = 8000;

/** Show `text`, with a button where `action` is {label, run}. */
export function toast(text, action = null) {
  const box = make("div", { class: "toast" }, make("span", {}, text));
  const close = () => box.remove();
  if (action) {
    box.append(make("button", { type: "button", on: { click: () => (close(), action.run()) } }, action.label));
  }
  byId("toasts").replaceChildren(box);
  let timer = 0;
  const wait = () => (timer = setTimeout(close, action ? STAYS_WITH_ACTION_MS : STAYS_MS));
  // It does not go away under the pointer or the focus of someone about to use it.
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  box.addEventListener("focusin", () => clearTimeout(timer));
  box.addEventListener("pointerleave", wait);
  box.addEventListener("focusout", wait);
  wait();
}

/** Copy `text` and say what was copied. */
export async function copyAndTell(text, what) {
  toast((await copyText(text)) ? `${what} copied` : "The browser did not let the page copy");
}
