"""Measures what collations of live servers hold equal; used by ``ci/record_collations.py``."""
