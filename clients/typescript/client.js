/**
 * A client of `riseq serve` over fetch, for Node 18 and newer and for browsers. Answers that say "later" (429, 503)
 * and connections that fail are tried again, after as long as the server asks for.
 */

/** @typedef {import("./schema.js").components["schemas"]} Schemas */
/** @typedef {Schemas["Item"] | Schemas["Chat"]} Item A question, the dialogue before it, and how to edit. */
/** @typedef {Schemas["Candidates"]} Candidates Several questions after one dialogue, and how to edit. */
/** @typedef {Schemas["ResolveItem"] | Schemas["ResolveChat"]} ResolveItem The same for a conversational question. */
/** @typedef {Schemas["Result"]} Result What became of a question. */
/** @typedef {Schemas["ItemFailure"]} ItemFailure What stands in a batch for a question that the server fails on. */
/** @typedef {Schemas["ModelOut"]} Model The server's model and limits. */
/**
 * @typedef {object} ClientOptions
 * @property {string} [apiKey] The server's key, where it has one.
 * @property {number} [timeoutMs] How long one try may take; 60,000 by default.
 * @property {number} [retries] How often a request is tried again; 4 by default.
 */
/** @typedef {{signal?: AbortSignal}} CallOptions The signal ends the call, its retries too, with the signal's reason. */
/** @typedef {CallOptions & {direction?: "simplify" | "resolve"}} ManyOptions The direction is "simplify" by default. */

const CHUNK = 32; // questions a request of `batch`: enough to fill batches, few enough for any server's limits
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 60_000;
const RETRIED = [429, 503];

/** An answer that is not the one asked for: its HTTP status, the server's word for it, and its line. */
export class ServerError extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {string} [requestId] */
  constructor(status, code, message, requestId) {
    super(`${status} ${code}: ${message}`);
    this.name = "ServerError";
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** Edits questions on a server. */
export class Client {
  #address;
  #headers;
  #timeoutMs;
  #retries;

  /** @param {string | URL} [address] A proxy's path may follow the host. @param {ClientOptions} [options] */
  constructor(address = "http://127.0.0.1:8000", { apiKey, timeoutMs = 60_000, retries = 4 } = {}) {
    this.#address = String(new URL(address)).replace(/\/*$/, "");
    this.#headers = new Headers({ "Content-Type": "application/json" });
    if (apiKey) this.#headers.set("Authorization", `Bearer ${apiKey}`);
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
  }

  /**
   * Returns the conversational form of a question.
   * @param {Item} item @param {CallOptions} [options] @returns {Promise<Result>}
   */
  simplify(item, options) {
    return this.#send("/v1/simplify", item, options?.signal);
  }

  /**
   * Returns the self-contained form of a question: the way back.
   * @param {ResolveItem} item @param {CallOptions} [options] @returns {Promise<Result>}
   */
  resolve(item, options) {
    return this.#send("/v1/resolve", item, options?.signal);
  }

  /**
   * Returns one result or failure an item, in order; they go a few dozen a request, one after the other.
   * @param {Iterable<Item>} items @param {ManyOptions} [options] @returns {Promise<(Result | ItemFailure)[]>}
   */
  batch(items, options) {
    return this.#sendParts([...items], (chunk) => ({ items: chunk }), options);
  }

  /**
   * Returns one result or failure for each of `questions` after one dialogue, in order, a few dozen a request.
   * @param {Candidates} candidates @param {ManyOptions} [options] @returns {Promise<(Result | ItemFailure)[]>}
   */
  many({ questions, ...shared }, options) {
    return this.#sendParts(questions, (chunk) => ({ ...shared, questions: chunk }), options);
  }

  /** Returns what the server says of its model and limits. @param {CallOptions} [options] @returns {Promise<Model>} */
  model(options) {
    return this.#send("/v1/model", undefined, options?.signal);
  }

  /**
   * @template T
   * @param {T[]} all @param {(chunk: T[]) => unknown} write @param {ManyOptions} [options]
   * @returns {Promise<(Result | ItemFailure)[]>}
   */
  async #sendParts(all, write, options) {
    const results = [];
    for (let start = 0; start < all.length; start += CHUNK) {
      const chunk = all.slice(start, start + CHUNK);
      const answer = await this.#send(`/v1/${options?.direction ?? "simplify"}`, write(chunk), options?.signal);
      const count = answer.results?.length;
      if (count !== chunk.length) throw new ServerError(200, "count", `${count} results for ${chunk.length} questions`);
      results.push(...answer.results);
    }
    return results;
  }

  /** @param {string} path @param {unknown} body @param {AbortSignal} [signal] @returns {Promise<any>} */
  async #send(path, body, signal) {
    const content = JSON.stringify(body);
    for (let tried = 0; ; tried += 1) {
      let retryAfter = null;
      try {
        const { answer, text } = await this.#try(path, content, signal);
        if (!RETRIED.includes(answer.status) || tried >= this.#retries) return readAnswer(answer, text);
        retryAfter = answer.headers.get("Retry-After");
      } catch (error) {
        // A connection that fails is a TypeError of fetch.
        if (!(error instanceof TypeError) || tried >= this.#retries) throw error;
      }
      await sleep(reckonWait(tried, retryAfter), signal);
    }
  }

  /** @param {string} path @param {string | undefined} body @param {AbortSignal} [signal] */
  async #try(path, body, signal) {
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    const late = () => controller.abort(new DOMException(`no answer in ${this.#timeoutMs} ms`, "TimeoutError"));
    const timer = setTimeout(late, this.#timeoutMs);
    signal?.addEventListener("abort", abort);
    try {
      const how = { method: body ? "POST" : "GET", headers: this.#headers, body, signal: controller.signal };
      const answer = await fetch(this.#address + path, how);
      return { answer, text: await answer.text() };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }
}

/** @param {number} tried @param {string | null} retryAfter */
function reckonWait(tried, retryAfter) {
  const asked = retryAfter ? Number(retryAfter) * 1000 : NaN; // NaN for a date, too
  const own = FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random()); // who was refused together comes back apart
  return Math.min(asked >= 0 ? asked : own, LONGEST_WAIT_MS);
}

/** @param {number} ms @param {AbortSignal} [signal] @returns {Promise<void>} */
function sleep(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(wake, signal?.aborted ? 0 : ms);
    signal?.addEventListener("abort", wake); // the next try throws its reason
    function wake() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    }
  });
}

/** Returns the body of a good answer; another is thrown. @param {Response} answer @param {string} text */
function readAnswer(answer, text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {} // told below
  if (answer.ok && body && typeof body === "object") return body;
  const { code, message, request_id } = body?.error ?? {};
  if (code) throw new ServerError(answer.status, code, message, request_id);
  throw new ServerError(answer.status, "unknown", "the answer is not riseq's; is this its address?");
}
