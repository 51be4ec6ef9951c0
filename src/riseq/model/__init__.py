"""The network, its input and its files (needs torch, except where said)."""
