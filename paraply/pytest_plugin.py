"""A pytest plugin that runs the conformance suite: one test item for each case.

``pytest -p paraply.pytest_plugin --paraply-command "./my-applier"``. Each case bears the marker
``paraply_`` and the letter of its family, so that ``-m paraply_a`` runs one. A case that is unknown
or skipped is a skipped test with the reason; one that is expected to fail is an xfail. With
pytest-xdist every worker starts an applier of its own.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from paraply.adapters.conformance.cases import FAMILIES, Case, cases_named, suite
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.conforming.expected_failures import read_expected_failures
from paraply.conforming.suite import SCHEDULES, CaseResult, Conformance, Result
from paraply.reporting.conform.text import failure_lines
from paraply.vocabulary.errors import ParaplyError

_CONFORMANCE = pytest.StashKey[Conformance]()
_LAUNCHER = pytest.StashKey[CommandLauncher]()


class CaseFailedError(Exception):
    """A case failed; carries what it showed."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__(result.reason)
        self.result = result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the suite."""
    group = parser.getgroup("paraply", "conformance of a parallel replication applier")
    group.addoption("--paraply-command", metavar="COMMAND", help="the applier, as in a shell")
    group.addoption("--paraply-applier", metavar="FILE:CLASS", help="the applier as a class")
    group.addoption(
        "--paraply-case",
        action="append",
        default=[],
        metavar="ID",
        help="only these: an id, a family's letter, or how ids begin",
    )
    group.addoption("--paraply-schedules", type=int, default=SCHEDULES, metavar="N")
    group.addoption("--paraply-seed", type=int, default=0, metavar="S")
    group.addoption("--paraply-expected-failures", metavar="F", help="TOML file")
    group.addoption(
        "--paraply-strict", action="store_true", help="a case that passes unexpectedly fails"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers of the families known."""
    for letter, what in FAMILIES.items():
        config.addinivalue_line("markers", f"{_marker(letter)}: {what}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add an item for each case, where an applier is named; before markers are asked for."""
    if not (config.getoption("paraply_command") or config.getoption("paraply_applier")):
        return
    try:
        cases = cases_named(config.getoption("paraply_case"))
        file = config.getoption("paraply_expected_failures")
        expected = read_expected_failures(Path(file), suite()) if file else {}
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
                    strict=config.getoption("paraply_strict"),
                    raises=CaseFailedError,
                )
            )
        items.append(item)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the applier."""
    launcher = config.stash.get(_LAUNCHER, None)
    if launcher is not None:
        launcher.close()


class CaseItem(pytest.Item):
    """One case of the suite as a test."""

    def __init__(self, *, case: Case, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.case = case

    def runtest(self) -> None:
        """Run the case; skip it where it shows nothing."""
        conformance = _conformance_of(self.config)
        result = conformance.with_hindsight(conformance.run_case(self.case))
        if result.result is Result.FAIL:
            raise CaseFailedError(result)
        if result.result not in (Result.PASS, Result.SLOW):
            pytest.skip(f"{result.result.value}: {result.reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        """Return the story of a failed case instead of a traceback."""
        if isinstance(excinfo.value, CaseFailedError):
            return "\n".join(failure_lines(excinfo.value.result, "", {}))
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return what the report calls the case."""
        return self.config.rootpath, None, f"{self.case.id}: {self.case.fact}"


def _marker(letter: str) -> str:
    return f"paraply_{letter.lower()}"


def _conformance_of(config: pytest.Config) -> Conformance:
    """Return the one run of this process; a protocol fault fails the test with it."""
    if _CONFORMANCE not in config.stash:
        applier = config.getoption("paraply_applier")
        command = config.getoption("paraply_command")
        words = host_command(applier) if applier else shlex.split(command)
        launcher = CommandLauncher(words)
        conformance = Conformance(
            launcher,
            schedules=config.getoption("paraply_schedules"),
            seed=config.getoption("paraply_seed"),
        )
        met = conformance.meet()
        if met.fault:
            pytest.fail(f"the applier does not speak the protocol: {met.fault}", pytrace=False)
        config.stash[_LAUNCHER], config.stash[_CONFORMANCE] = launcher, conformance
    return config.stash[_CONFORMANCE]
