"""docs/live-results.md, from results as ``paraply live --json`` writes them."""

from __future__ import annotations

import json
from collections import Counter

from adapters.live.targets import TARGETS
from ci.live_results import commands
from paraply.live_results_page import (
    HEALTHY,
    PAGE_PATH,
    RESULTS_PATH,
    generated,
    merged,
    page,
    read_results,
)
from paraply.pages import ROOT
from paraply.report.live_text import result_json
from tests.paraply.test_live_judging import broken, healthy, result


def results():
    return [
        result_json(one) for one in (result(broken(), fault="break"), result(healthy(), healthy(2)))
    ]


def test_page_is_current():
    assert generated()[PAGE_PATH] == (ROOT / PAGE_PATH).read_text(encoding="utf-8")


def test_page_shows_verdicts_counts_and_commands():
    text = page(merged([], results()))
    assert "## toy" in text
    assert "| transactions | 6 |" in text
    assert "| `no_event_is_lost` | holds (2) |" in text
    assert "`no_event_is_lost` (control)" in text
    assert "lacks T3" in text
    assert "- `paraply live toy --mode plain --fault break`" in text


def test_control_that_stays_silent_is_said_to():
    text = page(merged([], [result_json(result(healthy(), fault="break"))]))
    assert "control silent: `no_event_is_lost`" in text


def test_control_that_takes_luck_is_said_not_to_have_fired():
    silent, fired = (result_json(result(one, fault="break")) for one in (healthy(), broken()))
    for one in (silent, fired):
        for each in one["properties"]:
            each["rare"] = True
    assert "control did not fire in these runs (it takes luck): `no_event_is_lost`" in page(
        [silent]
    )
    assert "did not fire in these runs (" not in page([fired])


def test_newer_result_takes_the_place_of_the_older_of_its_kind():
    older, newer = result_json(result(healthy())), result_json(result(healthy(), healthy(2)))
    assert [one["rounds"] for one in merged([older], [newer])] == [2]
    struck = result_json(result(broken(), fault="break"))
    assert [one["fault"] for one in merged([struck], [newer])] == ["none", "break"]


def test_paths_of_findings_are_not_stored():
    value = results()[0] | {"findings": ["somewhere.jsonl"]}
    assert "findings" not in merged([], [value])[0]


def test_page_of_nothing_has_no_tables():
    assert "|" not in page([])


def test_missing_file_has_no_results(tmp_path):
    assert read_results(tmp_path / "none.jsonl") == []


def test_stored_results_hold_what_the_project_claims():
    stored = read_results(ROOT / RESULTS_PATH)
    assert stored, "no live results are stored"
    for one in stored:
        json.dumps(one)
        for each in one["properties"]:
            if each["verdict"] == "violated":
                assert each["documented"], (one["command"], each["name"], each["why"])


def test_stored_healthy_modes_have_twenty_thousand_transactions_each():
    ran = Counter()
    for one in read_results(ROOT / RESULTS_PATH):
        if one["fault"] == HEALTHY:
            ran[one["target"], one["mode"]] += one["transactions"]
    # MySQL 9.7 has no DATABASE mode any more; servers that are already there are somebody else's.
    wanted = {
        (target.name, mode)
        for target in TARGETS if target.name != "existing"
        for mode in target.modes if (target.name, mode) != ("mysql", "database")
    }  # fmt: skip
    assert wanted <= set(ran)
    assert {key: count for key, count in ran.items() if count < 20_000} == {}


def test_stored_results_are_made_again_by_the_module_that_says_so():
    stored = {one["command"] for one in read_results(ROOT / RESULTS_PATH)}
    wanted = {command for _, command in commands([])}
    # MySQL 9.7 has no DATABASE mode any more.
    assert stored == {one for one in wanted if "--mode database" not in one}


def test_stored_controls_that_take_no_luck_came_out():
    silent = []
    for one in read_results(ROOT / RESULTS_PATH):
        controls = [each for each in one["properties"] if each["documented"]]
        if controls and not any(each["rare"] or each["verdict"] == "violated" for each in controls):
            silent.append(one["command"])
    assert silent == []
