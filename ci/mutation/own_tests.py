"""Tests that are collected once and then run in forks, up to the first failure."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from paraply.exploring.generated.forking import Forks, TimeOutError, limit_time
from paraply.exploring.generated.runs import Reached
from paraply.mutating.patches import CodeKey, key_of

PROFILE = "first_failure"
TIMES_AS_LONG = 8
"""A test that needs so many times its usual CPU time does not end."""
SECONDS_MIN = 4.0
SECONDS_MAX = 40.0
"""CPU time of all tests of one mutant."""
QUICK_SECONDS = 0.3
RECORDING_SECONDS = 600
"""CPU time of one file's tests while their calls are recorded."""

Tests = Sequence[pytest.Item]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One unchanged test: CPU seconds, the functions that it calls, and whether it passes."""

    seconds: float
    reached: frozenset[CodeKey]
    has_passed: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """The first test that fails, why, and how many tests ran; ``test`` is empty if none fails."""

    test: str
    why: str
    runs: int


class _Watch:
    """Keeps the tests from running, and remembers a failure."""

    def __init__(self, then: Callable[[Tests], None]) -> None:
        self._then = then
        self.failed: pytest.TestReport | None = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._then(session.items)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.failed is None:
            self.failed = report


class OwnTests:
    """Collected tests."""

    def __init__(self, items: Tests, watch: _Watch) -> None:
        self._items = items
        self._watch = watch
        self.recorded: dict[str, Recorded] = {}
        self._reaching: dict[CodeKey, list[pytest.Item]] = {}

    def record(self, under: str, store: Path, sources: Iterable[Path], processes: int) -> None:
        """Record what each test calls, file by file, unless neither it nor a source changed."""
        common = _digest(sources)
        by_file: dict[Path, list[pytest.Item]] = defaultdict(list)
        for item in self._items:
            by_file[item.path].append(item)
        digests = {path: _digest([path], common) for path in by_file}
        known = _read(store)
        left = []
        for path, items in by_file.items():
            found = known.get(digests[path], {})
            if all(item.nodeid in found for item in items):  # Parameters may come from elsewhere.
                self.recorded |= found
            else:
                left.append(items)
        forks = Forks(
            lambda items: self._record(items, under),
            _not_recorded,
            processes=processes,
            seconds=RECORDING_SECONDS,
        )
        paths = {item.nodeid: item.path for item in self._items}
        for found in forks.over(left):
            _add(store, digests[paths[next(iter(found))]], found)
            self.recorded |= found
        self._reaching = self._by_function()

    def _record(self, items: Tests, under: str) -> dict[str, Recorded]:
        found = {}
        with _silence():
            for item, following in _in_turn(items):
                self._watch.failed = None
                start = time.process_time()
                with Reached(under) as reached:
                    _run(item, following)
                found[item.nodeid] = Recorded(
                    time.process_time() - start,
                    frozenset(key_of(one) for one in reached.codes if under in one.co_filename),
                    self._watch.failed is None,
                )
        return found

    def _by_function(self) -> dict[CodeKey, list[pytest.Item]]:
        """Return passing tests by function: quick tests first, and of these quick files."""
        by_function: dict[CodeKey, list[pytest.Item]] = defaultdict(list)
        of_file: dict[Path, float] = defaultdict(float)
        for item in self._items:
            of_file[item.path] += self._seconds(item)
        for item in sorted(self._items, key=lambda one: self._rank(one, of_file[one.path])):
            if self.recorded[item.nodeid].has_passed:
                for key in self.recorded[item.nodeid].reached:
                    by_function[key].append(item)
        return by_function

    def _rank(self, item: pytest.Item, of_file: float) -> tuple[bool, float, Path, float]:
        seconds = self._seconds(item)
        return seconds > QUICK_SECONDS, of_file, item.path, seconds

    def _seconds(self, item: pytest.Item) -> float:
        return self.recorded[item.nodeid].seconds

    @property
    def failing(self) -> list[str]:
        """Return the tests that fail without a change; they judge nothing."""
        return [name for name, one in self.recorded.items() if not one.has_passed]

    def reaching(
        self, key: CodeKey, folders: tuple[str, ...] = ("",), seconds_max: float = SECONDS_MAX
    ) -> list[pytest.Item]:
        """Return the tests that call a function, as many as have time."""
        found: list[pytest.Item] = []
        seconds = 0.0
        for item in self._reaching.get(key, ()):
            if item.nodeid.startswith(folders):
                seconds += self._seconds(item)
                if found and seconds > seconds_max:
                    break
                found.append(item)
        return found

    def first_failure(self, items: Tests) -> Failure:
        """Run tests until one fails; changes this process, so call it in a fork."""
        with _silence():
            for runs, (item, following) in enumerate(_in_turn(items), start=1):
                self._watch.failed = None
                limit_time(max(SECONDS_MIN, TIMES_AS_LONG * self._seconds(item)))
                try:
                    _run(item, following)
                except TimeOutError:
                    return Failure(item.nodeid, "it does not end", runs)
                finally:
                    limit_time(0)
                if self._watch.failed is not None:
                    return Failure(item.nodeid, _why(self._watch.failed), runs)
        return Failure("", "", len(items))


def with_tests(paths: Sequence[str], then: Callable[[OwnTests], None]) -> int:
    """Collect the tests of some folders and call ``then``; return pytest's exit code."""
    settings.register_profile(
        PROFILE,
        deadline=None,
        derandomize=True,
        database=None,
        max_examples=100,
        phases=(Phase.explicit, Phase.generate),
        report_multiple_bugs=False,
    )
    watch = _Watch(lambda items: then(OwnTests(items, watch)))
    options = f"-q -s -p no:cacheprovider -p no:xdist --hypothesis-profile={PROFILE}"
    return int(
        # The rows of long tables that CI leaves to the nightly run count, too.
        pytest.main(
            [*options.split(), "-m", "not live and (long or not nightly)", *paths], plugins=[watch]
        )
    )


def _run(item: pytest.Item, following: pytest.Item | None) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _in_turn(items: Tests) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    return zip(items, [*items[1:], None], strict=True)


def _why(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return "failed"
    return str(crash.message).partition("\n")[0].partition(":")[0][:60]


@contextmanager
def _silence() -> Iterator[None]:
    """Send what tests print nowhere, and give them temporary folders of their own."""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        yield


def _not_recorded(items: Tests) -> dict[str, Recorded]:
    return {item.nodeid: Recorded(0.0, frozenset(), False) for item in items}


def _digest(sources: Iterable[Path], common: str = "") -> str:
    found = sha256(f"{sys.version}{common}".encode())
    for path in sorted(sources):
        found.update(path.read_bytes())
    return found.hexdigest()


def _add(store: Path, digest: str, recorded: dict[str, Recorded]) -> None:
    keys = sorted({key for one in recorded.values() for key in one.reached})
    number = {key: at for at, key in enumerate(keys)}
    tests = {
        name: [one.seconds, one.has_passed, sorted(number[key] for key in one.reached)]
        for name, one in recorded.items()
    }
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"digest": digest, "functions": keys, "tests": tests}) + "\n")


def _read(store: Path) -> dict[str, dict[str, Recorded]]:
    """Return the records of files by digest."""
    recorded: dict[str, dict[str, Recorded]] = {}
    lines = store.read_text(encoding="utf-8").splitlines() if store.exists() else []
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:  # A killed process left half a line.
            continue
        keys = [(file, name, first) for file, name, first in found["functions"]]
        recorded[found["digest"]] = {
            name: Recorded(seconds, frozenset(keys[at] for at in reached), has_passed)
            for name, (seconds, has_passed, reached) in found["tests"].items()
        }
    return recorded
