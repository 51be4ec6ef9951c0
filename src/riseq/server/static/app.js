// The playground: starts its parts and ties what is written to what is asked.
import { startActions } from "./actions.js";
import { describeModel, listModels } from "./api.js";
import { startBatch } from "./batch.js";
import { startCode } from "./code.js";
import { startCompare } from "./compare.js";
import { startDiff } from "./diff.js";
import { nameModel, startDirection } from "./direction.js";
import { startExamples } from "./examples.js";
import { followHistory, startHistory } from "./history.js";
import * as live from "./live.js";
import { followModels, setModels, startModels } from "./models.js";
import { startModes } from "./modes.js";
import { startPasteSheet } from "./paste_sheet.js";
import { startPeek } from "./peek.js";
import { startQuestion } from "./question.js";
import { setModel, startReport } from "./report.js";
import { show, startResult } from "./result.js";
import { startShortcuts } from "./shortcuts.js";
import { readLink, readStored, restore, state, subscribe } from "./state.js";
import { followStops } from "./stops.js";
import { startStrength } from "./strength.js";
import { toast } from "./toast.js";
import { startTheme } from "./toggle.js";
import { startTurns } from "./turns.js";

startTheme();
startModes();
startDirection();
startTurns();
startQuestion();
startStrength();
startCompare();
startModels();
startDiff();
startCode();
startActions();
startReport();
startHistory();
startBatch();
startPasteSheet();
startShortcuts();
startPeek();
startResult(() => {
  toast("The server is back");
  showModel();
});
live.start((situation) => {
  show(situation);
  followStops(situation);
  followModels(situation);
  followHistory(situation);
});
subscribe((_, __, how) => {
  live.schedule(how);
  // A link in the address bar is true until the first change; after it, a reload must not bring the old text back.
  if (how !== "linked" && location.hash.startsWith("#s="))
    history.replaceState(null, "", location.pathname + location.search);
});

const readyExamples = startExamples().catch(() => []);
const linked = readLink();
if (location.hash.startsWith("#s=") && !linked) toast("This link is damaged: it could not be read");
const saved = linked ?? readStored();
if (saved) restore(saved, linked ? "linked" : "set");
else {
  const untouched = state();
  const [first] = await readyExamples;
  // Someone quicker than the examples keeps what they wrote.
  if (state() === untouched) restore(first);
}
addEventListener("hashchange", () => {
  const changed = readLink();
  if (changed) restore(changed, "linked");
});
showModel();

async function showModel() {
  try {
    const model = await describeModel();
    setModel(model);
    nameModel("simplify", [model.name, model.precision].filter((part) => typeof part === "string").join(" · "));
    const models = await listModels();
    nameModel("resolve", models.find((one) => one.direction === "resolve" && one.at_work)?.name ?? "");
    setModels(models);
  } catch {
    // The page works without knowing the model's name.
  }
}
