"""Run a system on a set, and tell how it did."""
