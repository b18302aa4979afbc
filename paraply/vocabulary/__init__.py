"""Vocabulary of all rooms; standard library only (ARCHITECTURE.md)."""
