// Reads a pasted dialogue in the forms people have one in: lines with names, plain lines, or JSON.

const USER = new Set(["user", "human", "person", "customer", "you", "me", "q", "question", "client", "caller"]);
const ASSISTANT = new Set(["assistant", "bot", "ai", "agent", "model", "a", "answer", "chatgpt", "claude"]);
const SILENT = new Set(["system", "developer", "tool", "function"]);

const LABELLED =
  /^\s*(?:[-*•>]\s+)?(?:\[[^\]]{1,24}\]\s*)?\**([\p{L}\p{N}][\p{L}\p{N} ._'’-]{0,30}?)\**\s*[:：]\**\s+(\S.*)$/u;
const CAPITALISED = /^(?:[\p{Lu}\p{N}][^\s]*)(?:\s+[\p{Lu}\p{N}][^\s]*){0,2}$/u;
const ENDED = /[.?!…:;"”’')\]]$/u;

/** Return {turns, question, named}: the turns of `text`, each {speaker, text}, the question where the text names one,
 * and whether it names its speakers. */
export function readDialogue(text) {
  return readJson(text) ?? readLines(text);
}

/** Return {said, asked} of a dialogue that was read: its turns, and its question or null.
 *
 * The last turn is the question where `lastAsks`, but never an assistant's; where nobody is named, one that asks. */
export function splitQuestion({ turns, question, named }, lastAsks) {
  const last = turns.at(-1);
  if (question !== null || !lastAsks || !last) return { said: turns, asked: question };
  const asks = last.speaker === "user" || (!named && /[?？]\s*$/u.test(last.text));
  return asks ? { said: turns.slice(0, -1), asked: last.text } : { said: turns, asked: null };
}

function readLines(text) {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim());
  const labels = lines.map(readLabel);
  const unknown = labels.filter((label) => label && !isKnown(label.name));
  // "Note: ..." in one line is no speaker; a name that comes back, or a second one, is.
  const trusted = (label) => label && (isKnown(label.name) || unknown.length > 1);
  const named = labels.some(trusted);
  return { turns: named ? readLabelled(lines, labels, trusted) : readPlain(lines), question: null, named };
}

function readLabel(line) {
  const match = LABELLED.exec(line);
  if (!match) return null;
  const name = match[1].trim();
  return isKnown(name) || CAPITALISED.test(name) ? { name, text: match[2].trim() } : null;
}

function isKnown(name) {
  const plain = name.toLowerCase();
  return USER.has(plain) || ASSISTANT.has(plain) || SILENT.has(plain);
}

function readLabelled(lines, labels, trusted) {
  const sides = makeSides();
  const turns = [];
  let silent = false;
  lines.forEach((line, place) => {
    if (!line) return;
    const label = labels[place];
    if (trusted(label)) {
      const speaker = sides(label.name);
      silent = speaker === null;
      if (!silent) turns.push({ speaker, text: label.text });
    } else if (turns.length && !silent) {
      turns.at(-1).text += ` ${line}`;
    } else if (!silent) {
      turns.push({ speaker: "user", text: line });
    }
  });
  return turns;
}

/** Return a function from a name to its side: the first unknown name is the person, the others answer. */
function makeSides() {
  let first = null;
  return (name) => {
    const plain = name.trim().replace(/:$/, "").toLowerCase();
    if (SILENT.has(plain)) return null;
    if (USER.has(plain)) return "user";
    if (ASSISTANT.has(plain)) return "assistant";
    first ??= plain;
    return plain === first ? "user" : "assistant";
  };
}

function readPlain(lines) {
  const blocks = [[]];
  for (const line of lines) {
    if (line) blocks.at(-1).push(line);
    else if (blocks.at(-1).length) blocks.push([]);
  }
  // Where lines break inside a sentence, blank lines part the turns; else each line is one.
  const inBlocks = blocks.length > 1 && blocks.some((block) => block.slice(0, -1).some((line) => !ENDED.test(line)));
  const texts = inBlocks ? blocks.map((block) => block.join(" ")) : blocks.flat();
  return alternate(texts.filter(Boolean));
}

const alternate = (texts) => texts.map((text, place) => ({ speaker: place % 2 ? "assistant" : "user", text }));

function readJson(text) {
  if (!/^\s*[[{]/.test(text)) return null;
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const whole = Array.isArray(value) ? { context: value } : value;
  const context = whole.context ?? whole.messages;
  if (!Array.isArray(context)) return null;
  const question = typeof whole.question === "string" ? whole.question : null;
  if (context.every((item) => typeof item === "string")) return { turns: alternate(context), question, named: false };
  const sides = makeSides();
  return { turns: context.flatMap((item) => readItem(item, sides)), question, named: true };
}

function readItem(item, sides) {
  if (typeof item === "string") return [{ speaker: "user", text: item }];
  if (Array.isArray(item)) {
    const [first, second] = item;
    if (typeof first !== "string" || typeof second !== "string") return [];
    if (isKnown(first) || CAPITALISED.test(first)) return say(sides(first), second);
    return [...say("user", first), ...say("assistant", second)];
  }
  if (!item || typeof item !== "object") return [];
  if (typeof item.question === "string") return [...say("user", item.question), ...say("assistant", item.answer)];
  return say(sides(String(item.role ?? item.speaker ?? "user")), readContent(item.content ?? item.text));
}

function readContent(content) {
  if (!Array.isArray(content)) return content;
  return content
    .map((part) => part?.text)
    .filter((part) => typeof part === "string")
    .join(" ");
}

const say = (speaker, text) =>
  speaker && typeof text === "string" && text.trim() ? [{ speaker, text: text.trim() }] : [];
