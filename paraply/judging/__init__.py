"""Judge recorded histories."""
