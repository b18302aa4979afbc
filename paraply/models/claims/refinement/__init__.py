"""Claims that one model simulates another."""
