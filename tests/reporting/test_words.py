from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.reporting.audit.advice import next_steps
from paraply.reporting.words import (
    consequence_of,
    distance_label,
    drawable_widths,
    headline,
    place_of_finding,
    safety_word,
    sentence,
    server_of,
    share,
    size_bars,
    what_they_share,
    why_they_may_overlap,
)
from paraply.vocabulary.audit_result import AuditResult, FileSummary, Prediction
from paraply.vocabulary.verdict import Verdict
from tests.builders.audit_results import (
    empty_result,
    holding_result,
    mariadb_result,
    truncated_result,
    violated_result,
)


@pytest.mark.parametrize(
    ("part", "text"), [(0, "0%"), (0.004, "<1%"), (0.01, "1%"), (0.61, "61%"), (1, "100%")]
)
def test_share_never_rounds_something_to_nothing(part, text):
    assert share(part) == text


@pytest.mark.parametrize(
    ("power", "text"), [(0, "0"), (1, "1"), (2, "2–3"), (4, "4–7"), (1024, "1024–2047")]
)
def test_distance_is_named_by_its_range(power, text):
    assert distance_label(power) == text


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("the log ends", "The log ends."),
        ("P104 bin.1: cut", "P104 bin.1: cut."),
        ("Really?", "Really?"),
        ("", "."),
    ],
)
def test_sentence_begins_and_ends_like_one(text, result):
    assert sentence(text) == result


@pytest.mark.parametrize(
    ("form", "version", "text"),
    [
        ("mysql", "8.0.36-28.1-log", "MySQL 8.0.36"),
        ("mariadb", "5.5.5-10.11.6-MariaDB-1:10.11.6+maria~deb12-log", "MariaDB 10.11.6"),
        ("mariadb", "10.5.15-MariaDB-1:10.5.15+maria~focal-log", "MariaDB 10.5.15"),
        ("text", "", "text dump"),
        ("", "", ""),
        ("mysql", "unheard-of", "MySQL unheard-of"),
    ],
)
def test_server_is_named_without_what_packagers_add(form, version, text):
    assert server_of(FileSummary(name="bin.1", format=form, server=version)) == text


def test_sizes_past_the_last_bar_share_it():
    sizes = {size: size for size in range(1, 8)}
    assert size_bars(sizes, 4) == [("1", 1), ("2", 2), ("3", 3), ("≥4", 4 + 5 + 6 + 7)]


def test_as_many_sizes_as_bars_are_shown_one_by_one():
    assert size_bars({1: 5, 9: 2}, 2) == [("1", 5), ("9", 2)]


def test_headline_of_each_verdict_gives_its_reason():
    assert "2 pairs of conflicting transactions may be applied" in headline(violated_result())
    assert "18,224 pairs" in headline(holding_result())
    assert headline(empty_result()) == "The log holds no transaction."
    assert headline(truncated_result()).endswith("And 1 more reason.")


def test_verdict_without_a_reason_does_not_read_as_safe():
    assert headline(AuditResult()) == "The evidence does not suffice for a verdict."


def test_uncertain_pairs_are_not_counted_as_certain():
    result = violated_result()
    result.violations[1] = replace(result.violations[1], certain=False)
    assert headline(result).startswith("1 of 2 pairs of conflicting transactions")


def test_overlap_is_explained_from_the_logical_clock_or_the_commit_id():
    violation = violated_result().violations[0]
    assert why_they_may_overlap(violation) == (
        "B waits for sequence numbers up to 408 (its last_committed); A has 411."
    )
    grouped = {"last_committed": None, "sequence_number": None, "commit_id": 17}
    in_one_group = replace(
        violation,
        earlier=replace(violation.earlier, **grouped),
        later=replace(violation.later, **grouped),
    )
    assert why_they_may_overlap(in_one_group) == (
        "Both have commit_id 17: they may run side by side."
    )


def test_pair_that_the_clock_keeps_apart_is_not_explained_away():
    violation = violated_result().violations[0]
    apart = replace(violation, later=replace(violation.later, last_committed=411))
    assert why_they_may_overlap(apart) == ""


def test_advice_about_unknown_comes_first_and_repeats_the_remedy():
    steps = next_steps(truncated_result())
    assert "copy the file again after FLUSH BINARY LOGS" in steps[0]
    assert "binlog_row_metadata=FULL" in steps[1]


def test_advice_does_not_praise_workers_for_a_log_that_is_not_safe():
    steps = " ".join(next_steps(violated_result()))
    assert "worth having" not in steps
    assert "replica_parallel_workers=1" in steps


@pytest.mark.parametrize(
    ("version", "advice"),
    [
        ("8.0.36", "parallelism of the metadata (9.4 against 3.1)."),
        ("8.4.3", "already tracks write sets"),
        ("9.7.4", "already tracks write sets"),
    ],
)
def test_limit_by_rows_names_what_a_server_that_tracks_write_sets_is_limited_by(version, advice):
    result = holding_result()
    for file in result.files:
        file.server = version
    steps = " ".join(next_steps(result))
    assert advice in steps
    # Nothing was simulated, so no setting is recommended.
    assert "binlog_transaction_dependency_tracking" not in steps


def predicted(applier, *gains):
    """Return the prediction of an applier for 2, 4, ... workers."""
    speedup = {2 << place: gain for place, gain in enumerate(gains)}
    return Prediction(applier=applier, setting=applier, safe=Verdict.HOLDS, speedup=speedup)


def test_setting_is_recommended_only_where_its_own_simulation_is_faster():
    result = mariadb_result()
    slower = predicted("mariadb-optimistic", 1.5, 2.2)
    for optimistic, is_worth_it in ((slower, False), (predicted("mariadb-optimistic", 3, 5), True)):
        result.predictions = [predicted("mariadb-conservative", 1.8, 2.4), optimistic]
        steps = " ".join(next_steps(result))
        assert ("slave_parallel_mode=optimistic" in steps) == is_worth_it
        assert "they are 2.4 times as fast as one" in steps
        assert "replica_parallel_workers" not in steps


def test_setting_is_not_recommended_for_a_log_that_is_not_safe():
    result = mariadb_result()
    result.predictions = [predicted("mariadb-optimistic", 3, 5)]
    result.parallelism[0] = replace(result.parallelism[0], safe=Verdict.VIOLATED)
    assert "slave_parallel_mode" not in " ".join(next_steps(result))


def test_advice_is_silent_about_small_gains():
    result = holding_result()
    result.parallelism[1] = replace(result.parallelism[1], ideal_speedup=3.3)
    assert "The rows would allow" not in " ".join(next_steps(result))


def test_safety_of_a_model_is_said_with_what_it_loses():
    words = {model.model: safety_word(model) for model in holding_result().parallelism}
    assert words["by-primary-key"] == "no: 41 pairs"
    assert words["row-conflicts"] == "yes"


def test_model_that_could_not_be_judged_is_neither_safe_nor_unsafe():
    model = replace(holding_result().parallelism[0], safe=Verdict.UNKNOWN)
    assert safety_word(model) == "unknown"


def test_consequence_speaks_of_a_and_b_where_one_gtid_begins_like_the_other():
    violation = violated_result().violations[0]
    pair = replace(
        violation,
        earlier=replace(violation.earlier, gtid="0-1-7"),
        later=replace(violation.later, gtid="0-1-70"),
        consequence="0-1-70 may be applied before 0-1-7: a lost update",
    )
    assert consequence_of(pair) == "B may be applied before A: a lost update."


def test_pair_without_gtids_keeps_the_words_it_has():
    violation = violated_result().violations[0]
    pair = replace(
        violation,
        earlier=replace(violation.earlier, gtid=""),
        later=replace(violation.later, gtid=""),
        consequence="a lost update",
    )
    assert consequence_of(pair) == "A lost update."


@pytest.mark.parametrize(
    ("index", "key", "text"),
    [
        ("PRIMARY", "PRIMARY(1)", "shop.orders PRIMARY(1)"),
        ("DDL", "DROP TABLE t", "the definition of shop.orders: DROP TABLE t"),
        ("XA", "X'01'", "the XA transaction X'01'"),
    ],
)
def test_what_a_pair_shares_is_named_for_what_it_is(index, key, text):
    violation = replace(violated_result().violations[0], index=index, key=key)
    assert what_they_share(violation) == text


def test_one_slice_alone_is_not_drawn():
    result = holding_result()
    assert drawable_widths(result) == result.width_over_time
    result.width_over_time = [(1, 7.0)]
    assert drawable_widths(result) == []


def test_flat_line_is_drawn_for_a_log_that_is_one_wide():
    result = holding_result()
    result.width_over_time = [(1, 1.0), (2, 1.0)]
    result.parallelism[0] = replace(result.parallelism[0], width_max=1)
    assert drawable_widths(result) == result.width_over_time


def test_finding_about_the_whole_log_has_no_place():
    finding = violated_result().lint[0]
    assert place_of_finding(finding) == "binlog.000007:128741"
    assert place_of_finding(replace(finding, file="", offset=0)) == ""
