// The slider that says how far an edit may go.
import { byId } from "./dom.js";
import { NEUTRAL, state, subscribe, update } from "./state.js";

const NAMES = { 0: "as it is", [NEUTRAL]: "the model’s choice", 1: "shortest" };
const slider = byId("strength");

/** Show the strength and listen to the slider. */
export function startStrength() {
  slider.addEventListener("input", () => update({ strength: Number(slider.value) }, "slid"));
  slider.addEventListener("dblclick", reset);
  byId("strength-reset").addEventListener("click", reset);
  subscribe((_, changed) => changed.has("strength") && draw());
  draw();
}

function reset() {
  update({ strength: NEUTRAL }, "set");
  slider.focus();
}

function draw() {
  const { strength } = state();
  slider.value = strength;
  slider.style.setProperty("--share", `${strength * 100}%`);
  byId("strength-value").textContent = strength.toFixed(2);
  const name = NAMES[strength];
  slider.setAttribute("aria-valuetext", strength.toFixed(2) + (name ? `, ${name}` : ""));
  byId("strength-reset").hidden = strength === NEUTRAL;
}
