// The words of a question, as a person would point at them.

// Letters and digits, with the apostrophes, hyphens and points inside them: "Mercury's", "e-bike", "4.4".
const WORD = /[\p{L}\p{N}\p{M}]+(?:['’.-][\p{L}\p{N}\p{M}]+)*/gu;

/** Return the words of `text` in order. */
export function splitWords(text) {
  return text.match(WORD) ?? [];
}

/** Return what the model compares words by: without case and accents. */
export function wordKey(word) {
  return word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Return the words of `protect` that stand in `question`; one taken out of the question comes back with it. */
export function protectedIn(question, protect) {
  const present = new Set(splitWords(question).map(wordKey));
  return protect.filter((word) => present.has(wordKey(word)));
}

/** Return `text` in pieces {piece, added}; added are the words that the longest common run of words does not share. */
export function splitAdded(question, text) {
  const words = [...text.matchAll(WORD)];
  const shared = findShared(
    splitWords(question).map(wordKey),
    words.map((match) => wordKey(match[0])),
  );
  const pieces = [];
  let place = 0;
  words.forEach((match, number) => {
    if (shared.has(number)) return;
    pieces.push({ piece: text.slice(place, match.index), added: false }, { piece: match[0], added: true });
    place = match.index + match[0].length;
  });
  return [...pieces, { piece: text.slice(place), added: false }].filter(({ piece }) => piece);
}

/** Return the places in `two` of a longest common subsequence of `one` and `two`. */
function findShared(one, two) {
  const width = two.length + 1;
  const lengths = new Uint16Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = two.length - 1; j >= 0; j--) {
      const same = one[i] === two[j];
      lengths[i * width + j] = same
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const shared = new Set();
  for (let i = 0, j = 0; i < one.length && j < two.length;) {
    if (one[i] === two[j]) {
      shared.add(j);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return shared;
}
