"""What a reader is shown of one history: states, dependencies, other choices, as one document."""
