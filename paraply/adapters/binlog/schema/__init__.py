"""Table definitions over time."""
