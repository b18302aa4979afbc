"""Explicit-state search over a small scope."""
