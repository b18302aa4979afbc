"""Test appliers: the harness plays source and database."""
