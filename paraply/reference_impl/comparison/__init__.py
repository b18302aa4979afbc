"""One log through every applier, on one simulated clock with one cost table.

A row event, a commit with its sync, and a DDL with its commit cost one tick each. Group commits
ready at a tick's beginning share it.
"""
