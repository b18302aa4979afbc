"""One log through every applier, on one simulated clock with one table of costs.

A tick is the time of one row event. Applying a row event costs a tick, and so does a commit, which
includes the sync of its log; a DDL costs one tick with its commit. Reading the relay log, the
coordinator, waiting for a row lock or for a turn, rolling back and the engine commit after a sync
cost nothing. Who commits in groups shares one tick with whoever is ready at its beginning.
"""
