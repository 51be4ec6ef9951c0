// The request on the page as curl and as Python, to copy.
import { hasKey } from "./api.js";
import { byId } from "./dom.js";
import { asCurl, asPython } from "./snippets.js";
import { startTabs } from "./tabs.js";
import { copyAndTell } from "./toast.js";

const LANGUAGES = {
  curl: { tab: byId("tab-curl"), write: asCurl, label: "Copy as curl", name: "curl command" },
  python: { tab: byId("tab-python"), write: asPython, label: "Copy as Python", name: "Python" },
};
let language = "curl";
let request = null;
let direction = "simplify";

/** Listen to the tabs and the button. */
export function startCode() {
  const names = Object.keys(LANGUAGES);
  startTabs(
    names.map((name) => LANGUAGES[name].tab),
    (chosen) => {
      language = names.find((name) => LANGUAGES[name].tab === chosen);
      draw();
    },
  );
  byId("code-copy").addEventListener("click", () =>
    copyAndTell(byId("code-text").textContent, LANGUAGES[language].name),
  );
}

/** Show `asked`, a request in the direction `how`, as code. */
export function showCode(asked, how) {
  request = asked;
  direction = how;
  draw();
}

function draw() {
  const { tab, write, label } = LANGUAGES[language];
  byId("code-text").textContent = write(request, new URL(".", location.href).href, hasKey(), direction);
  byId("code-copy").querySelector("span").textContent = label;
  byId("code").setAttribute("aria-labelledby", tab.id);
}
