"""The pages of generated mutants: both scores, and a reason for each survivor."""

import importlib
from collections import Counter

import pytest

from ci.pages import mutation_score_models as models
from ci.pages.fates import caught_alone, fate_tables, score
from ci.pages.mutation_score import MEANINGS, names_of_the_earlier_sample, page, records
from ci.pages.survivor_reasons import REASONS, reason_of, start_of

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
    unseen = [one for one in fates if one["name"] not in names_of_the_earlier_sample()]
    assert len(fates) > len(unseen) > 0
    of_unseen = Counter(one["fate"] for one in unseen)
    assert f"**{score(of_unseen)}**, by a property alone **{caught_alone(of_unseen)}**" in text


@pytest.mark.parametrize("one", SURVIVORS, ids=start_of)
def test_a_survivor_has_a_reason_and_its_function_exists(one):
    assert reason_of(one)
    assert exists(one)


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
