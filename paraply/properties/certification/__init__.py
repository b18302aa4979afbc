"""Properties of certification, timestamps and garbage collection."""
