"""Judges, and searches for runs and invariants."""
