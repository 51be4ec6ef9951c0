"""Tests of riseq.scale."""
