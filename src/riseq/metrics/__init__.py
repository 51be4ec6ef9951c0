"""BLEU, ROUGE-L, CIDEr, exact match, passes, content words and calibration: pure functions on texts and numbers."""
