"""Faults of the appliers."""
