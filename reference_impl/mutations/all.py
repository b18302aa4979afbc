"""Importing this module registers every mutant of the reference implementation."""

from __future__ import annotations

from reference_impl.mutations import (
    certification,
    garbage_collection,
    timestamps,
    trackers,
    view_changes,
)

__all__ = ["certification", "garbage_collection", "timestamps", "trackers", "view_changes"]
