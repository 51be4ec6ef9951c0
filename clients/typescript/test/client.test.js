// The client against a running server: RISEQ_ADDRESS and RISEQ_API_KEY name one whose engine fails on "poison", and
// RISEQ_BUSY_ADDRESS one that has a place for one question. What no real server does at will comes from one made here.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, afterEach, mock, test } from "node:test";

import { Client, ServerError } from "riseq-client";

const { RISEQ_ADDRESS: address = "", RISEQ_API_KEY: apiKey = "", RISEQ_BUSY_ADDRESS: busy = "" } = process.env;
const alien = { question: "When was Alien released?", context: ["Who directed Alien?"] };
const client = new Client(address, { apiKey });

/** @typedef {[status: number, retryAfter?: string]} Refusal 0 hangs up, 1 never answers. */
/** @type {Refusal[]} */
let refusals = [];
let seen = 0;
const reluctant = createServer((request, response) => {
  seen += 1;
  const [status, retryAfter] = refusals.shift() ?? [200];
  if (status === 0) return void request.socket.destroy();
  if (status === 1) return void server.emit("seen");
  if (retryAfter !== undefined) response.setHeader("Retry-After", retryAfter);
  const error = { code: "queue_full", message: "later", request_id: "1" };
  response.writeHead(status).end(status === 200 ? '{"text": "When?"}' : JSON.stringify({ error }));
});
const server = reluctant.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const reluctantAddress = `http://127.0.0.1:${port}`;

after(() => {
  server.close();
  server.closeAllConnections();
});
afterEach(() => mock.restoreAll());

const { setTimeout: begin } = globalThis;

/**
 * Lets `start` begin the clients' timers of this name, and returns how long they would have been.
 * @param {"late" | "wake"} name
 * @param {(call: () => void, ms: number) => unknown} start
 */
function noteTimers(name, start) {
  /** @type {number[]} */
  const noted = [];
  const replaced = (/** @type {() => void} */ call, /** @type {number} */ ms, /** @type {any[]} */ ...rest) => {
    if (call.name !== name) return begin(call, ms, ...rest); // fetch has timers of its own
    noted.push(ms);
    return start(call, ms);
  };
  mock.method(globalThis, "setTimeout", /** @type {any} */ (replaced));
  return noted;
}

/** @param {Refusal[]} said */
function refuse(...said) {
  refusals = said;
  seen = 0;
}

test("a question has the engine's answer, and what is asked for reaches the engine", async () => {
  const result = await client.simplify({ ...alien, n_best: 2 });
  assert.equal(result.text, "When was it released?");
  assert.deepEqual(
    result.alternatives.map((form) => form.text),
    ["When was Alien released?", "When was it released?"],
  );
  assert.equal((await client.simplify({ ...alien, protect: ["Alien"] })).changed, false);
  const chat = await client.simplify({ ...alien, context: [{ role: "user", content: "Who directed Alien?" }] });
  assert.equal(chat.text, "When was it released?");
});

test("places count Unicode code points, as spreading a string does", async () => {
  const result = await client.simplify({ ...alien, question: "🎬 When was Alien released?" });
  const [{ before, edits }] = result.steps;
  assert.equal([...before].slice(edits[0].start, edits[0].end).join(""), "Alien");
  assert.notEqual(before.slice(edits[0].start, edits[0].end), "Alien");
});

test("a batch longer than a request comes back in order, a failure at its place", async () => {
  const items = Array.from({ length: 70 }, (_, index) => ({ question: `Question ${index}?` }));
  items[40] = { question: "poison" };
  const results = await client.batch(items);
  assert.equal(results.length, 70);
  results.forEach((result, index) => {
    if ("error" in result) assert.deepEqual([index, result.error.code], [40, "failed"]);
    else assert.equal(result.question, `Question ${index}?`);
  });
  assert.ok("error" in results[40]);
  assert.deepEqual(await client.batch([]), []);
});

test("questions after one dialogue come back in order, a failure at its place", async () => {
  const questions = Array.from({ length: 40 }, (_, index) => `Is Alien number ${index} good?`);
  questions[35] = "poison";
  const results = await client.many({ context: alien.context, questions, strength: 0.5 });
  assert.equal(results.length, 40);
  results.forEach((result, index) => {
    if ("error" in result) assert.deepEqual([index, result.error.code], [35, "failed"]);
    else assert.deepEqual([result.question, result.text], [questions[index], `Is it number ${index} good?`]);
  });
  assert.ok("error" in results[35]);
  assert.deepEqual(await client.many({ questions: [] }), []);
});

test("the way back: one question, many after one dialogue, and many in their own", async () => {
  const asked = { question: "When was it released?", context: alien.context };
  const result = await client.resolve({ ...asked, n_best: 2 });
  assert.equal(result.text, alien.question);
  assert.deepEqual(result.steps[0].edits[0].refers_to, { utterance: 0, start: 13, end: 18 });
  assert.equal(result.alternatives.length, 2);
  const questions = ["Is it good?", "poison", "How long is it?"];
  const many = await client.many({ context: alien.context, questions }, { direction: "resolve" });
  const texts = many.map((one) => ("error" in one ? one.error.code : one.text));
  assert.deepEqual(texts, ["Is Alien good?", "failed", "How long is Alien?"]);
  const [only] = await client.batch([asked], { direction: "resolve" });
  assert.ok(!("error" in only) && only.text === alien.question);
  const grounded = /** @type {any} */ ({ ...asked, grounded: false });
  await assert.rejects(client.resolve(grounded), { status: 422, code: "invalid" });
});

test("messages alone have the question as the last of them", async () => {
  const messages = [alien.context[0], alien.question].map((content) => ({ role: "user", content }));
  assert.equal((await client.simplify({ messages })).text, "When was it released?");
});

test("the model's facts are those of the server", async () => {
  const model = await client.model();
  assert.equal(model.engine, "dummy");
  assert.equal(model.limits.max_items, 64);
});

test("what the server refuses is a ServerError with its words", async () => {
  const invalid = await client.simplify({ ...alien, n_best: 21 }).catch((error) => error);
  assert.ok(invalid instanceof ServerError);
  assert.deepEqual([invalid.status, invalid.code, invalid.name], [422, "invalid", "ServerError"]);
  assert.match(invalid.message, /^422 invalid: n_best: /);
  assert.ok(invalid.requestId);
  await assert.rejects(new Client(address).model(), { status: 401, code: "unauthorized" });
  await assert.rejects(client.simplify({ question: "poison" }), { status: 500, code: "failed" });
  await assert.rejects(new Client(`${address}/docs/`, { apiKey }).model(), { status: 404, code: "not_found" });
  refuse([204]);
  await assert.rejects(new Client(reluctantAddress).model(), { status: 204, code: "unknown" });
  await assert.rejects(new Client(reluctantAddress).batch([alien]), { code: "count" });
});

test("a full server is asked again after as long as it says, until each question has its answer", async () => {
  const waits = noteTimers("wake", (call) => begin(call, 10));
  const patient = new Client(busy, { retries: 1_000 });
  const results = await Promise.all(Array.from({ length: 8 }, () => patient.simplify(alien)));
  assert.ok(results.every((result) => result.text === "When was it released?"));
  assert.ok(waits.includes(1_000), `waits: ${waits.slice(0, 20)}`);
});

test("refusals and lost connections are tried again, but not without end", async () => {
  const waits = noteTimers("wake", (call) => begin(call, 10));
  refuse([429, "7"], [503, "3600"], [0], [503, "soon"]);
  assert.equal((await new Client(reluctantAddress).simplify(alien)).text, "When?");
  assert.equal(seen, 5);
  assert.deepEqual(waits.slice(0, 2), [7_000, 60_000]); // an hour is too long
  const [third, fourth] = waits.slice(2); // the client's own, with their spread
  assert.ok(third >= 500 && third <= 1_500 && fourth >= 1_000 && fourth <= 3_000, `${waits}`);
  refuse([503, "0"], [503, "0"], [503, "0"]);
  await assert.rejects(new Client(reluctantAddress, { retries: 1 }).model(), { status: 503 });
  assert.equal(seen, 2);
  refuse([0], [0]);
  await assert.rejects(new Client(reluctantAddress, { retries: 1 }).model(), TypeError);
});

test("an answer that does not come in time is a TimeoutError, and is not asked for again", async () => {
  refuse([1]); // a second try would be answered
  const limits = noteTimers("late", (call) => void server.once("seen", call));
  await assert.rejects(new Client(reluctantAddress, { timeoutMs: 30 }).simplify(alien), { name: "TimeoutError" });
  assert.deepEqual(limits, [30]);
});

test("a signal ends a call while it waits for an answer", { timeout: 10_000 }, async () => {
  refuse([1]);
  const controller = new AbortController();
  server.once("seen", () => controller.abort(new Error("enough")));
  await assert.rejects(new Client(reluctantAddress).simplify(alien, controller), { message: "enough" });
  assert.equal(seen, 1);
});

test("a signal ends a call between its tries, and before any", { timeout: 10_000 }, async () => {
  refuse([503, "50"]);
  const controller = new AbortController();
  const waits = noteTimers("wake", (call, ms) => {
    setImmediate(() => controller.abort(new Error("enough")));
    return begin(call, ms);
  });
  await assert.rejects(new Client(reluctantAddress).batch([alien], controller), { message: "enough" });
  assert.deepEqual(waits, [50_000]);
  await assert.rejects(new Client(reluctantAddress).model(controller), { message: "enough" });
  assert.equal(seen, 1);
});
