"""Waiting for what a server will come to."""

from __future__ import annotations

import time


def wait_for(condition, complaint):
    """Return once the condition holds; fail with the complaint if it does not within a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.02)
