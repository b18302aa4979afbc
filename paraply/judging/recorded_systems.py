"""Recorded appliers as campaign systems: run n is history n."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from paraply.adapters.remote_files import names_in, open_range
from paraply.counterexamples.foreign_systems import ForeignSystem, SmallOfSystem
from paraply.errors import USAGE
from paraply.judging.checking import properties_of_history
from paraply.judging.history_files import FileKind, kind_of, own_histories
from paraply.mining.systems import (
    NAMES_SHAPE,
    MakeHistory,
    System,
    is_situation,
    register_kind,
)
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample
from paraply.reference_impl.subject import Workload
from paraply.registries import registered_properties
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.shapes import require_shape

RECORDING_CHANGED = register(
    "P324",
    "these histories are others than when the campaign began",
    "put the file back as it was, or begin a campaign of what it holds now in another folder",
)

KIND = "recorded"
SEED_MAX = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class RecordedSystem(ForeignSystem):
    """Histories of a file, or of a folder of Parquet files.

    Workers read ``file`` themselves. ``digest`` ensures resumption with the same bytes.
    """

    file: str = ""
    count: int = 0
    digest: str = ""

    @property
    def histories_max(self) -> int:
        """Return the number of histories."""
        return self.count

    def options_at(self, run: int) -> Mapping[str, OptionValue]:
        """Return the file."""
        return {"file": self.file}

    @property
    def goals(self) -> frozenset[str]:
        """Return no known breaches."""
        return frozenset()

    @property
    def situations(self) -> frozenset[str]:
        """Return the breakable situations of all judges."""
        return frozenset(prop.name for prop in self.properties if not is_situation(prop))

    @property
    def properties(self) -> tuple[Property, ...]:
        """Return the judges, each for the histories that it applies to."""
        judges = {prop.name: prop for prop in registered_properties()}
        return tuple(judges[name] for name in self.judges)

    def situations_given(self, met: Set[str]) -> frozenset[str]:
        """Return situations of areas with evidence."""
        areas = {prop.area for prop in self.properties if prop.name in met}
        return frozenset(
            prop.name
            for prop in self.properties
            if prop.name in self.situations and (prop.area in areas or not areas)
        )

    @contextmanager
    def opened(self) -> Iterator[MakeHistory]:
        """Yield a lookup by number; one pass if rising.

        Raises ``ParaplyError`` P324 for a changed file.
        """
        if digest_of(self.file) != self.digest:
            raise ParaplyError(RECORDING_CHANGED, where=self.file)
        following, ahead = 0, own_histories(self.file, kind_of(self.file))

        def find(_: Schedule, run: int) -> History:
            nonlocal following, ahead
            if run < following:
                following, ahead = 0, own_histories(self.file, kind_of(self.file))
            history = next(islice(ahead, run - following, None))
            following = run + 1
            is_seed = abs(history.header.seed or 0) <= SEED_MAX
            return history if is_seed else _without_seed(history)

        yield find

    def minimised(self, prop: Property, found: Counterexample, run: int) -> SmallOfSystem:
        """Return the found history unchanged."""
        return SmallOfSystem(system=self, counterexample=found)

    def replay_command(self, prop: Property, choices: tuple[int, ...], run: int, file: str) -> str:
        """Return the command that judges it again."""
        return shlex.join(["paraply", "check", file, "--property", prop.name])

    def whose_fault(self) -> str:
        """Blame the recorded applier."""
        return "The applier's that was recorded, unless the property asks too much of it."

    def as_json(self) -> dict[str, Any]:
        """Return values for :func:`recorded_from_json`."""
        return {
            "kind": KIND,
            "subject": self.subject,
            "mutant": "",
            "dialect": "",
            "judges": list(self.judges),
            "file": self.file,
            "count": self.count,
            "digest": self.digest,
        }


def recorded_from_json(value: Mapping[str, Any]) -> System:
    """Return the system of :meth:`RecordedSystem.as_json`; ``ValueError`` for another shape."""
    require_shape(value, {**NAMES_SHAPE, "file": str, "count": int, "digest": str}, "a system")
    return RecordedSystem(
        subject=value["subject"],
        workload=Workload(),
        judges=tuple(value["judges"]),
        file=value["file"],
        count=value["count"],
        digest=value["digest"],
    )


register_kind(KIND, recorded_from_json)


def recorded_system(file: str) -> RecordedSystem:
    """Return the system after one pass to count.

    All properties for any history judge them. Raises ``ParaplyError`` P360 or P5xx if unreadable,
    P301 for client histories.
    """
    kind = kind_of(file)
    if kind not in (FileKind.OURS, FileKind.PARQUET):
        reason = f"{file} holds a history of clients, which paraply check judges"
        raise ParaplyError(USAGE, reason=reason, command="paraply mine")
    digest = digest_of(file)
    count, speaking = 0, set()
    for history in own_histories(file, kind):
        count += 1
        speaking |= {prop.name for prop in properties_of_history(history)}
    return RecordedSystem(
        subject=f"{KIND}:{file}",
        workload=Workload(),
        judges=tuple(prop.name for prop in registered_properties() if prop.name in speaking),
        file=file,
        count=count,
        digest=digest,
    )


def digest_of(file: str) -> str:
    """Return a digest of a file, or a folder's Parquet files."""
    digest = hashlib.sha256()
    folder = os.path.dirname(file) or "." if file.endswith(".parquet") else file
    parts = sorted(name for name in names_in(folder) if name.endswith(".parquet"))
    for name in parts or [file]:
        digest.update(os.path.basename(name).encode())
        with open_range(name) as stream:
            whole = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]
            digest.update(whole.digest())
    return digest.hexdigest()[:16]


def _without_seed(history: History) -> History:
    return replace(history, header=replace(history.header, seed=None))
