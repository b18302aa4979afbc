"""The kernels of a system, where there are some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paraply.mining.compiled import applier
from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed import system as composed
from paraply.mining.compiled.composed.room import AnyRoom
from paraply.mining.compiled.composed.room import new_room as new_composed_room
from paraply.mining.compiled.room import Ints
from paraply.mining.compiled.room import new_room as new_applier_room
from paraply.mining.systems import System

FOLDER = Path(__file__).parent
COMPOSED_FOLDER = FOLDER / "composed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A system's kernels.

    Attributes:
        settings: as kernels take them.
        judged: properties, by verdict bit.
        new_room: makes arrays for runs.
        folder: where compiled kernels are stored.
    """

    settings: Ints
    judged: tuple[str, ...]
    run_fast: Callable[..., applier.FastRun | composed.FastRun]
    run_many: Callable[[Ints, int, int], tuple[Ints, Ints, int]]
    new_room: Callable[[], AnyRoom]
    folder: Path


def twin_of(system: System) -> Twin | None:
    """Return a system's kernels; None for systems that only the reference runs."""
    for kernels, judged, new_room, folder in (
        (applier, A.JUDGED, new_applier_room, FOLDER),
        (composed, C.JUDGED, new_composed_room, COMPOSED_FOLDER),
    ):
        settings = kernels.settings_of(system)
        if settings is not None:
            return Twin(
                settings=settings,
                judged=judged,
                run_fast=kernels.run_fast,
                run_many=kernels.run_many,
                new_room=new_room,
                folder=folder,
            )
    return None
