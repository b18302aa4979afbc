"""Semi-synchronous replication."""
