"""SARIF: every finding once, at its bytes of the log, in words and with evidence."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.cli import main
from paraply.reporting.audit.advice import grouped
from paraply.reporting.audit.sarif import render_sarif
from paraply.reporting.files import kind_of
from paraply.reporting.sarif import SarifPlace, uri_of
from paraply.vocabulary.verdict import Verdict
from tests.auditing.test_audit_command import UNSAFE, write_log
from tests.builders.audit_results import violated_result
from tests.builders.audit_situations import EVERY_SITUATION
from tests.builders.json_schema import published_sarif, run_of_sarif

URI_CHARACTERS = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-F]{2})*")
GTID_EVENT = 33


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_every_finding_is_one_result_of_a_declared_rule(situation):
    result = EVERY_SITUATION[situation]()
    text = render_sarif(result)
    run = run_of_sarif(text)
    counts = dict.fromkeys(("error", "warning", "note"), 0)
    for entry in run["results"]:
        counts[entry["level"]] += 1
        (location,) = entry["locations"]
        assert location["physicalLocation"]["region"]["byteOffset"] >= 0
        assert entry["message"]["text"].endswith((".", "!", "?"))
    severities = [finding.severity for finding in result.lint]
    certain = [violation.certain for violation in result.violations]
    assert counts["error"] == (
        sum(certain) + len(result.replay.findings) + severities.count("violation")
    )
    assert counts["warning"] == (
        certain.count(False) + severities.count("warning") + len(grouped(result.unknown_because))
    )
    dropped = (result.violations_dropped, result.lint_dropped, result.replay.findings_dropped)
    assert counts["note"] == severities.count("note") + sum(map(bool, dropped))
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert set(rules) == {entry["ruleId"] for entry in run["results"]}
    assert len(rules) == len(set(rules))
    assert run["properties"]["verdict"] == result.verdict.word
    if result.verdict is Verdict.HOLDS:
        assert not counts["error"]
    assert kind_of(text.encode()) == "SARIF"
    assert [c for c in text if not c.isprintable() and c != "\n"] == []


@given(
    st.text(st.characters(blacklist_categories=("Cs",)), min_size=1).map(lambda name: f"/{name}")
)
def test_any_file_name_becomes_a_uri_that_gives_it_back(name):
    uri = uri_of(name)
    assert URI_CHARACTERS.fullmatch(uri)
    assert unquote_to_bytes(uri.removeprefix("file://")) == name.encode()


def test_name_of_a_file_is_relative_where_it_was_and_a_url_stays_one():
    assert uri_of("logs/bin log.000001") == "logs/bin%20log.000001"
    assert uri_of("s3://bucket/bin.000001?v=1") == "s3://bucket/bin.000001?v=1"
    assert "byteLength" not in str(SarifPlace(file="a").location())


@pytest.fixture
def unsafe_log(tmp_path):
    path = tmp_path / "bin.000001"
    return path, write_log(path, UNSAFE)


def test_places_are_the_bytes_of_the_two_transactions(unsafe_log, tmp_path, capsys):
    log, offsets = unsafe_log
    report = tmp_path / "r.sarif"
    assert main(["audit", str(log), "--sarif", str(report)]) == 1
    (entry,) = [
        each for each in run_of_sarif(report.read_text())["results"] if each["level"] == "error"
    ]
    assert entry["ruleId"] == "conflicting_transactions_are_ordered"
    data = log.read_bytes()
    (later,), (earlier,) = entry["locations"], entry["relatedLocations"]
    for place, number in ((later, 4), (earlier, 2)):
        place = place["physicalLocation"]
        assert place["artifactLocation"]["uri"] == f"file://{log}"
        begin, length = place["region"]["byteOffset"], place["region"]["byteLength"]
        assert begin == offsets[number]
        assert data[begin + 4] == GTID_EVENT
        assert begin + length == offsets.get(number + 1, len(data))
    assert entry["properties"]["later"]["sequence_number"] == 4
    assert entry["properties"]["earlier"]["gtid"] in entry["message"]["text"]


def test_place_of_a_file_that_stops_is_where_reading_ended(unsafe_log, tmp_path, capsys):
    log, offsets = unsafe_log
    log.write_bytes(log.read_bytes()[: offsets[4] + 10])
    assert main(["audit", str(log), "--sarif", "-"]) == 2
    entries = run_of_sarif(capsys.readouterr().out)["results"]
    (entry,) = [each for each in entries if each["ruleId"] == "file_is_read_to_its_end"]
    region = entry["locations"][0]["physicalLocation"]["region"]
    assert region == {"byteOffset": offsets[4] + 10}
    assert "To find out:" in entry["message"]["text"]


def test_input_is_never_replaced_and_tables_have_no_sarif(unsafe_log, tmp_path, capsys):
    log, _ = unsafe_log
    before = log.read_bytes()
    assert main(["audit", str(log), "--sarif", str(log), "--force"]) == 3
    assert "P311" in capsys.readouterr().err
    assert log.read_bytes() == before
    table = tmp_path / "t.parquet"
    table.write_bytes(b"PAR1")
    sarif = str(tmp_path / "r.sarif")
    assert main(["audit", str(table), "--spark", "--master=none", "--sarif", sarif]) == 3
    assert "--sarif goes with binary logs" in capsys.readouterr().err


def test_published_schema_refuses_a_level_that_it_does_not_know():
    document = json.loads(render_sarif(violated_result()))
    assert published_sarif().is_valid(document)
    document["runs"][0]["results"][0]["level"] = "fatal"
    assert not published_sarif().is_valid(document)
