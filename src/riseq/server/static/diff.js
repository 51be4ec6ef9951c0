// A pass as a line of text with its edits in place, each one a button that tells how probable it was and what it meant.
import { byId, make, meter, percent } from "./dom.js";
import { copyAndTell } from "./toast.js";
import { lightMention, readMention } from "./turns.js";

const NAMES = { delete: "dropped", insert: "added", substitute: "replaced" };
const tip = byId("tip");
/** The edit that the pointer or the focus is on. */
let touched = null;
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
  // The gap parts the two for whoever hears or speaks the button's text.
  const marks = [
    edit.old ? make("del", {}, edit.old) : null,
    edit.old && edit.new ? make("span", { class: "gap" }, " ") : null,
    edit.new ? make("ins", {}, edit.new) : null,
  ];
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

const write = (edit) => (edit.op === "substitute" ? `${edit.old} → ${edit.new}` : edit.old || edit.new);

function describe(edit) {
  const sure = typeof edit.probability === "number" ? `, probability ${percent(edit.probability)}` : "";
  const refers = edit.refers_to ? `, refers to turn ${edit.refers_to.utterance + 1}` : "";
  return `${write(edit)}: ${NAMES[edit.op] ?? edit.op}${sure}${refers}`;
}

function showTip(button, edit) {
  lightMention(edit.refers_to);
  const known = typeof edit.probability === "number";
  const row = known ? [meter(edit.probability), `${percent(edit.probability)} probable`] : ["probability not known"];
  const meant = readMention(edit.refers_to);
  tip.replaceChildren(
    make("strong", {}, `${write(edit)}: ${NAMES[edit.op] ?? edit.op}`),
    make("span", { class: "tip-row" }, ...row),
    meant ? make("span", { class: "tip-row" }, `turn ${edit.refers_to.utterance + 1} says “${meant}”`) : "",
  );
  tip.hidden = false;
  touched = button;
  place();
}

/** Put the tip beside the edit that is touched, wherever that has scrolled to. */
function place() {
  const button = touched;
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
  touched = null;
  lightMention(null);
}

/** Listen to what is copied of the passes: in plain text an edit is [old -> new]. */
export function startDiff() {
  const passes = byId("passes");
  byId("passes-copy").addEventListener("click", () => {
    const lines = [...passes.querySelectorAll(".pass[data-kind=edit] .pass-text")].map(writePlain);
    copyAndTell(lines.join("\n") || passes.querySelector(".pass-text").textContent, "Edits");
  });
  passes.addEventListener("copy", (event) => {
    const selected = getSelection();
    if (!selected.rangeCount) return;
    const copied = make("div", {}, selected.getRangeAt(0).cloneContents());
    if (!copied.querySelector("del, ins")) return;
    event.preventDefault();
    const lines = [...copied.querySelectorAll(".pass-label, .pass-text")];
    event.clipboardData.setData("text/plain", (lines.length ? lines : [copied]).map(writePlain).join("\n"));
  });
}

/** Return the text of `line` with each edit in it as [old -> new], [old ->] or [-> new]. */
function writePlain(line) {
  const plain = line.cloneNode(true);
  for (const gap of plain.querySelectorAll(".gap")) gap.remove();
  for (const gone of plain.querySelectorAll("del")) {
    const next = gone.nextElementSibling?.matches("ins") ? gone.nextElementSibling : null;
    gone.replaceWith(`[${gone.textContent} ->${next ? ` ${next.textContent}` : ""}]`);
    next?.remove();
  }
  for (const added of plain.querySelectorAll("ins")) added.replaceWith(`[-> ${added.textContent}]`);
  return plain.textContent;
}

// Focus by keyboard scrolls the page to the edit: the tip goes with it.
addEventListener("scroll", () => touched && place(), { passive: true, capture: true });
addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
