"""Hypothesis state machines over abstract systems, which tests bind."""
