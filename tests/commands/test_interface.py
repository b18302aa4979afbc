"""The names that ``paraply`` exports: cheap to import, complete, typed and frozen."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

import paraply
from paraply import ParaplyError, Subject, Verdict, audit, check, conform, explore, subject
from paraply.adapters.conformance.cases.scaled import Scale, scaled_log
from tests.builders.case_logs import write_case_log
from tests.builders.every_command import CLOCK, LOG


def test_import_loads_no_other_module():
    code = (
        "import sys; import paraply; "
        "print(sorted(n for n in sys.modules if n.startswith('paraply')), "
        "any(n in sys.modules for n in ('numpy', 'numba', 'pyarrow', 'networkx', 'hypothesis')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['paraply', 'paraply.version'] False\n"


def test_every_exported_name_is_there_and_in_dir():
    assert set(paraply._HOMES) | {"__version__"} == set(paraply.__all__)
    for name in paraply.__all__:
        assert getattr(paraply, name) is not None
        assert name in dir(paraply)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = paraply.no_such_name


@pytest.mark.parametrize("name", [one for one in paraply.__all__ if one.endswith("Report")])
def test_reports_are_frozen(name):
    report = getattr(paraply, name)
    assert report.__dataclass_params__.frozen
    assert {field.type for field in dataclasses.fields(report) if field.name == "verdict"} == {
        "Verdict"
    }


def test_audit_has_the_verdict_and_the_document_of_the_command():
    report = audit(LOG, workers=[4])
    assert report.verdict is Verdict.HOLDS
    assert report.document["verdict"] == "holds"
    assert report.transactions == report.document["transactions"] > 0
    with pytest.raises(ParaplyError):
        audit("no-such-file")


def test_explore_finds_the_known_breach_and_check_judges_its_history_alike():
    name = "engine_commits_follow_the_log"
    report = explore("applier", dialect="logical_clock_unordered", properties=[name], schedules=60)
    (found,) = report.properties
    assert found.broken
    assert found.breaches
    again = check(found.smallest, properties=[name])
    assert again.verdict is Verdict.VIOLATED
    assert again.row(name).breaches == found.breaches


def test_check_refuses_an_option_of_another_kind_of_history(tmp_path):
    file = tmp_path / "h.edn"
    file.write_text("{:type :ok, :f :txn, :value [[:r :x nil]], :process 0, :index 0}\n")
    with pytest.raises(ParaplyError, match="P301"):
        check(file, properties=["engine_commits_follow_the_log"])


@pytest.mark.long
def test_conform_makes_cases_of_own_logs(tmp_path):
    files, schema = write_case_log(
        scaled_log(Scale(4, 40, 2, 2, 0, 2, "unique", "calm"), 3), tmp_path
    )
    report = conform(CLOCK, logs=files, schema=schema, schedules=2)
    assert report.verdict is Verdict.HOLDS
    assert len(report.cases) == 8
    (one,) = conform(CLOCK, logs=files, schema=schema, cases=["U-1-12-recorded"], schedules=2).cases
    assert one.result == "pass"
    assert one in report.cases
    wrong = "paraply.adapters.conformance.rules.faulty:WaitsForOneNumber"
    assert conform(wrong, logs=files, schema=schema).verdict is Verdict.VIOLATED
    with pytest.raises(ParaplyError, match="P101"):
        conform(CLOCK, logs=[tmp_path / "gone"])


def test_conform_takes_a_class_a_name_and_a_command():
    by_name = conform(CLOCK, cases=["B-prefix-01"], schedules=2)
    assert by_name.verdict is Verdict.HOLDS
    command = [sys.executable, "-m", "paraply.adapters.conformance.host", CLOCK]
    assert conform(command, cases=["B-prefix-01"], schedules=2) == by_name
    silent = conform([sys.executable, "-c", "pass"], cases=["B-prefix-01"])
    assert (silent.verdict, silent.cases, bool(silent.fault)) == (Verdict.VIOLATED, (), True)


def test_class_without_a_file_is_refused_with_the_reason():
    with pytest.raises(ParaplyError, match="no class Local in it that derives from Applier"):
        conform(type("Local", (paraply.Applier,), {}), cases=["B"])


def test_subject_is_registered_once_under_its_name():
    class Nothing(Subject):
        name = "nothing_at_all"

        def simulate(self, schedule, workload, dialect, options, recorder):
            return ("replica",)

    from paraply.reference_impl import subject as registry

    try:
        assert subject(Nothing) is Nothing
        assert explore("nothing_at_all", schedules=2).verdict is Verdict.UNKNOWN
        with pytest.raises(ValueError, match="registered twice"):
            subject(Nothing)
    finally:
        registry._SUBJECTS.pop("nothing_at_all")
