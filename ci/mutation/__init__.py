"""Mutation score: generated mutants of the reference."""
