"""One history for a reader: states, dependencies, alternatives."""
