"""The numbers the paper prints (Liu et al., ACL 2021), with the slips they are printed with."""

from __future__ import annotations

from riseq.reproduce.plan import DEV, TEST, UNSEEN

METRICS = ("bleu1", "bleu2", "bleu3", "bleu4", "rougeL", "cider")
Numbers = tuple[float, float, float, float, float, float]

OVERALL: dict[str, dict[str, Numbers]] = {
    "Origin": {TEST: (54.7, 47.0, 40.6, 35.3, 70.9, 3.460), UNSEEN: (75.9, 69.2, 62.9, 57.6, 85.0, 5.946)},
    "Rule": {TEST: (55.0, 47.0, 40.2, 34.8, 70.5, 3.420), UNSEEN: (78.0, 71.4, 65.3, 60.0, 86.1, 6.220)},
    "Trans++": {TEST: (84.3, 77.5, 72.1, 67.5, 84.6, 6.348), UNSEEN: (76.0, 64.3, 54.8, 47.2, 76.5, 4.258)},
    "QGDiv": {TEST: (85.2, 78.6, 73.3, 68.9, 85.2, 6.469), UNSEEN: (75.9, 65.3, 56.7, 59.6, 78.0, 4.694)},
    "QuerySim": {TEST: (83.1, 78.5, 74.5, 71.0, 82.7, 6.585), UNSEEN: (80.6, 75.3, 70.2, 65.5, 83.3, 6.345)},
    "RISE": {TEST: (86.3, 80.5, 75.6, 71.6, 86.2, 6.759), UNSEEN: (85.1, 78.4, 72.2, 66.8, 87.8, 6.543)},
}
"""Its Table 1. QGDiv's BLEU-4 on CAsT is above its BLEU-3, which BLEU cannot be: a slip of the paper's."""

ABLATION: dict[str, dict[str, Numbers]] = {
    "-DPS": {TEST: (67.5, 56.4, 47.3, 39.9, 73.9, 3.743), UNSEEN: (80.9, 70.0, 60.6, 53.3, 81.2, 4.713)},
    "-MLD": {TEST: (85.2, 78.6, 73.3, 68.9, 85.2, 6.469), UNSEEN: (75.9, 65.3, 56.7, 59.6, 78.0, 4.694)},
    "RISE": OVERALL["RISE"],
}
"""Its Table 2. The row -MLD is the row QGDiv of Table 1, digit for digit."""

VALIDATION: dict[str, dict[str, Numbers]] = {
    "Trans++": {DEV: (86.5, 80.3, 75.4, 71.3, 86.2, 6.704)},
    "QGDiv": {DEV: (87.0, 80.9, 75.9, 61.8, 86.8, 6.786)},
    "QuerySim": {DEV: (83.9, 79.7, 75.9, 72.5, 83.2, 6.737)},
    "-DPS": {DEV: (67.2, 55.9, 46.8, 39.4, 74.3, 3.745)},
    "-MLD": {DEV: (87.0, 80.9, 75.9, 61.8, 86.8, 6.786)},
    "RISE": {DEV: (88.0, 82.6, 78.3, 74.6, 87.5, 7.050)},
}
"""Its validation table; -MLD is again QGDiv."""

NON_KEEP = {"RISE": 10.0, "-DPS": 22.0}
"""The share of sampled edits that are not Keep, in percent on CANARD."""

HOURS = {"RISE": 15.0, "QuerySim": 5.0, "Trans++": 9.5, "QGDiv": 9.0, "-MLD": 9.0, "-DPS": 15.0}
"""Its average running times; it does not say on what machine."""
PARAMETERS = dict.fromkeys(("RISE", "Trans++", "QGDiv", "-MLD", "-DPS"), 221e6) | {"QuerySim": 125e6}
PASSES_BLEU4 = (70.5, 71.5, 71.6, 71.6, 71.6)
"""BLEU-4 on CANARD after at most 1 to 5 passes."""
WORSE = 5.0
"""The share of samples, in percent, that get a worse BLEU-4 with more passes ("about")."""

CASES = {
    # What did Abu Bakr do during the expedition of Tabuk?
    "canard-test-d734-4": ("What did he bakr do during expedition?", "What did he do during expedition?"),
    # Did Montgomery Clift win any awards for any of his films?
    "canard-test-d495-5": ("Did he win any awards for and?", "Did he win any awards?"),
}
"""What its RISE made of the two examples of its case study, by their ids; the set has the rest."""
