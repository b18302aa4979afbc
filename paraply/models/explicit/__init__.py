"""Explicit-state search: every reachable state of a specification over a small scope, counted."""
