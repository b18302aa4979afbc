"""Test third-party appliers: the harness plays the source and the database."""
