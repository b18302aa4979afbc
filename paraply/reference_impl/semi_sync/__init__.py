"""Group commit with chained mutexes and semi-synchronous acknowledgement, with crash and fail-over.

Source: MDEV-162, MDEV-181; what servers shipped is in the settings (wait point, number of
acknowledgements, time-out, recovery).
"""
