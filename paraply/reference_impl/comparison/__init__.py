"""One log through every applier, on one simulated clock with one cost table.

A row event costs one tick; so does a commit, including the sync of its log. A DDL with its commit
costs one tick. Everything else is free. In group commit, all commits ready at a tick's beginning
share that tick.
"""
