"""Properties of a source's log: the audit's judges and parallelism."""
