"""What must be true of a history, as pure functions (ARCHITECTURE.md)."""
