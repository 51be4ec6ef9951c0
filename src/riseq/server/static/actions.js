// The page's plain buttons: clear, share, copy, and the key.
import { setKey } from "./api.js";
import { byId } from "./dom.js";
import { ask } from "./live.js";
import { shownText } from "./result.js";
import { makeLink, restore, snapshot, state } from "./state.js";
import { copyAndTell, toast } from "./toast.js";

/** Listen to the buttons. */
export function startActions() {
  byId("clear").addEventListener("click", startAnew);
  byId("share").addEventListener("click", share);
  byId("copy").addEventListener("click", copyShown);
  byId("key").addEventListener("submit", useKey);
}

/** Empty the page, with a way back. */
export function startAnew() {
  const before = snapshot();
  restore({ direction: state().direction });
  byId("draft-text").focus();
  if (before.question || before.turns.length) toast("All cleared", { label: "Undo", run: () => restore(before) });
}

/** Copy the form on show, where there is one. */
export function copyShown() {
  if (shownText()) copyAndTell(shownText(), "Question");
}

async function share() {
  const link = makeLink();
  history.replaceState(null, "", link);
  await copyAndTell(link, "Link");
}

function useKey(event) {
  event.preventDefault();
  const field = byId("key-text");
  if (!field.value.trim()) return;
  setKey(field.value.trim());
  field.value = "";
  ask();
}
