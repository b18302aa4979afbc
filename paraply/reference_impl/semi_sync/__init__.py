"""Group commit with semi-sync, crash and fail-over.

Source: MDEV-162, MDEV-181; ``settings`` select shipped behaviour.
"""
