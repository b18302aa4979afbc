"""Properties of what readers see."""
