"""What a live target is: its modes, its faults, the properties it answers to, and one round of it.

A target is a module with a ``TARGET`` and a function ``run(request)`` that yields rounds; it is
listed in :mod:`paraply.adapters.live.targets`.
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
"""Numbers of a request that not every target has a use for."""

HEALTHY = "none"
"""The fault of a round in which nothing is done to the servers."""

Say = Callable[[str], None]
"""Told in one line what is going on."""


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRequest:
    """What to run: one mode and one fault of a target, a number of rounds."""

    mode: str
    fault: str = HEALTHY
    workload: str = "mixed"
    workers: int = 8
    """Applier threads of a replica or member."""
    replicas: int = 1
    domains: int = 1
    """Replication domains (or databases) that the clients write to."""
    clients: int = 6
    rounds: int = 1
    transactions: int = 2_000
    """A round ends after this many confirmed transactions."""
    duration_s: float = 20.0
    """Or after this many seconds of load, whatever comes first."""
    seed: int = 0
    """The first round's; each further round has the next number."""
    servers: tuple[str, ...] = ()
    """Data source names of servers that are already there, the source first."""
    basedir: Path | None = None
    """The server's tree; None looks where ``paraply.adapters.servers`` looks."""
    keep: bool = False
    """Leave the servers' directories for inspection."""
    say: Say = _silent


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRound:
    """One round: the history observed, and what is to be known beside it."""

    number: int
    seed: int
    history: History
    evidence: Mapping[str, int | str] = field(default_factory=dict)
    """Counts that say how much was seen: transactions, reads, retries, restarts."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Properties that this round may well leave unknown, each with the reason."""
    trace: GroupTrace | None = None
    """What was delivered to a replication group, and how its members decided."""
    notes: tuple[str, ...] = ()
    """What happened that no property speaks of: errors of the servers, documented behaviour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTarget:
    """A kind of installation that can be run live."""

    name: str
    summary: str
    module: str
    """Has ``run(request) -> Iterator[LiveRound]``; imported when the target is run."""
    modes: tuple[str, ...]
    """The first is the default."""
    workloads: tuple[str, ...] = ("mixed",)
    faults: Mapping[str, str] = field(default_factory=dict)
    """What can be done to it: name and one sentence."""
    properties: tuple[str, ...] = ()
    """The properties that its histories are judged by."""
    documented: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Positive controls: properties that rounds are documented to break, by ``mode/fault``."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Workloads that one of the modes does not take: the reason, by ``mode/workload``."""

    rare: tuple[str, ...] = ()
    """Faults whose documented breach takes luck: its absence says nothing."""
    takes: tuple[str, ...] = OPTIONS
    """Which of the options it has a use for."""

    def check(self, request: LiveRequest) -> None:
        """Raise ``ParaplyError`` P620 if it has no such mode, workload, fault or option.

        P624 if it has the workload, and not in this mode.
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
        """Yield the rounds asked for; all servers are gone when the iterator is closed.

        Raises ``ParaplyError`` P601 where no server is installed, P620 or P624 for a choice that
        the target does not have, P621 where a round cannot be carried out, P623 where servers
        that are already there do not fit.
        """
        self.check(request)
        return cast(_TargetModule, importlib.import_module(self.module)).run(request)


def _spelled(option: str) -> str:
    return f"--{option.removesuffix('_s')}"


class _TargetModule(Protocol):
    def run(self, request: LiveRequest) -> Iterator[LiveRound]: ...


def target_named(name: str, targets: Sequence[LiveTarget]) -> LiveTarget:
    """Return a target by name; ``ParaplyError`` P620 if there is none."""
    for target in targets:
        if target.name == name:
            return target
    known = ", ".join(target.name for target in targets)
    raise ParaplyError(UNKNOWN_CHOICE, target="live", what="target", given=name, known=known)
