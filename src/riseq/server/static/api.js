// The server's JSON interface, with its ways of failing told apart.
import { protectedIn } from "./words.js";

export const N_BEST = 5;

const TIMEOUT_MS = 30_000;
const KEY = "riseq-key";
let key = "";
try {
  key = sessionStorage.getItem(KEY) ?? "";
} catch {
  // Without storage the key lives as long as the page.
}

export const hasKey = () => key !== "";

/** Use `text` as the API key from now on, until the tab is closed. */
export function setKey(text) {
  key = text;
  try {
    sessionStorage.setItem(KEY, text);
  } catch {
    // See above.
  }
}

/** No answer. `kind` is gone, locked, busy, away or error; `status` and `wait`, in seconds, as the server gave them. */
export class Failure extends Error {
  constructor(kind, message, { status = null, wait = null, requestId = null } = {}) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.wait = wait;
    this.requestId = requestId;
  }
}

/** Return the body of a request for what `state` holds; empty turns are not said. */
export function makeRequest(state) {
  const context = state.turns
    .filter((turn) => turn.text.trim())
    .map((turn) => ({ role: turn.speaker, content: turn.text.trim() }));
  const request = { question: state.question.trim(), context };
  if (state.strength !== 0.5) request.strength = state.strength;
  const protect = protectedIn(state.question, state.protect);
  if (protect.length) request.protect = protect;
  return { ...request, n_best: N_BEST };
}

/** Return the server's answer to `request` in this direction, simplify or resolve; `signal` calls it off. */
export async function edit(direction, request, signal) {
  const body = JSON.stringify(request);
  const answer = await call(`v1/${direction}`, signal, { method: "POST", body });
  if (typeof answer?.text !== "string" || !Array.isArray(answer.steps)) {
    throw new Failure("error", "The server’s answer has no question in it.");
  }
  return answer;
}

/** Return the server's answers to `items`, each a result or {error}, in their order; `signal` calls it off. */
export async function editMany(direction, items, signal) {
  const answer = await call(`v1/${direction}`, signal, { method: "POST", body: JSON.stringify({ items }) });
  if (!Array.isArray(answer?.results) || answer.results.length !== items.length) {
    throw new Failure("error", "The server’s answer does not have one result a question.");
  }
  return answer.results;
}

/** Return what the server says about its model. */
export const describeModel = () => call("v1/model", null);

/** Return what a request may name as its model, the one at work first. */
export async function listModels() {
  const { models } = (await call("v1/models", null)) ?? {};
  return Array.isArray(models) ? models.filter((one) => typeof one?.name === "string") : [];
}

/** Return whether the server answers at all. */
export async function isThere() {
  try {
    await fetch("health", { cache: "no-store", signal: AbortSignal.timeout(4000) });
    return true;
  } catch {
    return false;
  }
}

async function call(path, signal, options = {}) {
  const headers = { accept: "application/json" };
  if (options.body) headers["content-type"] = "application/json";
  if (key) headers.authorization = `Bearer ${key}`;
  const late = AbortSignal.timeout(TIMEOUT_MS);
  let response;
  let text;
  try {
    response = await fetch(path, {
      ...options,
      headers,
      cache: "no-store",
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    if (late.aborted) throw new Failure("error", `No answer within ${TIMEOUT_MS / 1000} seconds.`);
    throw new Failure("gone", "The server does not answer.");
  }
  const answer = parse(text);
  if (response.ok) return answer;
  throw explain(response, answer?.error);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function explain(response, error) {
  const kinds = { 401: "locked", 429: "busy", 502: "gone", 503: "away", 504: "gone" };
  const message = typeof error?.message === "string" ? error.message : `The server answered ${response.status}.`;
  const wait = Number.parseFloat(response.headers.get("retry-after") ?? "");
  return new Failure(kinds[response.status] ?? "error", message, {
    status: response.status,
    wait: Number.isFinite(wait) ? wait : null,
    requestId: typeof error?.request_id === "string" ? error.request_id : null,
  });
}
