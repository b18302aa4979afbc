"""Faults of semi-synchronous replication."""
