"""Scenarios recorded by ``ci/record_binlogs.py``: what is run, and the truth kept beside it."""
