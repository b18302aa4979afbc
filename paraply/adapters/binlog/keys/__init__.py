"""Conflict keys of row changes: collations, prefixes, NULLs and foreign keys."""
