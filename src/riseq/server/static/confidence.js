// The confidence in words. It is the calibrated probability that a person would accept the text (docs/confidence.md).

const GRADES = [
  [0.9, "a person would very likely say this"],
  [0.7, "a person would likely say this"],
  [0.5, "a person may well say this"],
  [0.3, "a person would rather not say this"],
  [0, "a person would hardly say this"],
];

/** Return what a confidence from 0 to 1 means, in a few words. */
export function gradeConfidence(confidence) {
  return GRADES.find(([from]) => confidence >= from)?.[1] ?? GRADES.at(-1)[1];
}
