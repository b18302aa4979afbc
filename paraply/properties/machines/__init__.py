"""Hypothesis state machines over abstract systems; tests bind them to the ones at hand."""
