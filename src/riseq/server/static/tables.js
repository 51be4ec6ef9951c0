// Files of questions, read and written in the browser: CSV, TSV and JSONL, as `riseq simplify` takes them.

const COLUMNS = ["context", "question"];
const RESULTS = ["text", "confidence", "truncated", "reason"];

/** Return {columns, rows, bad} of the file `name` with `text`. A row is {line, values, question, context}, a bad one
 * {line, reason}; a file that has no rows to use at all is an Error that says why. */
export function readTable(text, name) {
  const plain = text.replace(/^\ufeff/, "");
  const isTable = /\.(csv|tsv)$/i.test(name);
  const table = isTable ? readDelimited(plain, /\.tsv$/i.test(name) ? "\t" : ",") : readJsonLines(plain);
  const rows = [];
  const bad = [...table.bad];
  for (const { line, values } of table.records) {
    try {
      rows.push({ line, values, ...readAsked(values) });
    } catch (error) {
      bad.push({ line, reason: error.message });
    }
  }
  bad.sort((one, two) => one.line - two.line);
  if (!rows.length && !bad.length) throw new Error("The file has no rows.");
  return { columns: table.columns, rows, bad };
}

function readDelimited(text, delimiter) {
  const [header, ...records] = splitRecords(text, delimiter);
  const columns = (header?.cells ?? []).map((cell) => cell.trim());
  for (const column of COLUMNS) {
    if (!columns.includes(column))
      throw new Error(`No column “${column}”; the columns are ${columns.filter(Boolean).join(", ") || "none"}.`);
  }
  const twice = columns.find((column, place) => columns.indexOf(column) !== place);
  if (twice !== undefined) throw new Error(`The column “${twice}” is there twice.`);
  const bad = [];
  const good = [];
  for (const { line, cells, fault } of records) {
    if (fault) bad.push({ line, reason: fault });
    else if (cells.length !== columns.length)
      bad.push({ line, reason: `got ${cells.length} cells, expected ${columns.length}` });
    else good.push({ line, values: Object.fromEntries(columns.map((column, place) => [column, cells[place]])) });
  }
  return { columns, records: good, bad };
}

/** Return the records of `text`, each {line, cells, fault}; a quoted cell may hold line ends, and "" for a quote. */
function splitRecords(text, delimiter) {
  const cell = new RegExp(`"((?:[^"]|"")*)"|([^"${delimiter}\\r\\n][^${delimiter}\\r\\n]*|)`, "y");
  const end = /\r\n|\r|\n/y;
  const records = [];
  let place = 0;
  let line = 1;
  while (place < text.length) {
    const record = { line, cells: [], fault: null };
    for (;;) {
      cell.lastIndex = place;
      const match = cell.exec(text);
      record.cells.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
      line += countLines(match[0]);
      place += match[0].length;
      if (text[place] !== delimiter) break;
      place += 1;
    }
    end.lastIndex = place;
    const ended = end.exec(text);
    if (!ended && place < text.length) {
      // A quote that is not closed, or text behind one: the rest of this line cannot be told apart.
      record.fault = "broken quotes";
      place += text.slice(place).search(/\r|\n|$/);
      end.lastIndex = place;
    }
    place += (ended ?? end.exec(text))?.[0].length ?? 0;
    line += 1;
    if (record.fault || record.cells.length > 1 || record.cells[0] !== "") records.push(record);
  }
  return records;
}

const countLines = (text) => text.match(/\r\n|\r|\n/g)?.length ?? 0;

function readJsonLines(text) {
  const columns = new Set();
  const records = [];
  const bad = [];
  text.split(/\r\n|\n/).forEach((written, place) => {
    if (!written.trim()) return;
    const line = place + 1;
    const values = parse(written);
    if (!values || typeof values !== "object" || Array.isArray(values)) {
      bad.push({ line, reason: values === undefined ? "not JSON" : "not a JSON object" });
      return;
    }
    for (const column of Object.keys(values)) columns.add(column);
    records.push({ line, values });
  });
  return { columns: [...columns], records, bad };
}

/** Return {question, context} of a row, or throw an Error that says what is wrong with it. */
function readAsked({ question, context }) {
  if (question === undefined) throw new Error("question: missing, expected a string");
  if (typeof question !== "string") throw new Error(`question: got ${nameKind(question)}, expected a string`);
  if (!question.trim()) throw new Error("question: empty, expected some text");
  // A row without a context, or with null for it, has no dialogue before its question.
  const utterances = typeof context === "string" ? parseCell(context) : (context ?? []);
  if (!Array.isArray(utterances)) throw new Error("context: expected a list of utterances");
  const isUtterance = (one) => typeof one === "string" || (one !== null && typeof one === "object");
  const wrong = utterances.findIndex((one) => !isUtterance(one));
  if (wrong >= 0) throw new Error(`context[${wrong}]: expected an utterance or a chat message`);
  return { question, context: utterances };
}

function nameKind(value) {
  if (value === null || typeof value === "boolean") return String(value);
  return typeof value === "number" ? `the number ${value}` : Array.isArray(value) ? "a list" : "an object";
}

/** Return the utterances in a cell of text: a JSON list, or plain text, which is one. */
function parseCell(cell) {
  const text = cell.trim();
  if (!text) return [];
  const parsed = text.startsWith("[") ? parse(text) : undefined;
  if (Array.isArray(parsed)) return parsed;
  // "[laughs] and then?" is something a person says; '["and then?' is a list that was cut.
  if (/^\[\s*"/.test(text)) throw new Error("context: broken JSON, expected a JSON list");
  return [cell];
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Return the rows that have a result as JSONL: their own columns, then the result's. */
export function writeJsonl(rows) {
  return finished(rows)
    .map((row) => {
      const { text, confidence, truncated, reason, steps } = row.result;
      const own = { ...carry(row.values), context: row.context };
      return `${JSON.stringify({ ...own, text, confidence, truncated, reason, steps })}\n`;
    })
    .join("");
}

/** Return the rows that have a result as CSV: `columns`, which are the file's own, then the result's. */
export function writeCsv(rows, columns) {
  const names = Object.keys(carry(Object.fromEntries(columns.map((column) => [column, ""]))));
  const lines = finished(rows).map(({ values, result }) => {
    const carried = carry(values);
    return [...names.map((name) => carried[name]), ...RESULTS.map((name) => result[name])].map(writeCell).join(",");
  });
  return [[...names, ...RESULTS].map(writeCell).join(","), ...lines, ""].join("\n");
}

const finished = (rows) => rows.filter((row) => row.result);

/** Return the file's own columns; one that is called as a result's gets another name. */
function carry(values) {
  const taken = new Set([...RESULTS, "steps"]);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [taken.has(name) ? `input_${name}` : name, value]),
  );
}

function writeCell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
