"""Hypothesis profiles and the fixtures that every test folder shares.

``--hypothesis-profile dev|ci|nightly`` selects a profile; where none is named, ``ci`` is used
when the environment variable CI is set and ``dev`` otherwise. A failing run prints its blob, so
it can be replayed with ``@reproduce_failure``.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

REPOSITORY = Path(__file__).resolve().parent.parent
_WHOLE = (1, 1)
"""One share of one."""
_KINDS = ("live", "long")
"""Marks of which a run may ask for one alone."""

# A runner started in the background by a shell ignores Ctrl-C, and so would the programs that the
# tests start to interrupt them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("dev", deadline=None, print_blob=True, max_examples=100)
settings.register_profile(
    "ci", deadline=None, print_blob=True, derandomize=True, max_examples=100, database=None
)
settings.register_profile(
    "nightly",
    deadline=None,
    print_blob=True,
    max_examples=5_000,
    suppress_health_check=[HealthCheck.too_slow],
)
# The plugin loads a profile named on the command line after this file was read.
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def _constants_of_no_module() -> providers.Constants:
    return providers._local_constants


# Hypothesis draws from the constants in all modules that are loaded, which depends on the tests
# that ran before: a seed would tell another story in another run. It has no setting for it.
providers._get_local_constants = _constants_of_no_module


def _share(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if not 1 <= int(number) <= int(count):
        raise ValueError(text)
    return int(number), int(count)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--share``."""
    parser.addoption(
        "--share", type=_share, default=_WHOLE, metavar="K/N",
        help="of the functions marked long, the K-th of N shares (1/1: all)",
    )  # fmt: skip


@cache
def _names(file: Path, kind: str) -> bool:
    return f"mark.{kind}" in file.read_text("utf-8")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave alone the files that name no test of the kind asked for; None lets others decide.

    To read one takes a moment; to import all and list their tests takes each worker a minute.
    """
    kind = config.option.markexpr.partition(" ")[0]
    if kind not in _KINDS or not collection_path.name.startswith("test_"):
        return None
    return None if _names(collection_path, kind) else True


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what lives to the end: modules and collected tests.

    Every full collection would walk those millions of objects anew.
    """
    gc.collect()
    gc.freeze()


# A server that cannot be started, reached or heard in time says nothing of what is tested. What is
# asserted and fails is never tried again.
_SURROUNDINGS = (
    r"^OperationalError: ",
    r"^ParaplyError: P6(03|04|12|14|21) ",
    r"^NoSuchProcess: ",
    r"^TimeoutExpired: ",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Prepare the items: what is tried again, and what only the nightly run tries.

    A live test whose surroundings fail runs once more, which the summary shows. Of the table of a
    function marked ``long(quick=n)``, the first row and every n-th after it are not long. Of the
    others, all but every n-th row are left to the nightly run: every third, or as ``long(each=n)``
    says. So are tests marked ``long`` that are not of the given share, whole tables or, with
    ``long(by_row=True)``, rows. Files marked ``live(minutes=n)`` begin first, so that no worker is
    left alone with one at the end.
    """
    rows: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    minutes: Counter[pytest.Item] = Counter()
    number, count = config.getoption("--share", _WHOLE)
    for item in items:
        for kind in _KINDS:
            if item.get_closest_marker(kind) and not _names(item.path, kind):
                raise pytest.UsageError(f"{item.nodeid} is {kind}: write mark.{kind} in its file")
        if live := item.get_closest_marker("live"):
            minutes[item] = live.kwargs.get("minutes", 0)
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=list(_SURROUNDINGS)))
        marker = item.get_closest_marker("long")
        if marker is None:
            continue
        function = item.nodeid.partition("[")[0]
        rows[function] += 1
        if (quick := marker.kwargs.get("quick")) and rows[function] % quick == 1 % quick:
            item.own_markers.remove(marker)
            continue
        one = item.nodeid if marker.kwargs.get("by_row") else function
        is_of_share = crc32(one.encode()) % count == number - 1
        if not is_of_share or seen[function] % marker.kwargs.get("each", 3):
            item.add_marker(pytest.mark.nightly)
        seen[function] += 1
    items.sort(key=minutes.__getitem__, reverse=True)


def corpus_folder() -> Path:
    """Return where the third-party logs are looked for, whether or not they are there."""
    named = os.environ.get("PARAPLY_CORPUS")
    return Path(named) if named else REPOSITORY.parent / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of third-party logs; skip, saying why, where it is absent."""
    folder = corpus_folder()
    if not folder.is_dir():
        pytest.skip(f"no third-party logs at {folder}; set PARAPLY_CORPUS to their folder")
    return folder


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the root of the source tree."""
    return REPOSITORY
