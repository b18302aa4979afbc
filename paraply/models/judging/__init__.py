"""Who judges the obligations, and the searches for runs and invariants."""
