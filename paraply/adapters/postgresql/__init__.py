"""PostgreSQL logical decoding, captured to a file."""
