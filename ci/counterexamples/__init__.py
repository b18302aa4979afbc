"""Counterexamples of the models as deterministic scripts on real servers."""
