"""Properties of transaction tables of any size, a row per transaction."""
