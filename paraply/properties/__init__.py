"""Properties of histories, as pure functions (ARCHITECTURE.md)."""
