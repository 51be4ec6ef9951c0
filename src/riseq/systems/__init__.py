"""Anything that simplifies, behind one protocol."""
