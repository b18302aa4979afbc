"""Claims about batches, rotation, sets and crash points."""
