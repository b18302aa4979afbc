"""Mutants that no person chose, of the reference and of the judges."""
