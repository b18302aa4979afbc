"""The audit of one log: read, key, judge, report."""
