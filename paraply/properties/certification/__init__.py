"""Properties of certification, logical timestamps and garbage collection."""
