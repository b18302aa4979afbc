"""Generated streams of transactions, as the log of a source has them: equal seeds, equal streams.

What a transaction only reads leaves no trace in a log, so a mix of reads and writes comes down to
its writes.
"""
