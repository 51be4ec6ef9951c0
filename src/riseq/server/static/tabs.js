// Tabs by mouse and by keyboard: the arrows move between them, and only the chosen one is reached by the Tab key.

/** Listen to `tabs`, buttons in their order; `onPick(tab)` is called with each one picked. Return a function that picks. */
export function startTabs(tabs, onPick) {
  const pick = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
    }
    onPick(chosen);
  };
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => pick(tab));
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      const chosen = tabs[(next + tabs.length) % tabs.length];
      pick(chosen);
      chosen.focus();
    });
  });
  return pick;
}
