"""The specification language: terms, systems, steps, and their readings."""
