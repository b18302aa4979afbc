"""Properties of semi-synchronous group commit."""
