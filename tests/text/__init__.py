"""Tests of riseq.text."""
