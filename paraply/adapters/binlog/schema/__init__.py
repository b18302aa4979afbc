"""Table definitions over time: from DDL in the log, dumps and metadata."""
