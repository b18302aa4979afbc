"""Faults of MariaDB's positions and fail-over."""
