"""Predicted speed-ups held against real replicas: ``python -m tests.timing``, ``make timing``."""
