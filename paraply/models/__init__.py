"""Transition systems, their theorems, and one door to the solvers (ARCHITECTURE.md)."""
