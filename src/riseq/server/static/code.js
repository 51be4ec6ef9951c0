// The request on the page as curl and as Python, to copy.
import { hasKey } from "./api.js";
import { byId } from "./dom.js";
import { asCurl, asPython } from "./snippets.js";
import { copyAndTell } from "./toast.js";

const LANGUAGES = {
  curl: { tab: byId("tab-curl"), write: asCurl, label: "Copy as curl", name: "curl command" },
  python: { tab: byId("tab-python"), write: asPython, label: "Copy as Python", name: "Python" },
};
let language = "curl";
let request = null;

/** Listen to the tabs and the button. */
export function startCode() {
  for (const [name, { tab }] of Object.entries(LANGUAGES)) {
    tab.addEventListener("click", () => pick(name));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      pick(name === "curl" ? "python" : "curl");
      LANGUAGES[language].tab.focus();
    });
  }
  byId("code-copy").addEventListener("click", () =>
    copyAndTell(byId("code-text").textContent, LANGUAGES[language].name),
  );
}

/** Show `asked` as code. */
export function showCode(asked) {
  request = asked;
  draw();
}

function pick(name) {
  language = name;
  for (const [one, { tab }] of Object.entries(LANGUAGES)) {
    tab.setAttribute("aria-selected", String(one === name));
    tab.tabIndex = one === name ? 0 : -1;
  }
  draw();
}

function draw() {
  const { tab, write, label } = LANGUAGES[language];
  byId("code-text").textContent = write(request, new URL(".", location.href).href, hasKey());
  byId("code-copy").querySelector("span").textContent = label;
  byId("code").setAttribute("aria-labelledby", tab.id);
}
