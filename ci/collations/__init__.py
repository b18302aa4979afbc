"""Measures equality of strings in server collations."""
