"""Loads and recorded truth for ``ci/record_binlogs.py``."""
