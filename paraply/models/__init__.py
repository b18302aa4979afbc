"""Transition systems, theorems and solvers (ARCHITECTURE.md)."""
