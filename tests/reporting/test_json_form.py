from __future__ import annotations

import json
from typing import Annotated, TypedDict

import pytest

from ci.pages.audit_json import SCHEMA_PATH, pages
from ci.pages.writing import stale_pages
from paraply.reporting.audit.json_form import render_json, to_document
from paraply.reporting.audit.json_schema import schema_of
from tests.builders.audit_results import holding_result, violated_result
from tests.builders.audit_situations import EVERY_SITUATION, HOSTILE
from tests.builders.json_schema import faults

NAMED_IN_THE_TASK = {
    "verdict", "files", "transactions", "row_changes", "tables", "commit_groups", "lint",
    "violations", "replay", "parallelism", "assumptions",
}  # fmt: skip


def schema():
    return json.loads(pages()[SCHEMA_PATH])


@pytest.mark.parametrize("situation", EVERY_SITUATION)
def test_document_fits_the_generated_schema(situation):
    document = json.loads(render_json(EVERY_SITUATION[situation]()))
    assert faults(document, schema()) == []


def test_schema_refuses_a_verdict_that_is_no_verdict():
    document = json.loads(render_json(holding_result()))
    document["verdict"] = "probably"
    assert faults(document, schema()) == [
        "$.verdict: 'probably' is not one of ['holds', 'unknown', 'violated']"
    ]


def test_schema_refuses_a_missing_and_an_unknown_field():
    document = json.loads(render_json(violated_result()))
    del document["violations"][0]["later"]
    document["violations"][0]["latter"] = {}
    missing, unknown = sorted(faults(document, schema()))
    assert missing == "$.violations[0]: 'later' is a required property"
    assert "'latter' was unexpected" in unknown


def test_generated_page_and_schema_are_current():
    assert stale_pages(pages()) == []


def test_every_field_that_users_were_promised_is_there():
    document = to_document(violated_result())
    assert set(document) >= NAMED_IN_THE_TASK
    assert document["commit_groups"] == {
        "count": 1_241,
        "sizes": {"1": 640, "2": 310, "3": 140, "4": 96, "6": 40, "9": 12, "17": 3},
    }
    assert set(document["replay"]) >= {
        "before_images_found", "before_images_missing", "duplicate_keys", "final_rows",
    }  # fmt: skip
    assert set(document["parallelism"]["logical-clock"]) >= {
        "critical_path", "steps", "width_max", "ideal_speedup", "speedup",
    }  # fmt: skip
    assert document["violations"][0]["earlier"] == {
        "ordinal": 411,
        "gtid": "3e11fa47-71ca-11e1-9e33-c80aa9429562:411",
        "file": "binlog.000007",
        "offset": 128_429,
        "last_committed": 408,
        "sequence_number": 411,
        "commit_id": None,
    }


def test_hostile_text_survives_parsing_and_does_nothing_when_printed():
    written = render_json(EVERY_SITUATION["hostile"]())
    assert json.loads(written)["assumptions"] == [HOSTILE]
    assert [c for c in written if not c.isprintable() and c != "\n"] == []


def test_infinite_speedup_is_refused_rather_than_written_as_no_json():
    result = holding_result()
    result.width_over_time = [(1, float("inf"))]
    with pytest.raises(ValueError, match="JSON compliant"):
        render_json(result)


def test_field_without_a_meaning_cannot_be_documented():
    class Silent(TypedDict):
        said: Annotated[int, "Something."]
        unsaid: int

    with pytest.raises(TypeError, match=r"Silent\.unsaid"):
        schema_of(Silent, identifier="silent")
