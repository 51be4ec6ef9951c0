"""Tests of riseq.metrics."""
