// A pass as a line of text with its edits in place, each one a button that tells how probable it was and what it meant.
import { byId, make, meter, percent } from "./dom.js";
import { lightMention } from "./turns.js";

const NAMES = { delete: "Dropped", insert: "Added", substitute: "Replaced" };
const tip = byId("tip");
const GAP_PX = 8;
const EDGE_PX = 12;

/** Return the children that show `before` with `edits` marked in it. */
export function markEdits(before, edits) {
  // The server counts characters as Python does, not in JavaScript's halves of an emoji.
  const characters = Array.from(before);
  const parts = [];
  let place = 0;
  for (const edit of [...edits].sort((one, two) => one.start - two.start)) {
    parts.push(characters.slice(place, edit.start).join(""), makeEdit(edit, needsSpace(characters, edit)));
    place = edit.end;
  }
  return [...parts, characters.slice(place).join("")].filter((part) => part !== "");
}

/** Return on which side an insertion between two words needs a space to be read: "", "before" or "after". */
function needsSpace(characters, edit) {
  if (edit.op !== "insert") return "";
  if (edit.start > 0 && /\S/u.test(characters[edit.start - 1])) return "before";
  return /\S/u.test(characters[edit.start] ?? " ") ? "after" : "";
}

function makeEdit(edit, space) {
  const marks = [edit.old ? make("del", {}, edit.old) : null, edit.new ? make("ins", {}, edit.new) : null].filter(
    Boolean,
  );
  const button = make(
    "button",
    { class: "edit", type: "button", "aria-label": describe(edit), "data-op": edit.op },
    ...marks,
  );
  if (space === "before") button.prepend(" ");
  if (space === "after") button.append(" ");
  const show = () => showTip(button, edit);
  button.addEventListener("pointerenter", show);
  button.addEventListener("focus", show);
  button.addEventListener("click", show);
  button.addEventListener("pointerleave", hideTip);
  button.addEventListener("blur", hideTip);
  return button;
}

function describe(edit) {
  const what = edit.op === "substitute" ? `“${edit.old}” with “${edit.new}”` : `“${edit.old || edit.new}”`;
  const sure = typeof edit.probability === "number" ? `, probability ${percent(edit.probability)}` : "";
  const refers = edit.refers_to ? `, refers to turn ${edit.refers_to.utterance + 1}` : "";
  return `${NAMES[edit.op] ?? edit.op} ${what}${sure}${refers}`;
}

function showTip(button, edit) {
  lightMention(edit.refers_to);
  const what = edit.op === "substitute" ? `${edit.old} → ${edit.new}` : edit.old || edit.new;
  const known = typeof edit.probability === "number";
  const row = known ? [meter(edit.probability), `${percent(edit.probability)} probable`] : ["probability not known"];
  tip.replaceChildren(
    make("strong", {}, `${NAMES[edit.op] ?? edit.op}: ${what}`),
    make("span", { class: "tip-row" }, ...row),
  );
  tip.hidden = false;
  const line = button.getClientRects()[0] ?? button.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(Math.max(EDGE_PX, line.left + line.width / 2 - width / 2), innerWidth - width - EDGE_PX);
  const above = line.top - height - GAP_PX;
  tip.style.setProperty("--x", `${left}px`);
  tip.style.setProperty("--y", `${above > EDGE_PX ? above : line.bottom + GAP_PX}px`);
}

/** Take the probability away, and the light off what was meant. */
export function hideTip() {
  tip.hidden = true;
  lightMention(null);
}

addEventListener("scroll", hideTip, { passive: true, capture: true });
addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
