"""Every report says how many of the relevant situations were decidable."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from paraply.cli import main
from paraply.counterexamples.replaying import Replay
from paraply.properties.logs.conflict_index import Horizon
from paraply.properties.registry import NO_EVIDENCE, Evidence, property_named
from paraply.reporting.evidence import decidable, decidable_pairs
from paraply.reporting.replay_text import Judged, judged_by, replay_json, replay_text
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict
from tests.builders.json_schema import run_of_sarif
from tests.builders.logged import audited, log, stamped
from tests.verifying.small_logs import run
from tests.verifying.workloads import START, transfers

MINIMAL = "tests/fixtures/binlogs/mysql-9.7.4/load-minimal-image/bin.000001"
FORMS = ("json", "junit", "sarif", "html")
PROP = property_named("starts_respect_last_committed")


def reports(capsys, tmp_path, *arguments):
    """Return what a command prints, and the files that it writes, by form."""
    files = {form: tmp_path / f"report.{form}" for form in FORMS}
    main([*arguments, *(f"--{form}={file}" for form, file in files.items())])
    printed = " ".join(capsys.readouterr().out.split())
    return {"text": printed} | {form: file.read_text() for form, file in files.items()}


def situations(relevant, decided):
    return {"relevant": relevant, "decided": decided}


def without_reason(counts):
    assert counts.pop("missing")
    return counts


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("details", [[], ["--details"], ["--plain"]])
def test_every_report_of_an_audit_counts_the_pairs_that_may_overlap(details, capsys, tmp_path):
    found = reports(capsys, tmp_path, "audit", MINIMAL, *details)
    sentence = "at most 246 of 249 situations are decidable"
    assert [form for form in ("text", "junit", "html") if sentence not in found[form]] == []
    document, sarif = json.loads(found["json"]), run_of_sarif(found["sarif"])
    for counts in (document["situations"], sarif["properties"]["situations"]):
        assert without_reason(counts) == situations(249, 246)


UNKEYED = [stamped(n, f"{n}<1", unkeyed=["d.k"]) for n in (2, 3, 4)]
STATEMENT = stamped(3, "3<1", kind=LoggedKind.STATEMENT)


@pytest.mark.parametrize(
    ("transactions", "text"),
    [
        (log("1<0 a", "2<1 b", "3<1 c", "4<3 b"), "1 of 1 situations are decidable"),
        (log("1<0 a", "2<1 a", "3<2 a"), ""),
        (log("1<0 a", "2<0 a"), "1 of 1 situations are decidable"),
        (log("1<0 a", *UNKEYED), "at most 1 of 3 situations are decidable"),
        (log("1<0 a", "2<1 b", STATEMENT), "at most 0 of 1 situations are decidable"),
    ],
)
def test_pairs_with_an_undecided_part_are_no_decided_ones(transactions, text):
    assert decidable_pairs(audited(transactions)) == text


def test_pair_whose_earlier_change_may_be_forgotten_is_in_doubt():
    forgetful = Horizon(transactions=1, keys=1)
    result = audited(log("1<0 a", "2<0 b", "3<0 c"), horizon=forgetful)
    assert 0 < result.pairs_in_doubt < result.pairs_allowed_to_overlap


@pytest.mark.parametrize(
    ("first", "share", "counts"),
    [
        (0, "30 of 30", situations(30, 30)),
        (12, "at most 18 of 30", situations(30, 18)),
    ],
)
def test_every_report_of_two_logs_counts_the_states_compared(
    first, share, counts, capsys, tmp_path
):
    txns, rows = transfers(30, 4), dict(START)
    for txn in txns[:first]:
        rows |= txn.writes
    source = run(txns[first:], tmp_path / "source.000001", rows)
    target = run(txns, tmp_path / "target.000001", START, domain=7)
    found = reports(capsys, tmp_path, "verify", source, "--target", target, "--require", "prefix")
    assert f"; {share} decidable" in found["text"]
    assert f"{share} situations are decidable" in found["junit"]
    assert f"; {share} decidable" in found["html"]
    document, sarif = json.loads(found["json"]), run_of_sarif(found["sarif"])
    for one in (document["situations"], sarif["properties"]["situations"]):
        assert bool(one.pop("missing")) == bool(first)
        assert one == counts


def replayed(*judged):
    history = parse_history("T1{a} 2<1 | begun T1@w1 ; engine_committed T1@w1")
    done = Replay(history=history, questions=())
    text = replay_text(done, judged, title="", was_recorded=False, with_choices=False)
    return text.splitlines(), replay_json(done, judged)["properties"]


def test_replay_counts_the_situations_of_each_property():
    evidence = Evidence(relevant=3, decided=2, missing="no begun of T1 at r1")
    lines, (document,) = replayed(Judged(PROP, Verdict.UNKNOWN, (), evidence))
    assert lines[-1] == (
        "unknown  starts_respect_last_committed: 2 of 3 situations are decidable: "
        "no begun of T1 at r1"
    )
    assert document["situations"] == situations(3, 2) | {"missing": "no begun of T1 at r1"}


def test_replay_shows_each_undecided_property_though_many_have_no_situation():
    absent = [Judged(PROP, Verdict.UNKNOWN, (), NO_EVIDENCE)] * 4
    lacking = Judged(PROP, Verdict.UNKNOWN, (), Evidence(relevant=1, missing="no begun"))
    lines, _ = replayed(*absent, lacking)
    assert lines[-2:] == [
        "unknown  starts_respect_last_committed: 0 of 1 situations are decidable: no begun",
        "unknown  4 whose situation does not occur here",
    ]


def test_replay_judges_a_run_whose_starts_are_not_recorded_as_unknown():
    history = parse_history("T1{a} 2<1 | T2{b} 3<2 | engine_committed T1 ; engine_committed T2")
    tier = replace(history.header, tier=EvidenceTier.COMMIT_ORDER)
    judged = judged_by(PROP, replace(history, header=tier))
    assert judged.verdict is Verdict.UNKNOWN
    assert decidable(judged.evidence) == "0 of 2 situations are decidable"
