"""The version of the distribution, and where its faults are reported."""

VERSION = "0.1.0"

REPORT_TO = "the issue tracker of the project"
"""Becomes an address when the project has a public home."""
