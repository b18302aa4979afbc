"""Scenarios of ``ci/record_binlogs.py``: the load, and the recorded truth."""
