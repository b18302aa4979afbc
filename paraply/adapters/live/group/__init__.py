"""MySQL Group Replication."""
