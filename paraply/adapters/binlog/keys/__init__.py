"""Conflict keys of row changes."""
