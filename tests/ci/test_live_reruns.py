"""A live test runs once more where its surroundings failed, and never where it asserts."""

import pytest

pytest_plugins = ["pytester"]

SUITE = """
import pytest
from pymysql.err import OperationalError
from paraply.adapters.servers.errors import SERVER_UNREACHABLE, STATEMENT_FAILED
from paraply.vocabulary.errors import ParaplyError

seen = []

def once(name, fault):
    seen.append(name)
    if seen.count(name) == 1:
        raise fault

LOST = OperationalError(2013, "Lost connection")

@pytest.mark.live
def test_lost():
    once("lost", LOST)

@pytest.mark.live
def test_unreachable():
    once("unreachable", ParaplyError(SERVER_UNREACHABLE, where="m1", reason="gone"))

@pytest.mark.live
def test_wrong():
    once("wrong", AssertionError("OperationalError: rows differ"))

@pytest.mark.live
def test_refused():
    once("refused", ParaplyError(STATEMENT_FAILED, where="m1", statement="x", reason="no"))

def test_without_server():
    once("without", LOST)
"""


@pytest.mark.long
def test_surroundings_are_tried_again_and_verdicts_are_not(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    pytester.makeconftest("from tests.conftest import pytest_collection_modifyitems  # noqa: F401")
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-raR", "--strict-markers", "-o", "markers=live\nlong"
    )
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines_random(
        [
            "RERUN*test_lost*",
            "RERUN*test_unreachable*",
            "FAILED*test_wrong*",
            "FAILED*test_refused*",
            "FAILED*without*",
        ]
    )
