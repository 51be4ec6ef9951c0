// "This is wrong": the answer on show as the text of an issue, ready to paste.
import { readModel } from "./direction.js";
import { byId, copyText, make } from "./dom.js";
import { SPEAKERS } from "./state.js";
import { toast } from "./toast.js";

/** What an issue calls the question that was given, and the one that was wanted. */
const NAMES = {
  simplify: ["The self-contained question", "What a person would ask"],
  resolve: ["The question as it was asked", "The question in full"],
};
let model = null;
let shown = null;

/** Listen to the button. */
export function startReport() {
  byId("wrong").addEventListener("click", report);
}

/** Name `described`, the server's word on its model, in what is copied, and show the project's links that it has. */
export function setModel(described) {
  model = described;
  const links = Object.entries(described.links ?? {});
  byId("links").replaceChildren(...links.map(([name, href]) => make("a", { href, rel: "noreferrer" }, name)));
}

/** Report `text`, the form on show for `request`, where the button is clicked. */
export function setShown(request, text, direction) {
  shown = { request, text, direction };
}

async function report() {
  if (!shown) return;
  const copied = await copyText(writeReport(shown.request, shown.text, model, shown.direction));
  const issues = model?.links?.Issues;
  const action = copied && issues ? { label: "Open an issue", run: () => open(issues, "_blank", "noreferrer") } : null;
  toast(copied ? "Issue text copied; mind private data" : "The browser did not let the page copy", action);
}

/** Return the text of an issue about `text`, the answer to `request` in this `direction`. */
export function writeReport(request, text, described, direction) {
  const [asked, wanted] = NAMES[direction];
  const turns = request.context.map(({ role, content }) => `${SPEAKERS[role]}: ${content}`);
  const { context, question, n_best, ...settings } = { strength: 0.5, ...request };
  const version = described ? `riseq ${described.riseq}, ${readModel(direction) || "model unknown"}` : "unknown";
  const options = Object.entries(settings).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [
    "**This question came out wrong**",
    `The dialogue so far:\n${fence(turns.join("\n") || "(none)")}`,
    `${asked}:\n${fence(question)}`,
    `What riseq returned:\n${fence(text)}`,
    `${wanted}:\n${fence("...")}`,
    `Version and model: ${version}\nSettings: ${options.join(", ")}`,
  ].join("\n\n");
}

/** Return `text` as a block that nothing in it can end. */
function fence(text) {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const marks = "`".repeat(longest + 1);
  return `${marks}text\n${text}\n${marks}`;
}
