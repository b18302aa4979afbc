"""Theorems and refuted statements."""
