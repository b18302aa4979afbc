"""Faults of released servers with equivalent mutants."""
