"""Benchmarks: ``python -m ci.bench NAME`` (see ``runner``)."""
