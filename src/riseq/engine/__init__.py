"""The engine: backends, decisions, rules, and what edits in passes: Simplifier, and Resolver for the way back."""
