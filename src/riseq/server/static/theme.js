// Loaded before the page is drawn, so that a chosen theme never flashes the other one.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("riseq-theme");
  } catch {
    // Storage can be switched off; the page then follows the system.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
