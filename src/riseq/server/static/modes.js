// The sides of the page: one question, a file of them, or one question on its way back.
import { byId } from "./dom.js";
import { findOtherForm } from "./examples.js";
import { state, subscribe, update } from "./state.js";
import { startTabs } from "./tabs.js";

const MODES = { "mode-one": byId("one"), "mode-file": byId("file"), "mode-resolve": byId("one") };
const DIRECTIONS = { "mode-one": "simplify", "mode-resolve": "resolve" };
const tabs = Object.keys(MODES).map(byId);
let pick = () => {};

/** Listen to the tabs. */
export function startModes() {
  pick = startTabs(tabs, (chosen) => {
    for (const panel of Object.values(MODES)) panel.hidden = panel !== MODES[chosen.id];
    MODES[chosen.id].setAttribute("aria-labelledby", chosen.id);
    const direction = DIRECTIONS[chosen.id];
    if (direction && direction !== state().direction) update({ direction, ...findOtherForm(direction) }, "set");
  });
  // A link, or what was asked before, brings its own.
  subscribe((_, changed) => changed.has("direction") && !MODES["mode-one"].hidden && showOne());
  document.querySelector(".skip").addEventListener("click", showOne);
}

/** Show the side of the page that has one question, in the direction that it goes. */
export const showOne = () => pick(tabs.find((tab) => DIRECTIONS[tab.id] === state().direction));

/** Show the side of the page that takes a file. */
export const showFile = () => pick(byId("mode-file"));
