"""docs/live-results.md, from results as ``paraply live --json`` writes them."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from ci.live_results import commands
from ci.pages import writing as pages
from ci.pages.live_results import HEALTHY, PAGE, is_wider, page
from ci.pages.stored_results import read_results
from ci.pages.writing import ROOT
from paraply.adapters.live.targets import TARGETS
from paraply.reporting.live_text import result_json
from tests.observing.test_live_judging import broken, healthy, result


def results():
    return [
        result_json(one) for one in (result(broken(), fault="break"), result(healthy(), healthy(2)))
    ]


def test_page_is_current():
    assert PAGE.generated()[PAGE.page] == (ROOT / PAGE.page).read_text(encoding="utf-8")


def test_page_shows_verdicts_counts_and_commands():
    text = page(PAGE.merged([], results()))
    assert "## toy" in text
    assert "| transactions | 6 |" in text
    assert "| `no_event_is_lost` | holds (2) |" in text
    assert "`no_event_is_lost` (control)" in text
    assert "lacks T3" in text
    assert "- `paraply live toy --mode plain --fault break`" in text


def test_notes_that_differ_in_numbers_are_shown_once_under_their_fault():
    first, second, other = (result_json(result(healthy(), fault=f)) for f in ("cut", "cut", "kill"))
    first["notes"] = ["12 bytes were lost", "cut: control"]
    second["notes"] = ["4,096 bytes were lost"]
    other["notes"] = ["12 bytes were lost"]
    _, _, noted = page([first, second, other]).partition("### What the runs noted\n\n")
    assert noted.partition("\n\n")[0].splitlines() == [
        "- cut:",
        "    - 4,096 bytes were lost (noted 2 times, with other numbers)",
        "    - control",
        "- kill:",
        "    - 12 bytes were lost",
    ]


def test_control_that_stays_silent_is_said_to():
    text = page(PAGE.merged([], [result_json(result(healthy(), fault="break"))]))
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
    assert [one["rounds"] for one in PAGE.merged([older], [newer])] == [2]
    struck = result_json(result(broken(), fault="break"))
    assert [one["fault"] for one in PAGE.merged([struck], [newer])] == ["none", "break"]


def test_paths_of_findings_are_not_stored():
    value = results()[0] | {"findings": ["somewhere.jsonl"]}
    assert "findings" not in PAGE.merged([], [value])[0]


def test_page_of_nothing_has_no_tables():
    assert "|" not in page([])


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A source tree whose page is of no results yet."""
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / PAGE.page).write_text("<!-- generated: results -->\n<!-- end -->\n")
    assert PAGE.main(["--write"]) == 0
    return tmp_path


@pytest.mark.parametrize("more", [[], ["--write"]])
def test_results_of_a_file_are_stored_and_the_page_is_written(tree, more):
    (tree / "one.json").write_text(json.dumps({"results": results()[:1]}))
    (tree / "other.json").write_text(json.dumps({"results": results()[1:]}))
    assert PAGE.main(["--add", str(tree / "one.json"), str(tree / "other.json"), *more]) == 0
    assert PAGE.stored() == PAGE.merged([], results())
    assert page(PAGE.merged([], results())) in (tree / PAGE.page).read_text()
    assert PAGE.main(["--check"]) == 0


@pytest.mark.parametrize(
    "text", [None, "{", "7", "[7]", '{"target": "toy"}', '[{"target": "toy"}]']
)
def test_file_without_results_is_named_and_nothing_is_stored(tree, text, capsys):
    good, bad = tree / "good.json", tree / "bad.json"
    good.write_text(json.dumps({"results": results()}))
    if text is not None:
        bad.write_text(text)
    assert PAGE.main(["--add", str(good), str(bad)]) == 3
    assert f"P307 {bad}: nothing could be read" in capsys.readouterr().err
    assert PAGE.stored() == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--add"], "expected at least one argument"),
        (["--add", "a.json", "--check"], "does not go with --check"),
        (["--add", "a.json", "--wirte"], "does not go with --wirte"),
    ],
)
def test_wrong_usage_is_told_and_not_traced(tree, arguments, why, capsys):
    assert PAGE.main(arguments) == 3
    assert why in capsys.readouterr().err


def test_missing_file_has_no_results(tmp_path):
    assert read_results(tmp_path / "none.jsonl") == []


def test_stored_results_hold_what_the_project_claims():
    stored = PAGE.stored()
    assert stored, "no live results are stored"
    for one in stored:
        json.dumps(one)
        for each in one["properties"]:
            if each["verdict"] == "violated":
                assert each["documented"], (one["command"], each["name"], each["why"])


def test_stored_healthy_modes_have_twenty_thousand_transactions_each():
    ran = Counter()
    for one in PAGE.stored():
        if one["fault"] == HEALTHY and not is_wider(one):
            ran[one["target"], one["mode"]] += one["transactions"]
    # Servers that are already there have the settings of somebody else, not modes of ours.
    del ran["existing", "as-configured"]
    # MySQL 9.7 has no DATABASE mode any more.
    wanted = {
        (target.name, mode)
        for target in TARGETS if target.name != "existing"
        for mode in target.modes if (target.name, mode) != ("mysql", "database")
    }  # fmt: skip
    assert wanted <= set(ran)
    assert {key: count for key, count in ran.items() if count < 20_000} == {}


def test_wider_results_are_stored_of_every_mode_and_hold():
    wider = [one for one in PAGE.stored() if is_wider(one)]
    modes = {"mariadb": ("optimistic", "conservative", "aggressive", "minimal")}
    modes["mysql"] = ("logical-clock",)
    assert {(one["target"], one["mode"]) for one in wider} == {
        (target, mode) for target, own in modes.items() for mode in own
    }
    for one in wider:
        assert one["request"]["replicas"] == 2
        assert one["request"]["domains"] == 3
        assert one["transactions"] >= 6_000


def test_wider_results_have_a_table_of_their_own():
    one = result_json(result(healthy()))
    wider = {**one, "request": one["request"] | {"replicas": 2, "domains": 3}}
    text = page(PAGE.merged([], [one, wider]))
    before, after = text.split("### Several domains or replicas, nothing done to the servers")
    assert "| | plain |" in before
    assert "| | plain, 2 replicas, 3 domains |" in after


def test_servers_of_either_family_that_were_there_stand_side_by_side():
    one = result_json(result(healthy()))
    command = "paraply live existing --mode plain --dsn mysql://me@a mysql://me@b mysql://me@c"
    both = [
        one | {"command": command, "evidence": one["evidence"] | {"server": server}}
        for server in ("MySQL 9.7.4", "MariaDB 10.11.19")
    ]
    text = page(PAGE.merged([], both))
    assert "| | plain, MariaDB 10.11.19, 2 replicas | plain, MySQL 9.7.4, 2 replicas |" in text


def test_stored_results_are_made_again_by_the_module_that_says_so():
    stored = {one["command"] for one in PAGE.stored()}
    wanted = set(commands([]))
    # MySQL 9.7 has no DATABASE mode any more.
    assert stored == {one for one in wanted if "--mode database" not in one}


def test_stored_controls_that_take_no_luck_came_out():
    silent = []
    for one in PAGE.stored():
        controls = [each for each in one["properties"] if each["documented"]]
        if controls and not any(each["rare"] or each["verdict"] == "violated" for each in controls):
            silent.append(one["command"])
    assert silent == []
