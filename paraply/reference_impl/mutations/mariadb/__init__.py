"""Faults of MariaDB's parallel replication."""
