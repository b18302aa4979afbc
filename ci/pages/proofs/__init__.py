"""Builders of the pages in `proofs/`."""
