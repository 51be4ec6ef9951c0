// The slider that says how far an edit may go, with marks at the stops where the text changes.
import { writeRange } from "./compare.js";
import { byId, make } from "./dom.js";
import { NEUTRAL, state, subscribe, update } from "./state.js";
import { STOPS, findGroup, subscribeStops } from "./stops.js";

const NAMES = { 0: "as it is", [NEUTRAL]: "the model’s choice" };
const MOST = { simplify: "shortest", resolve: "most put in" };
const slider = byId("strength");
const ticks = STOPS.map(() => make("span", { class: "tick" }));
let groups = null;

/** Show the strength and listen to the slider. */
export function startStrength() {
  byId("strength-ticks").replaceChildren(...ticks);
  slider.addEventListener("input", () => update({ strength: Number(slider.value) }, "slid"));
  slider.addEventListener("dblclick", reset);
  byId("strength-reset").addEventListener("click", reset);
  subscribe((_, changed) => (changed.has("strength") || changed.has("direction")) && draw());
  subscribeStops((found) => {
    groups = found;
    draw();
  });
  draw();
}

function reset() {
  update({ strength: NEUTRAL }, "set");
  slider.focus();
}

function draw() {
  const { strength, direction } = state();
  slider.value = strength;
  slider.style.setProperty("--share", `${strength * 100}%`);
  byId("strength-value").textContent = strength.toFixed(2);
  const name = strength === 1 ? MOST[direction] : NAMES[strength];
  slider.setAttribute("aria-valuetext", strength.toFixed(2) + (name ? `, ${name}` : ""));
  byId("strength-reset").hidden = strength === NEUTRAL;
  const changes = (groups ?? []).slice(1).map(({ from }) => from);
  ticks.forEach((tick, place) => (tick.dataset.changes = String(changes.includes(STOPS[place]))));
  byId("strength-says").textContent = groups ? describe(changes, findGroup(strength)) : "";
}

/** Return in words at which stops the text changes, and for which it is the one on show. */
function describe(changes, group) {
  if (!changes.length) return "The text is the same at every strength.";
  const last = changes.at(-1);
  const stops = changes.length > 1 ? `${changes.slice(0, -1).join(", ")} and ${last}` : `${last}`;
  const same = group && group.from !== group.to ? ` From ${writeRange(group)} it is the same.` : "";
  return `The text changes at ${stops}.${same}`;
}
