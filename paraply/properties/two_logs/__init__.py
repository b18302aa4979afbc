"""Judges appliers by source and target logs alone."""
