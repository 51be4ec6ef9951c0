"""BLEU, ROUGE-L, CIDEr, exact match, edit statistics and significance: pure functions on strings."""
