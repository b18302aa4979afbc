"""The audit of one log: read, follow the schema, key the rows, judge, report."""
