"""Hypothesis state machines over abstract systems."""
