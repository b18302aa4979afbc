"""Faults of released servers, and the mutants that do the same."""
