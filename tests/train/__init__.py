"""Tests of riseq.train."""
