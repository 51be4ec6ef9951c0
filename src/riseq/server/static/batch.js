// A file of questions: dropped or chosen, sent in chunks, shown as a table, and taken away as a file again.
import { describeModel } from "./api.js";
import { runRows } from "./batch_run.js";
import { byId, make, percent } from "./dom.js";
import { showFile } from "./modes.js";
import { state } from "./state.js";
import { readTable, writeCsv, writeJsonl } from "./tables.js";
import { splitAdded } from "./words.js";

const SHOWN = 200;
const USUAL_MAX_ITEMS = 256;
const panel = byId("file");

let name = "";
let table = null;
let strength = 0.5;
let control = null;
let drawn = 0;

/** Listen to the file field, to files dropped anywhere, and to the buttons. */
export function startBatch() {
  const field = byId("file-field");
  field.addEventListener("change", () => {
    if (field.files[0]) open(field.files[0]);
    field.value = ""; // so that the same file, mended, can be chosen again
  });
  addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    panel.dataset.over = "true";
  });
  addEventListener("dragleave", () => delete panel.dataset.over);
  addEventListener("drop", (event) => {
    delete panel.dataset.over;
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    showFile();
    open(file);
  });
  byId("file-cancel").addEventListener("click", () => control?.abort());
  byId("file-resume").addEventListener("click", run);
  byId("file-csv").addEventListener("click", () => save("csv", "text/csv", writeCsv(table.rows, table.columns)));
  byId("file-jsonl").addEventListener("click", () => save("jsonl", "application/jsonl", writeJsonl(table.rows)));
}

async function open(file) {
  control?.abort();
  name = file.name;
  table = null;
  drawn = 0;
  strength = state().strength;
  byId("file-rows").replaceChildren();
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    table = readTable(text, name);
  } catch (error) {
    const reason = error instanceof TypeError ? "It is not UTF-8 text." : error.message;
    draw("stopped", `${name} cannot be used. ${reason}`);
    return;
  }
  if (table.rows.length) await run();
  else draw("done", "No row can be used.");
}

async function run() {
  const mine = new AbortController();
  const asked = table;
  control = mine;
  draw("running", "");
  byId("file-cancel").focus();
  let end = ["done", ""];
  try {
    const maxItems = await findMaxItems();
    await runRows(asked.rows, { strength, maxItems }, mine.signal, () => table === asked && draw("running", ""));
  } catch (error) {
    if (mine.signal.aborted) end = ["stopped", "Cancelled."];
    else if (error.kind === "locked") end = ["stopped", "This server asks for a key: give it beside one question."];
    else end = ["stopped", `Stopped: ${error.message}`];
  }
  if (table !== asked) return; // another file has taken its place
  draw(...end);
  (byId("file-cancel").hidden ? byId(end[0] === "done" ? "file-csv" : "file-resume") : byId("file-cancel")).focus();
  byId("live").textContent = byId("file-status").textContent;
}

async function findMaxItems() {
  try {
    return (await describeModel()).limits?.max_items ?? USUAL_MAX_ITEMS;
  } catch {
    return USUAL_MAX_ITEMS;
  }
}

/** Show how far it is: `kind` is running, stopped or done. */
function draw(kind, message) {
  const rows = table?.rows ?? [];
  const done = rows.filter((row) => row.result).length;
  const failed = rows.filter((row) => row.failure);
  const bad = [...(table?.bad ?? []), ...failed.map(({ line, failure }) => ({ line, reason: failure }))];
  panel.dataset.state = kind;
  const progress = byId("file-progress");
  progress.hidden = !rows.length;
  progress.max = Math.max(1, rows.length);
  progress.value = done + failed.length;
  const count = `${done} of ${rows.length} ${rows.length === 1 ? "question" : "questions"} done`;
  const counted = rows.length ? `${name}: ${count}, at strength ${strength}.` : "";
  byId("file-status").textContent = [message, counted].filter(Boolean).join(" ");
  byId("file-cancel").hidden = kind !== "running";
  byId("file-resume").hidden = kind !== "stopped" || !rows.length || done + failed.length === rows.length;
  byId("file-csv").hidden = byId("file-jsonl").hidden = !done || kind === "running";
  drawBad(bad.sort((one, two) => one.line - two.line));
  drawRows(rows);
}

function drawBad(bad) {
  byId("file-bad").hidden = !bad.length;
  byId("file-bad-title").textContent =
    bad.length === 1 ? "1 row cannot be used and is left out" : `${bad.length} rows cannot be used and are left out`;
  const more = bad.length > SHOWN ? [make("li", {}, `and ${bad.length - SHOWN} more`)] : [];
  byId("file-bad-list").replaceChildren(
    ...bad.slice(0, SHOWN).map(({ line, reason }) => make("li", {}, `Line ${line}: ${reason}`)),
    ...more,
  );
}

/** Add the rows that have come since to the table. */
function drawRows(rows) {
  const results = rows.filter((row) => row.result);
  byId("file-rows").append(...results.slice(drawn, SHOWN).map(makeRow));
  drawn = Math.min(results.length, SHOWN);
  byId("file-table").hidden = !drawn;
  byId("file-more").textContent =
    results.length > SHOWN ? `The first ${SHOWN} of ${results.length}; a download has them all.` : "";
}

function makeRow({ line, question, result }) {
  const pieces = splitAdded(question, result.text).map(({ piece, added }) => (added ? make("mark", {}, piece) : piece));
  const sure = typeof result.confidence === "number" ? percent(result.confidence) : "";
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, String(line)),
    make("td", { dir: "auto" }, question),
    make("td", { dir: "auto", class: result.changed ? "changed" : "" }, ...pieces),
    make("td", { class: "number" }, sure),
  );
}

function save(suffix, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const stem = name.replace(/\.[^.]*$/, "");
  make("a", { href: url, download: `${stem}.riseq.${suffix}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
