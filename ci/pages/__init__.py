"""Builders of the documentation pages; not installed."""
