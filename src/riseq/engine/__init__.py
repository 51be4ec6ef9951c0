"""The engine: backends, decisions, rules, and the Simplifier that edits in passes until nothing changes."""
