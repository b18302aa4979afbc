"""A pytest plugin for the conformance suite: one item per case.

``pytest --paraply-command "./my-applier"``, or ``paraply_command`` in the ini file; without an
applier it does nothing. ``--paraply-log`` runs cases of own logs in place of the suite's. Cases
have the marker ``paraply_`` plus family letter. Unknown cases are skipped, expected failures xfail.
Each pytest-xdist worker starts an applier.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:  # Every run of pytest loads this file, so the suite is imported when needed.
    from paraply.adapters.conformance.cases import Case
    from paraply.adapters.conformance.launching import CommandLauncher
    from paraply.conforming.suite import CaseResult, Conformance

_SUITE = pytest.StashKey["_Suite"]()

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("command", {"metavar": "COMMAND", "help": "the applier, as in a shell"}),
    ("applier", {"metavar": "FILE:CLASS", "help": "the applier as a class"}),
    (
        "case",
        {
            "action": "append",
            "metavar": "ID",
            "help": "only these: an id, a family's letter, or how ids begin",
        },
    ),
    (
        "log",
        {
            "action": "append",
            "metavar": "FILE",
            "help": "cases of these logs, in order, in place of the suite's",
        },
    ),
    ("schema", {"metavar": "F", "help": "tables as the logs begin (mysqldump -d)"}),
    ("schedules", {"type": int, "metavar": "N", "help": "schedules to run for each case"}),
    ("seed", {"type": int, "metavar": "S", "help": "of all choices (0)"}),
    ("expected-failures", {"metavar": "F", "help": "TOML file of failures known of"}),
    (
        "strict",
        {
            "action": "store_true",
            "default": None,
            "help": "a case that passes unexpectedly fails",
        },
    ),
)


class CaseFailedError(Exception):
    """A case failed."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__(result.reason)
        self.result = result


class ApplierGoneError(Exception):
    """The applier cannot be restarted."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the suite's options."""
    group = parser.getgroup("paraply", "conformance of a parallel replication applier")
    for name, how in _OPTIONS:
        group.addoption(f"--paraply-{name}", **how)
        kind: Literal["linelist", "bool", "string"] = (
            "linelist" if name in ("case", "log") else "bool" if name == "strict" else "string"
        )
        ini = f"paraply_{name.replace('-', '_')}"
        parser.addini(ini, f"as --paraply-{name}", type=kind, default=None)


def pytest_configure(config: pytest.Config) -> None:
    """Add the families' markers."""
    if not _is_wanted(config):
        return
    from paraply.adapters.conformance.cases.case import FAMILIES, OWN_LOGS

    for letter, what in (FAMILIES | OWN_LOGS).items():
        config.addinivalue_line("markers", f"{_marker(letter)}: {what}")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the applier; else a usage error."""
    config = session.config
    if not _is_wanted(config) or config.option.collectonly or hasattr(config, "workerinput"):
        return
    from paraply.vocabulary.errors import ParaplyError

    try:
        config.stash[_SUITE] = _Suite.started(config)
    except ParaplyError as error:
        raise pytest.UsageError(f"{error.text}\n  remedy: {error.remedy}") from None
    except ApplierGoneError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the cases, before marker selection."""
    if not _is_wanted(config):
        return
    from paraply.adapters.conformance.cases import suite
    from paraply.conforming.expected_failures import read_expected_failures
    from paraply.vocabulary.errors import ParaplyError

    try:
        cases = _chosen(config)
        file = _option(config, "expected_failures")
        expected = read_expected_failures(config.rootpath / file, suite()) if file else {}
    except ParaplyError as error:
        raise pytest.UsageError(f"{error.text}\n  remedy: {error.remedy}") from None
    for case in cases:
        item = CaseItem.from_parent(session, name=case.id, case=case)
        item.add_marker(_marker(case.family))
        if case.id in expected:
            known = expected[case.id]
            item.add_marker(
                pytest.mark.xfail(
                    reason=f"{known.reason} ({known.link})",
                    strict=bool(_option(config, "strict")),
                    raises=CaseFailedError,
                )
            )
        items.append(item)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the applier."""
    suite = config.stash.get(_SUITE, None)
    if suite is not None:
        suite.launcher.close()


class CaseItem(pytest.Item):
    """One case as a test."""

    def __init__(self, *, case: Case, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.case = case

    def runtest(self) -> None:
        """Run the case, or skip it."""
        from paraply.conforming.suite import Result
        from paraply.vocabulary.errors import ParaplyError

        try:
            if _SUITE not in self.config.stash:
                self.config.stash[_SUITE] = _Suite.started(self.config)
            conformance = self.config.stash[_SUITE].conformance
            result = conformance.with_hindsight(conformance.run_case(self.case))
        except (ApplierGoneError, ParaplyError) as error:
            # No later case can succeed.
            self.session.shouldstop = f"paraply: {error}"
            raise ApplierGoneError(str(error)) from None
        if result.result is Result.FAIL:
            raise CaseFailedError(result)
        if result.result not in (Result.PASS, Result.SLOW):
            pytest.skip(f"{result.result.value}: {result.reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        """Return the failure without traceback."""
        from paraply.reporting.conform.text import failure_lines

        if isinstance(excinfo.value, CaseFailedError):
            return "\n".join(failure_lines(excinfo.value.result, "", {}))
        if isinstance(excinfo.value, ApplierGoneError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the case's location and name."""
        return self.config.rootpath, None, f"{self.case.id}: {self.case.fact}"


@dataclass(frozen=True, slots=True)
class _Suite:
    launcher: CommandLauncher
    conformance: Conformance

    @classmethod
    def started(cls, config: pytest.Config) -> _Suite:
        from paraply.adapters.conformance.host import host_command
        from paraply.adapters.conformance.launching import CommandLauncher
        from paraply.conforming.suite import SCHEDULES, Conformance

        applier = _option(config, "applier")
        words = host_command(applier) if applier else shlex.split(_option(config, "command"))
        launcher = CommandLauncher(words)
        conformance = Conformance(
            launcher,
            schedules=int(_option(config, "schedules") or SCHEDULES),
            seed=int(_option(config, "seed") or 0),
        )
        met = conformance.meet()
        if met.fault:
            launcher.close()
            said = "".join(f"\n  {line}" for line in met.stderr[-5:])
            raise ApplierGoneError(f"the applier does not speak the protocol: {met.fault}{said}")
        return cls(launcher, conformance)


def _chosen(config: pytest.Config) -> tuple[Case, ...]:
    from paraply.adapters.conformance.cases import cases_named
    from paraply.conforming.own_logs import cases_of_logs, own_logs

    names = _option(config, "case") or []
    logs = _option(config, "log") or []
    if not logs:
        return tuple(cases_named(names))
    schema = _option(config, "schema")
    files = [config.rootpath / file for file in logs]
    return cases_of_logs(own_logs(files, config.rootpath / schema if schema else None), names)[0]


def _is_wanted(config: pytest.Config) -> bool:
    return bool(_option(config, "command") or _option(config, "applier"))


def _option(config: pytest.Config, name: str) -> Any:
    given = config.getoption(f"paraply_{name}")
    return config.getini(f"paraply_{name}") if given is None else given


def _marker(letter: str) -> str:
    return f"paraply_{letter.lower()}"
