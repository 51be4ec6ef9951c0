// Sends the rows of a file to the server in chunks that it takes, and finds the row that spoils a chunk.
import { Failure, editMany } from "./api.js";

const LARGEST_CHUNK = 32;
const LARGEST_BODY = 500_000; // characters
const TRIES = 6;
const LONGEST_WAIT_S = 10;
const REFUSED = new Set([400, 408, 413, 422]);

/** Give each of `rows` that has neither a result nor a failure one of them; `tell()` is called after each chunk.
 *
 * A server that is gone or busy is asked again a few times; what it is asked for is called off by `signal`. */
export async function runRows(rows, { strength, maxItems }, signal, tell) {
  const open = rows.filter((row) => !row.result && !row.failure);
  for (const chunk of split(open, Math.min(LARGEST_CHUNK, maxItems))) {
    await runChunk(chunk, strength, signal);
    tell();
  }
}

function* split(rows, most) {
  let chunk = [];
  let size = 0;
  for (const row of rows) {
    const length = JSON.stringify([row.question, row.context]).length;
    if (chunk.length && (chunk.length >= most || size + length > LARGEST_BODY)) {
      yield chunk;
      chunk = [];
      size = 0;
    }
    chunk.push(row);
    size += length;
  }
  if (chunk.length) yield chunk;
}

async function runChunk(rows, strength, signal) {
  const items = rows.map(({ question, context }) => ({ question, context, strength }));
  try {
    const results = await askPatiently(items, signal);
    results.forEach((result, place) => {
      if (result.error) rows[place].failure = result.error.message;
      else rows[place].result = result;
    });
  } catch (error) {
    if (!REFUSED.has(error.status)) throw error;
    if (rows.length === 1) {
      // Alone, it is this row's own; the message's "items.0." would be the wrong number.
      rows[0].failure = error.message.replace(/^items(\.0|\[0\])[.:]?\s*/, "");
      return;
    }
    const half = Math.ceil(rows.length / 2);
    await runChunk(rows.slice(0, half), strength, signal);
    await runChunk(rows.slice(half), strength, signal);
  }
}

async function askPatiently(items, signal) {
  for (let tries = 1; ; tries++) {
    try {
      return await editMany("simplify", items, signal);
    } catch (error) {
      const passes = error instanceof Failure && ["gone", "busy", "away"].includes(error.kind);
      if (!passes || tries === TRIES) throw error;
      await wait(error.wait ?? Math.min(LONGEST_WAIT_S, 2 ** (tries - 1)), signal);
    }
  }
}

/** Wait for `seconds`, or throw as soon as `signal` calls it off. */
function wait(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
