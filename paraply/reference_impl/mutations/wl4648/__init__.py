"""Faults of the schemes of WL#4648."""
