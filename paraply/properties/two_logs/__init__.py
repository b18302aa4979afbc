"""Judges an applier by the logs of source and target alone."""
