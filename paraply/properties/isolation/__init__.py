"""Isolation as readers see it."""
