"""docs/claims.md, from results as ``paraply live --workload list-append --json`` writes them."""

from __future__ import annotations

import json
import shlex

import pytest

from ci.client_claims import commands
from ci.pages import claims as claims_page
from ci.pages.claims import PAGE
from ci.pages.writing import ROOT
from paraply.adapters.live.clients.options import ClientOptions, IsolationLevel
from paraply.adapters.live.clients.site import wait_named
from paraply.adapters.live.target import target_named
from paraply.adapters.live.targets import TARGETS
from paraply.cli import build_parser
from paraply.cli import main as paraply
from paraply.commands.live import client_requests
from paraply.reporting.clients_text import client_json
from tests.observing.test_client_judging import LOST_UPDATE, judged, recording, round_of


def result(level=IsolationLevel.REPEATABLE_READ, *texts):
    options = ClientOptions(isolation=level)
    return client_json(judged("galera", "multi-master", options, round_of(recording(*texts))))


def test_page_is_current():
    assert PAGE.generated()[PAGE.page] == (ROOT / PAGE.page).read_text(encoding="utf-8")


def test_page_shows_what_was_refuted_with_the_smallest_witness_and_the_command():
    text = "\n".join(
        claims_page.results_lines([result(IsolationLevel.REPEATABLE_READ, *LOST_UPDATE)])
    )
    row = next(line for line in text.splitlines() if line.startswith("| multi-master"))
    assert "| **violated** | P4 1 (1 between servers), G-single" in row
    assert (
        "- **P4** (refuted, as published; multi-master, repeatable-read, list-append): T102" in text
    )
    assert "GTID 0-1-103 at bin.000001:103" in text
    assert "- `paraply live galera --mode multi-master --workload list-append" in text


def test_new_results_replace_those_of_the_same_options():
    old, other = result(), result(IsolationLevel.SERIALIZABLE)
    new = {**result(), "rounds": 9}
    assert [one["rounds"] for one in PAGE.merged([old, other], [new])] == [9, 1]


def test_stored_results_have_no_refuted_promise_that_no_document_or_report_describes():
    stored = PAGE.stored()
    assert stored
    for one in stored:
        assert not [each for each in one["findings"] if each["status"] == "refuted"], one["command"]


def test_file_without_results_is_refused(tmp_path, capsys):
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"results": [{"target": "galera"}]}))
    assert PAGE.main(["--add", str(file)]) == 3
    assert "P307" in capsys.readouterr().err


@pytest.mark.parametrize("command", list(commands()))
def test_every_recorded_command_is_accepted(command):
    words = shlex.split(command)
    arguments = build_parser(words[1:]).parse_args(words[1:])
    target = target_named(arguments.target, TARGETS)
    assert [one.duration_s for one in client_requests(target, arguments)] == [20]
    wait_named(target.name, arguments.wait)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--wait", "gtid-wait"], "P620"),
        (["--fault", "kill-member"], "--fault does not go with --workload list-append"),
        (["--html", "pages"], "--html does not go with --workload list-append"),
        (["--keys", "1"], "--keys must be at least 2"),
        (["--read-only", "2"], "'2' is not a share from 0 to 1"),
    ],
)
def test_wrong_requests_are_refused_before_a_server_starts(words, what, capsys):
    command = ["live", "galera", "--workload", "list-append", *words]
    try:
        code = paraply(command)
    except SystemExit as end:
        code = end.code
    assert code == 3
    assert what in capsys.readouterr().err
