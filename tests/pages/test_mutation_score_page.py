"""The pages of generated mutants: both scores, and a reason for each survivor."""

import importlib
from collections import Counter
from types import SimpleNamespace

import pytest

from ci.mutation.again import left
from ci.pages import mutation_score_models as models
from ci.pages.fates import caught_alone, fate_tables, read_records, score
from ci.pages.mutation_score import (
    LATER,
    MEANINGS,
    NOT_CAUGHT,
    NOT_GENERATED,
    counts_today,
    page,
    records,
    records_again,
    today_of,
)
from ci.pages.survivor_reasons import GONE, REASONS, reason_of, start_of

SURVIVORS = [one for one in records()[1] if one["fate"] == "survived"]


def exists(one):
    """Return whether today's code has the mutant's function."""
    found = importlib.import_module(f"paraply.{one['module']}")
    for part in one["place"].split("."):
        found = getattr(found, part, None)
    return found is not None


def test_noticed_mutants_count_in_one_score_only():
    counts = Counter(caught=6, noticed=2, survived=2, legal=5, same=5, crashed=5)
    assert (score(counts), caught_alone(counts)) == ("80.0 % of 10", "60.0 % of 10")
    assert caught_alone(Counter(crashed=1)) == "none counts"


def test_both_scores_stand_beside_each_other_by_module():
    fates = [{"module": "m", "fate": fate} for fate in ("caught", "noticed")]
    *_, last = fate_tables(fates, MEANINGS, alone="alone")
    assert last.endswith("| 100.0 % of 2 | 50.0 % of 2 |")


def test_the_page_counts_what_the_data_has():
    note, fates = records()
    counts = Counter(one["fate"] for one in fates)
    text = page(note, fates)
    assert f"alone it is **{caught_alone(counts)}**" in text
    assert f"No run of the {counts['survived']} survivors" in text
    assert f"Left out of both are {counts['crashed']} crashed" in text
    later = read_records(LATER)[1]
    new = [one for one in later if one["name"] not in {known["name"] for known in fates}]
    assert len(later) > len(new) > 0
    for sample in (later, new):
        fates_of = Counter(one["fate"] for one in sample)
        assert f"**{score(fates_of)}**, by a property alone **{caught_alone(fates_of)}**" in text


@pytest.mark.parametrize("one", SURVIVORS, ids=start_of)
def test_a_survivor_has_a_reason_that_says_whether_its_function_is_gone(one):
    assert reason_of(one).startswith(GONE) is not exists(one)


def test_a_survivor_without_a_reason_is_noticed():
    with pytest.raises(LookupError, match="other:f"):
        reason_of({"name": "paraply.reference_impl.other:f:`1` → `2`#1"})


def test_each_reason_is_of_a_survivor():
    starts = [start_of(one) for one in SURVIVORS]
    assert [key for key in REASONS if not any(one.startswith(key) for one in starts)] == []


def test_models_are_scored_without_what_only_the_surroundings_notice():
    fates = [
        {
            "fate": fate,
            "by": by,
            "what": "guard dropped: x",
            "module": "m",
            "place": "a",
            "where": "",
        }
        for fate, by in (("caught", "proof"), ("caught", "surroundings"), ("survived", ""))
    ]
    text = models.page({"total": 9, "each": 3, "seed": 1}, fates)
    assert "**66.7 % of 3**. Without the 1 that only the surroundings" in text
    assert "it is **33.3 % of 3**" in text
    assert "| `m` | 2 | 1 |  | 66.7 % of 3 | 33.3 % of 3 |" in text


def test_todays_fate_of_a_survivor_names_the_property():
    again = {
        "a": {"fate": "caught", "by": "replica_never_stalls"},
        "b": {"fate": "legal", "by": ""},
    }
    shown = [today_of({"name": name}, again) for name in ("a", "b", "c")]
    assert shown == ["caught by `replica_never_stalls`", "legal", NOT_GENERATED]


def test_only_uncaught_mutants_without_a_fate_of_today_are_judged_again():
    mutants = [SimpleNamespace(name=name) for name in "abcde"]
    fates = [{"name": "a", "fate": "survived"}, {"name": "b", "fate": "survived"}]
    fates += [{"name": "c", "fate": "caught"}, {"name": "d", "fate": "noticed"}]
    assert left(fates, {"a": {}}, mutants) == [mutants[1], mutants[3]]


def test_every_mutant_that_is_judged_again_was_not_caught_and_has_its_function():
    uncaught = [one for one in records()[1] if one["fate"] in NOT_CAUGHT]
    found = [one for one in uncaught if one["name"] in records_again()]
    assert len(found) == len(records_again())
    assert all(map(exists, found))


def test_todays_fates_take_the_place_of_those_that_no_property_caught():
    fates = [{"name": "a", "fate": "caught"}]
    fates += [{"name": name, "fate": "noticed"} for name in "bc"]
    fates += [{"name": name, "fate": "survived"} for name in "de"]
    again = {
        "a": {"fate": "survived", "by": ""},
        "b": {"fate": "caught", "by": "replica_never_stalls"},
        "c": {"fate": "noticed", "by": "reads_never_go_back"},
        "d": {"fate": "legal", "by": ""},
    }
    counts = counts_today(fates, again)
    assert counts == {"caught": 2, "noticed": 1, "legal": 1, NOT_GENERATED: 1}
    assert caught_alone(counts) == "66.7 % of 3"
