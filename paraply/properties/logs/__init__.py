"""What must be true of a source's log: the judges of an audit, and how parallel a log is."""
