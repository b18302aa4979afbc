"""Seeded transaction streams as a source logs them.

Logs omit reads, so a mixed workload has only its writes.
"""
