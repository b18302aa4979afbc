"""Find, shrink, replay and show counterexamples."""
