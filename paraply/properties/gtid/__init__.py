"""Properties of GTIDs, positions and fail-over."""
