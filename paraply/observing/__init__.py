"""Judge live runs."""
