// Which words stay because nobody has said them before: what only the question says cannot be left out.
import { splitWords, wordKey } from "./words.js";

// Words that a sentence is built with rather than about; they are in every dialogue and prove nothing.
const BUILDING = new Set(
  `a about after all also am an and any are as at be because been before being between both but by can could did do
  does doing done down during each ever few for from get go got had has have having he her here hers him his how i if in
  into is it its just let like may me might mine more most much must my no nor not now of off on once one only or other
  our ours out over own same shall she should since so some such than that the their theirs them then there these they
  this those through to too under until up upon us very was we were what when where whether which while who whom whose
  why will with within without would yes yet you your yours`.split(/\s+/),
);
const ENDINGS = ["ings", "ing", "edly", "ed", "es", "s", "ly", "e"];
const SHORTEST_STEM = 3;

/** Return the part of `word` that its forms share: direct for directed, directs and directing. */
export function stem(word) {
  const plain = wordKey(word).replace(/['’]s?$/u, "");
  const single = plain.endsWith("ies") && plain.length > 4 ? `${plain.slice(0, -3)}y` : plain;
  const ending = ENDINGS.find((one) => single.endsWith(one) && single.length - one.length >= SHORTEST_STEM);
  const cut = ending ? single.slice(0, -ending.length) : single;
  // stopped, stopping: the doubled letter belongs to the ending.
  return /([^aeiouls])\1$/u.test(cut) ? cut.slice(0, -1) : cut;
}

/** Return the words of `question` that stand in `text` and that no one of the `utterances` has in any form. */
export function findKept(question, text, utterances) {
  const said = new Set(utterances.flatMap(splitWords).map(stem));
  const left = new Set(splitWords(text).map(stem));
  const words = splitWords(question).filter((word) => !BUILDING.has(wordKey(word)));
  const kept = words.filter((word) => left.has(stem(word)) && !said.has(stem(word)));
  return [...new Map(kept.map((word) => [stem(word), word])).values()];
}
