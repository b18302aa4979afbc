"""The specified systems."""
