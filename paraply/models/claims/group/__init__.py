"""Claims about a group as its clients see it."""
