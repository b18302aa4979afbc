"""Captured PostgreSQL logical decoding."""
