"""Campaigns and audits on PySpark (ARCHITECTURE.md)."""
