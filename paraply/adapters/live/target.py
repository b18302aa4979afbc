"""A live target and its rounds.

A target is a module with a ``TARGET`` and ``run(request)``; ``targets`` lists it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.group_trace import GroupTrace
from paraply.vocabulary.history import History

UNKNOWN_CHOICE = register(
    "P620",
    "{target} has no {what} '{given}' (it has {known})",
    "`paraply live --list` shows every target with its modes, workloads and faults",
)
ROUND_FAILED = register(
    "P621",
    "the round could not be carried out: {reason}",
    "repeat it; --keep leaves the logs of the servers started in a folder that it names, those of"
    " servers named with --dsn are where they always are",
)
SERVERS_UNFIT = register(
    "P623",
    "the servers named cannot be used: {reason}",
    "docs/live.md lists the requirements for existing servers; the servers were not changed",
)

MODE_GONE = register(
    "P622",
    "{server} has no mode {mode}: {reason}",
    "leave the mode out, or name the tree of another server with --basedir",
)

WORKLOAD_REFUSED = register(
    "P624",
    "{target} does not run workload {workload} in mode {mode}: {reason}",
    "run it in another mode; `paraply live --list` shows modes and workloads",
)

OPTIONS = ("workers", "replicas", "domains", "clients", "duration_s")
"""Numbers that only some targets use."""

HEALTHY = "none"
"""The round without faults."""

Say = Callable[[str], None]
"""Receives progress lines."""


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRequest:
    """Rounds of one mode and fault."""

    mode: str
    fault: str = HEALTHY
    workload: str = "mixed"
    workers: int = 8
    """Applier threads per member."""
    replicas: int = 1
    domains: int = 1
    """Replication domains or databases."""
    clients: int = 6
    rounds: int = 1
    transactions: int = 2_000
    """Confirmed transactions that end a round."""
    duration_s: float = 20.0
    """Seconds that end a round."""
    seed: int = 0
    """Of the first round; later ones add one."""
    nemeses: tuple[str, ...] = ()
    """Names for client loads, or ``random``; the seed draws the plan."""
    servers: tuple[str, ...] = ()
    """Data source names, the source first."""
    basedir: Path | None = None
    """None searches the default places."""
    keep: bool = False
    drop_leftovers: bool = False
    """Schemas that killed runs left on existing servers."""
    say: Say = _silent


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRound:
    """One round's history and circumstances."""

    number: int
    seed: int
    history: History
    evidence: Mapping[str, int | str] = field(default_factory=dict)
    """Counts of observations."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Possibly unknown properties, with reasons."""
    trace: GroupTrace | None = None
    notes: tuple[str, ...] = ()
    """Observations outside all properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTarget:
    """A kind of installation for live runs."""

    name: str
    summary: str
    module: str
    """Has ``run(request)``; imported on use."""
    modes: tuple[str, ...]
    """The first is the default."""
    workloads: tuple[str, ...] = ("mixed",)
    faults: Mapping[str, str] = field(default_factory=dict)
    """Descriptions by name."""
    properties: tuple[str, ...] = ()
    documented: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Documented breaches by ``mode/fault``: positive controls."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Reasons by ``mode/workload``."""

    rare: tuple[str, ...] = ()
    """Faults whose documented breach depends on luck."""
    takes: tuple[str, ...] = OPTIONS

    def check(self, request: LiveRequest) -> None:
        """Raise ``ParaplyError`` P620 for an unsupported request.

        P624 for a workload that only this mode rejects.
        """
        usual = LiveRequest(mode=request.mode)
        for option in OPTIONS:
            if option not in self.takes and getattr(request, option) != getattr(usual, option):
                raise ParaplyError(
                    UNKNOWN_CHOICE,
                    target=self.name,
                    what="option",
                    given=_spelled(option),
                    known=", ".join(map(_spelled, self.takes)),
                )
        for what, given, known in (
            ("mode", request.mode, self.modes),
            ("workload", request.workload, self.workloads),
            ("fault", request.fault, (HEALTHY, *self.faults)),
        ):
            if given not in known:
                raise ParaplyError(
                    UNKNOWN_CHOICE,
                    target=self.name,
                    what=what,
                    given=given,
                    known=", ".join(known),
                )
        reason = self.refused.get(f"{request.mode}/{request.workload}")
        if reason is not None:
            raise ParaplyError(
                WORKLOAD_REFUSED,
                target=self.name,
                workload=request.workload,
                mode=request.mode,
                reason=reason,
            )

    def run(self, request: LiveRequest) -> Iterator[LiveRound]:
        """Yield rounds; closing the iterator ends all servers.

        Raises ``ParaplyError`` P601 without a server, P620 or P624 for an invalid choice, P621 for
        a failed round, P623 for unsuitable existing servers.
        """
        self.check(request)
        return cast(_TargetModule, importlib.import_module(self.module)).run(request)


def _spelled(option: str) -> str:
    return f"--{option.removesuffix('_s')}"


class _TargetModule(Protocol):
    def run(self, request: LiveRequest) -> Iterator[LiveRound]: ...


def target_named(name: str, targets: Sequence[LiveTarget]) -> LiveTarget:
    """Return a target; ``ParaplyError`` P620 if unknown."""
    for target in targets:
        if target.name == name:
            return target
    known = ", ".join(target.name for target in targets)
    raise ParaplyError(UNKNOWN_CHOICE, target="live", what="target", given=name, known=known)
