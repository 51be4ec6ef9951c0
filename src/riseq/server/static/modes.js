// The two sides of the page: one question, or a file of them.
import { byId } from "./dom.js";
import { startTabs } from "./tabs.js";

const MODES = { "mode-one": byId("one"), "mode-file": byId("file") };
const tabs = Object.keys(MODES).map(byId);
let pick = () => {};

/** Listen to the tabs. */
export function startModes() {
  pick = startTabs(tabs, (chosen) => {
    for (const [id, panel] of Object.entries(MODES)) panel.hidden = id !== chosen.id;
  });
  document.querySelector(".skip").addEventListener("click", showOne);
}

/** Show the side of the page that has one question. */
export const showOne = () => pick(byId("mode-one"));

/** Show the side of the page that takes a file. */
export const showFile = () => pick(byId("mode-file"));
