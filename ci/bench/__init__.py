"""Benchmarks: ``python -m ci.bench NAME``."""
