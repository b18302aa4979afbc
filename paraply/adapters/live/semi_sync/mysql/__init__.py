"""A MySQL source that waits for acknowledgements."""
