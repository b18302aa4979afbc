"""Properties of groups."""
