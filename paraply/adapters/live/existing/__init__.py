"""Live runs on existing servers."""
