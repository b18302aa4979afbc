"""Seeded transaction streams as a source logs them.

Logs omit reads.
"""
