"""Change streams of PostgreSQL: logical decoding, captured to a file."""
