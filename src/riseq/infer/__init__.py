"""Backends and the Simplifier that iterates edits to a fixed point."""
