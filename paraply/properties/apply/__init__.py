"""Properties of appliers: order, conflicts, retries, exactly once."""
