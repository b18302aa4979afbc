"""Properties of transaction tables of any size."""
