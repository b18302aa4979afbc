"""Campaigns and audits at scale on PySpark (ARCHITECTURE.md)."""
