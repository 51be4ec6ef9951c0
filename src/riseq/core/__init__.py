"""Edits, Levenshtein distance, phrases, reward and the samplers: pure functions on sequences.

Every sequence here starts with a marker (position 0, the [SEP] before a question), so that position ``i`` is the
paper's ``y_i`` and row ``i`` of a policy or of ``M`` is position ``i``.
"""
