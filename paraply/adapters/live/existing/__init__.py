"""Servers that are already running."""
