"""Claims about this project's own algorithms."""
