// The button that goes through the themes; theme.js has put the chosen one on before the page was drawn.
import { byId, setIcon } from "./dom.js";

const THEMES = {
  auto: ["auto", "Theme: as the system"],
  light: ["sun", "Theme: light"],
  dark: ["moon", "Theme: dark"],
};

/** Show the theme and listen to its button. */
export function startTheme() {
  const root = document.documentElement;
  const button = byId("theme");
  const draw = () => {
    const [name, label] = THEMES[root.dataset.theme ?? "auto"];
    setIcon(button, name);
    button.setAttribute("aria-label", `${label}; change`);
    button.title = label;
  };
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(root.dataset.theme ?? "auto") + 1) % names.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem("riseq-theme", next);
    } catch {
      // The choice then lasts as long as the page.
    }
    draw();
  });
  draw();
}
