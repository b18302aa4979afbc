"""The suite as pytest items: pass, fail with a story, skip with a reason, xfail, xdist."""

from __future__ import annotations

import pytest

from paraply.adapters.conformance.cases.scaled import Scale, scaled_log
from tests.builders.case_logs import write_case_log

pytest_plugins = ["pytester"]

CLOCK = "paraply.adapters.conformance.rules.correct:LogicalClock"
SERIAL = "paraply.adapters.conformance.rules.correct:Serial"
ONE_NUMBER = "paraply.adapters.conformance.rules.faulty:WaitsForOneNumber"


def run_with_plugin(pytester, *arguments):
    """Run pytest in a process of its own, without the plugin of Hypothesis, which loads slowly."""
    return pytester.runpytest_subprocess("-p", "no:hypothesispytest", *arguments, timeout=120)


def run(pytester, applier, *arguments):
    return run_with_plugin(
        pytester, f"--paraply-applier={applier}", "--paraply-schedules=20", "-rsx", *arguments
    )


@pytest.mark.long
def test_every_case_is_an_item_and_xdist_shares_them(pytester):
    result = run(pytester, CLOCK, "--paraply-case=B", "-n", "2")
    result.assert_outcomes(passed=5)


@pytest.mark.long
def test_failed_case_tells_its_story(pytester):
    result = run(pytester, ONE_NUMBER, "--paraply-case=B-prefix-01")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*FAIL B-prefix-01: last_committed=3 waits for 2*", "*trx.LC*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.long
def test_unknown_case_is_skipped_with_the_reason(pytester):
    result = run(pytester, SERIAL, "--paraply-case=N-parallel-01")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*unknown: no two transactions were ever under way together*"])


@pytest.mark.long
def test_marker_of_a_family_chooses_its_cases(pytester):
    result = run(pytester, CLOCK, "-m", "paraply_b", "--strict-markers")
    result.assert_outcomes(passed=5, deselected=112)


@pytest.mark.long
@pytest.mark.parametrize(("applier", "outcome"), [(ONE_NUMBER, "xfailed"), (CLOCK, "failed")])
def test_expected_failure_is_an_xfail_and_strict_minds_a_pass(pytester, applier, outcome):
    pytester.makefile(
        ".toml", x='[[expected]]\ncase = "B-prefix-01"\nreason = "known"\nlink = "https://e.org"\n'
    )
    result = run(
        pytester, applier, "--paraply-case=B-prefix-01", "--paraply-strict",
        "--paraply-expected-failures=x.toml",
    )  # fmt: skip
    result.assert_outcomes(**{outcome: 1})


@pytest.mark.long
def test_case_that_does_not_exist_is_a_usage_error(pytester):
    result = run(pytester, CLOCK, "--paraply-case=Z")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*P632 there is no case 'Z'*", "*remedy:*"])


@pytest.mark.long
def test_without_an_applier_nothing_is_added(pytester):
    pytester.makepyfile("def test_one(): pass")
    result = run_with_plugin(pytester)
    result.assert_outcomes(passed=1)


@pytest.mark.long
def test_options_of_the_ini_file_and_a_plugin_named_twice(pytester):
    pytester.makeini(
        f"[pytest]\nparaply_applier = {CLOCK}\nparaply_case = B-prefix-01\nparaply_schedules = 3\n"
    )
    run_with_plugin(pytester, "-p", "paraply.pytest_plugin").assert_outcomes(passed=1)


@pytest.mark.long
def test_without_an_applier_the_suite_is_not_imported(pytester):
    pytester.makepyfile(
        "import sys\n"
        "def test_one(request):\n"
        "    assert request.config.pluginmanager.has_plugin('paraply.pytest_plugin')\n"
        "    ours = {n for n in sys.modules if n.startswith('paraply.')}\n"
        "    assert ours <= {'paraply.pytest_plugin', 'paraply.version'}\n"
    )
    result = run_with_plugin(pytester, "--strict-markers")
    result.assert_outcomes(passed=1)
    assert "paraply_a" not in run_with_plugin(pytester, "--markers").stdout.str()


@pytest.mark.long
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/no/such/applier", "*cannot be started*"),
        ("sh -c 'echo I am broken >&2; exit 3'", "*does not speak the protocol*"),
    ],
)
def test_missing_or_dead_applier_is_one_error(pytester, command, said, workers):
    pytester.makepyfile("def test_one(): pass")
    result = run_with_plugin(pytester, "--paraply-command", command, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])
    assert len(result.stderr.lines) < 10
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.long
def test_cases_of_own_logs_replace_those_of_the_suite(pytester):
    scale = Scale(4, 40, 2, 2, 0, 2, "unique", "calm")
    write_case_log(scaled_log(scale, 3), pytester.path)
    logs = ["--paraply-log=bin.000001", "--paraply-log=bin.000002", "--paraply-schema=schema.sql"]
    run(pytester, CLOCK, *logs, "-n", "2", "--strict-markers").assert_outcomes(passed=8)
    result = run(pytester, ONE_NUMBER, *logs, "--paraply-case=U-13-")
    assert result.parseoutcomes()["failed"] >= 1
    pytester.makeini(
        f"[pytest]\nparaply_applier = {CLOCK}\nparaply_schedules = 1\n"
        "paraply_log =\n  bin.000001\n  bin.000002\nparaply_schema = schema.sql\n"
    )
    result = run_with_plugin(pytester, "--collect-only", "-q")
    result.stdout.fnmatch_lines(["*U-1-12-recorded*"])
    result = run(pytester, CLOCK, "--paraply-log=gone.000001")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*P101*", "*remedy:*"])
