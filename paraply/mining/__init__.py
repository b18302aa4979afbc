"""Campaigns and audits on PySpark."""
