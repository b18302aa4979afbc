"""The compiled engine's refusal."""

from __future__ import annotations


class NotCompilable(Exception):  # noqa: N818 - it asks for the readable engine
    """Log content, or a change while reading, that requires the readable engine."""
