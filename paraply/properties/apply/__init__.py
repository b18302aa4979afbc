"""Properties of appliers."""
