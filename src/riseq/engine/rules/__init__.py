"""The linguistic rules: what a pass's edits must look like for the text to stay good English."""
