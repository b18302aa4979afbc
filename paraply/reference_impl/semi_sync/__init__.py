"""Group commit with semi-synchronous acknowledgement, crash and fail-over.

Source: MDEV-162, MDEV-181; ``settings`` select shipped servers' behaviour.
"""
