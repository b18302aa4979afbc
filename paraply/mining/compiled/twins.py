"""The kernels of a system, where there are some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paraply.mining.compiled import applier
from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed import system as composed
from paraply.mining.compiled.room import Ints
from paraply.mining.systems import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A system's kernels.

    Attributes:
        settings: as kernels take them.
        judged: properties, by verdict bit.
        folder: where compiled kernels are stored.
    """

    settings: Ints
    judged: tuple[str, ...]
    run_fast: Callable[..., applier.FastRun | composed.FastRun]
    run_many: Callable[[Ints, int, int], tuple[Ints, Ints, int]]
    folder: Path


def twin_of(system: System) -> Twin | None:
    """Return a system's kernels; None for systems that only the reference runs."""
    for kernels, judged in ((applier, A.JUDGED), (composed, C.JUDGED)):
        settings = kernels.settings_of(system)
        if settings is not None:
            return Twin(
                settings=settings,
                judged=judged,
                run_fast=kernels.run_fast,
                run_many=kernels.run_many,
                folder=Path(str(kernels.__file__)).parent,
            )
    return None
