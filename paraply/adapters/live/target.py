"""A live target and its rounds.

A target is a module with a ``TARGET`` and a function ``run(request)`` that yields rounds;
:mod:`paraply.adapters.live.targets` lists it.
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
    "docs/live.md says what they must be, under 'Servers that are already there'; nothing of theirs"
    " was changed",
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
"""Numbers of a request that only some targets use."""

HEALTHY = "none"
"""The name of a round without faults."""

Say = Callable[[str], None]
"""Receives progress messages of one line."""


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRequest:
    """Rounds to run in one mode and with one fault of a target."""

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
    """Confirmed transactions that end a round."""
    duration_s: float = 20.0
    """Seconds of load that end a round."""
    seed: int = 0
    """The first round's; each further round adds one."""
    servers: tuple[str, ...] = ()
    """Data source names of existing servers, the source first."""
    basedir: Path | None = None
    """The server's tree; None uses the search of ``paraply.adapters.servers``."""
    keep: bool = False
    """Keep the servers' directories for inspection."""
    say: Say = _silent


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRound:
    """One round: the history and its circumstances."""

    number: int
    seed: int
    history: History
    evidence: Mapping[str, int | str] = field(default_factory=dict)
    """Counts of observations: transactions, reads, retries, restarts."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Properties that this round may leave unknown, with reasons."""
    trace: GroupTrace | None = None
    """A group's deliveries and its members' decisions."""
    notes: tuple[str, ...] = ()
    """Observations outside all properties: server errors, documented behaviour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTarget:
    """A kind of installation for live runs."""

    name: str
    summary: str
    module: str
    """Has ``run(request) -> Iterator[LiveRound]``; imported on use."""
    modes: tuple[str, ...]
    """The first is the default."""
    workloads: tuple[str, ...] = ("mixed",)
    faults: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of its faults by name."""
    properties: tuple[str, ...] = ()
    """The properties that judge its histories."""
    documented: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Positive controls: documented breaches of properties, by ``mode/fault``."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Reasons for rejected workloads, by ``mode/workload``."""

    rare: tuple[str, ...] = ()
    """Faults whose documented breach may fail to occur."""
    takes: tuple[str, ...] = OPTIONS
    """The options that it uses."""

    def check(self, request: LiveRequest) -> None:
        """Raise ``ParaplyError`` P620 for an unknown mode, workload, fault or option.

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
        """Yield the requested rounds; closing the iterator ends all servers.

        Raises ``ParaplyError`` P601 without an installed server, P620 or P624 for an invalid
        choice, P621 for a failed round, P623 for unsuitable existing servers.
        """
        self.check(request)
        return cast(_TargetModule, importlib.import_module(self.module)).run(request)


def _spelled(option: str) -> str:
    return f"--{option.removesuffix('_s')}"


class _TargetModule(Protocol):
    def run(self, request: LiveRequest) -> Iterator[LiveRound]: ...


def target_named(name: str, targets: Sequence[LiveTarget]) -> LiveTarget:
    """Return a target by name; ``ParaplyError`` P620 for an unknown one."""
    for target in targets:
        if target.name == name:
            return target
    known = ", ".join(target.name for target in targets)
    raise ParaplyError(UNKNOWN_CHOICE, target="live", what="target", given=name, known=known)
