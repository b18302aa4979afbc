"""The subcommands of ``paraply``, one module each.

To add one, write a module with ``configure(parser)`` and ``run(arguments)``, and name it in
:data:`COMMANDS`, which imports lazily.
"""

from __future__ import annotations

import argparse
import importlib
from dataclasses import dataclass
from typing import Protocol, cast


class CommandModule(Protocol):
    """Interface of a command module."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add description, options and an example."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Return the exit code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Name, summary and module."""

    name: str
    summary: str
    module: str

    def load(self) -> CommandModule:
        """Import the module."""
        return cast(CommandModule, importlib.import_module(self.module))


COMMANDS = (
    Command(
        name="audit",
        summary="judge binary logs: is their metadata safe to apply in parallel, and how parallel",
        module="paraply.commands.audit",
    ),
    Command(
        name="verify",
        summary="judge what an applier did, from the logs of source and target alone",
        module="paraply.commands.verify",
    ),
    Command(
        name="watch",
        summary="follow running servers and judge their replicas continuously",
        module="paraply.commands.watch",
    ),
    Command(
        name="prove",
        summary="prove the theorems for any number of transactions, and refute the rest",
        module="paraply.commands.prove",
    ),
    Command(
        name="explore",
        summary="run an applier, certifier or group on many schedules and judge every history",
        module="paraply.commands.explore",
    ),
    Command(
        name="conform",
        summary="test an applier of your own, in any language, against the suite",
        module="paraply.commands.conform",
    ),
    Command(
        name="compare",
        summary="run one workload through every applier on a simulated clock",
        module="paraply.commands.compare",
    ),
    Command(
        name="check",
        summary="judge a recorded history: one of paraply, or one of Jepsen and Elle",
        module="paraply.commands.check",
    ),
    Command(
        name="replay",
        summary="replay a counterexample step by step and judge it again",
        module="paraply.commands.replay",
    ),
    Command(
        name="show",
        summary="write a history as a page to step through, with every choice not taken",
        module="paraply.commands.show",
    ),
    Command(
        name="mutants",
        summary="show that every seeded fault is caught by the property it names",
        module="paraply.commands.mutants",
    ),
    Command(
        name="mine",
        summary="run subjects and mutants by the million on Spark, keep the smallest breaches",
        module="paraply.commands.mine",
    ),
    Command(
        name="live",
        summary="run real servers under load and faults, and judge what they did",
        module="paraply.commands.live",
    ),
    Command(
        name="list",
        summary="list subjects, dialects, properties, mutants or cases of the suite",
        module="paraply.commands.list_registry",
    ),
    Command(
        name="doctor",
        summary="say what this machine has and lacks for each part",
        module="paraply.commands.doctor",
    ),
    Command(
        name="completion",
        summary="print a script that completes commands and options in a shell",
        module="paraply.commands.completion",
    ),
)
