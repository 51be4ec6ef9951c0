"""Readers and writers: one corpus or file format each, all giving Examples."""
