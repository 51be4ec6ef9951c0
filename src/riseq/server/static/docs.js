// The API's reference, made to try: each operation gets a form that sends a request to this server and shows the answer.
import { make } from "./dom.js";

const KEY = "riseq-key"; // the playground's, so that a key given there serves here too
const METHODS_WITH_BODY = new Set(["POST", "PUT", "PATCH"]);

const example = await readExample();
for (const heading of document.querySelectorAll("section > h3 > code")) {
  const [method, path] = heading.textContent.split(" ");
  if (path?.startsWith("/")) heading.closest("section").append(makeForm(method, path));
}

/** Return the body that the document has as the example of a request, "" where it has none or does not come. */
async function readExample() {
  try {
    const document = await (await fetch("/openapi.json")).json();
    const [first] = document.components?.schemas?.Item?.examples ?? [];
    return first ? JSON.stringify(first, null, 2) : "";
  } catch {
    return "";
  }
}

function makeForm(method, path) {
  const name = `${method} ${path}`;
  const body = METHODS_WITH_BODY.has(method)
    ? make("textarea", { rows: 8, spellcheck: "false", "aria-label": `Body of ${name}` }, example)
    : null;
  const send = make("button", { type: "button", "aria-label": `Send ${name}` }, "Send");
  const status = make("span", { role: "status" });
  const answer = make("pre", { role: "region", tabindex: 0, hidden: true, "aria-label": `Answer to ${name}` });
  send.addEventListener("click", async () => {
    send.disabled = true;
    status.textContent = "Asking…";
    const got = await ask(method, path, body?.value);
    status.textContent = got.status;
    answer.textContent = got.text;
    answer.hidden = !got.text;
    send.disabled = false;
    send.focus();
  });
  return make("details", { class: "try" }, make("summary", {}, "Try it"), body, make("p", {}, send, " ", status), answer);
}

/** Return {status, text} of the server's answer, in words where there was none. */
async function ask(method, path, body) {
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  const key = readKey();
  if (key) headers.authorization = `Bearer ${key}`;
  try {
    const response = await fetch(path, { method, headers, body, cache: "no-store" });
    const hint = response.status === 401 ? " (give the key on the playground first)" : "";
    return { status: `${response.status} ${response.statusText}${hint}`, text: indent(await response.text()) };
  } catch {
    return { status: "The server does not answer.", text: "" };
  }
}

function readKey() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Return JSON with a line a value; other text as it is. */
function indent(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
