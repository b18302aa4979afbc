"""Conformance reports."""
