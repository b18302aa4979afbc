"""Certification of WL#8440: who wins, which GTID, and which logical timestamp."""
