"""One system in which certification, appliers, row locks and semi-sync meet.

Every member of a group has tables, clients, a parallel applier behind its certifier, and readers.
"""
