"""Mutants of the composed system: faults between its pieces, which no piece shows alone."""
