"""Counterexamples that were found by mining, kept for ever (``paraply mine --promote``)."""
