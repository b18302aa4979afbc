"""Which runs are sandboxed: options, and reasons against it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from paraply.sandbox.kernel import has_seccomp
from paraply.vocabulary.errors import ParaplyError, register

NO_SANDBOX_HERE = register(
    "P315",
    "--sandbox is not possible: {reason}",
    "leave out --sandbox, or run paraply in a container; `paraply doctor` shows what works here",
)

_REMOTE = "files of an object storage need connections"
_NO_FILTER = "it needs Linux with seccomp on x86-64 or aarch64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a command runs in the sandbox.

    Attributes:
        obstacle: returns why this run needs more than a locked process, or empty.
        prepare: loads what a locked process cannot load; it reads no input.
        outputs: returns outputs that no option names: files, and folders with a ``/`` at the end.
        finish: runs after the lock, with the names of the written files.
    """

    obstacle: Callable[[argparse.Namespace], str]
    prepare: Callable[[argparse.Namespace], None]
    outputs: Callable[[argparse.Namespace], Collection[str]]
    finish: Callable[[argparse.Namespace, Sequence[str]], None]


def _nothing(*_: object) -> None:
    return


def add_sandbox_argument(
    parser: argparse.ArgumentParser,
    *,
    obstacle: Callable[[argparse.Namespace], str] = lambda _: "",
    prepare: Callable[[argparse.Namespace], None] = _nothing,
    outputs: Callable[[argparse.Namespace], Collection[str]] = lambda _: (),
    finish: Callable[[argparse.Namespace, Sequence[str]], None] = _nothing,
) -> None:
    """Add ``--sandbox`` and ``--no-sandbox``."""
    parser.add_argument(
        "--sandbox",
        action=argparse.BooleanOptionalAction,
        help="read the files in a process that can only read them (default where it works; "
        "SECURITY.md)",
    )
    plan = Plan(obstacle=obstacle, prepare=prepare, outputs=outputs, finish=finish)
    parser.set_defaults(sandbox_plan=plan)


def plan_of(
    arguments: argparse.Namespace,
    inputs: Iterable[str],
    *,
    by_default: bool,
    warn: Callable[[str], None],
) -> Plan | None:
    """Return the plan of a run, or None for a run without sandbox.

    ``warn`` receives why a run goes without by its other options. Raises P315 if ``--sandbox`` is
    given and not possible.
    """
    plan: Plan | None = getattr(arguments, "sandbox_plan", None)
    wanted: bool | None = getattr(arguments, "sandbox", None)
    if plan is None or wanted is False or (wanted is None and not by_default):
        return None
    is_remote = any("://" in name and not name.startswith("file://") for name in inputs)
    reason = _REMOTE if is_remote else plan.obstacle(arguments)
    is_here = has_seccomp()
    if wanted and (reason or not is_here):
        raise ParaplyError(NO_SANDBOX_HERE, reason=reason or _NO_FILTER)
    if reason and is_here:
        warn(reason)
    return None if reason or not is_here else plan
