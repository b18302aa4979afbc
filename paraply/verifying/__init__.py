"""Judges an applier by its logs."""
