"""The words everybody shares; standard library only (ARCHITECTURE.md)."""
