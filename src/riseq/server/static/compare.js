// Side by side: the question itself, and what each strength makes of it. A click sets the strength.
import { byId, make, meter, percent } from "./dom.js";
import { NEUTRAL, state, subscribe, update } from "./state.js";
import { subscribeStops } from "./stops.js";
import { splitAdded } from "./words.js";

const list = byId("compare");
let shown = [];

/** Show the strengths side by side and keep them up to date. */
export function startCompare() {
  subscribeStops(draw);
  subscribe((_, changed) => changed.has("strength") && mark());
}

function draw(groups) {
  byId("compare-block").hidden = !groups;
  shown = (groups ?? []).map((one) => ({ ...one, button: makeButton(one, groups[0].text) }));
  list.replaceChildren(...shown.map(({ button }) => make("li", {}, button)));
  mark();
}

/** Return a range of strengths as people write it. */
export const writeRange = ({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`);

function makeButton(one, question) {
  const pieces = splitAdded(question, one.text);
  const isOrigin = one.text === question;
  const text = make(
    "span",
    { class: "form-text" },
    make("span", { dir: "auto" }, ...pieces.map(({ piece, added }) => (added ? make("mark", {}, piece) : piece))),
    isOrigin ? make("span", { class: "badge" }, "the question itself") : null,
  );
  const sure = typeof one.confidence === "number" && !isOrigin;
  return make(
    "button",
    { class: "form compared", type: "button", on: { click: () => pick(one) } },
    make("span", { class: "compared-stops" }, make("span", { class: "hidden" }, "Strength "), writeRange(one)),
    text,
    sure
      ? make("span", { class: "form-share", title: "Confidence" }, percent(one.confidence), meter(one.confidence))
      : null,
  );
}

/** Set the strength to the stop of the group that is nearest, or to the model's own choice where it is one of them. */
function pick({ from, to }) {
  const { strength } = state();
  const isNeutral = from <= NEUTRAL && NEUTRAL <= to;
  update({ strength: isNeutral ? NEUTRAL : Math.min(to, Math.max(from, strength)) }, "set");
}

function mark() {
  const { strength } = state();
  for (const { from, to, button } of shown)
    button.setAttribute("aria-pressed", String(from <= strength && strength <= to));
}
