"""Generation and storage of certificates."""
