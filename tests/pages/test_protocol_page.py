"""The page and the schema of the conformance protocol say what is said."""

import json

import pytest

from ci.pages.protocol import PAGE, SCHEMA, example_conversation, json_schema, pages
from paraply.adapters.conformance.protocol import MESSAGES, Speaker
from tests.builders.json_schema import validator


def test_whole_conversation_fits_the_schema():
    schema = validator(json_schema())
    conversation = example_conversation()
    assert {message["type"] for _, message in conversation} >= {
        "init", "init_ok", "txn", "begin", "row", "ok", "commit", "end", "end_ok", "checkpoint",
    }  # fmt: skip
    for _, message in conversation:
        assert schema.is_valid(message), message


@pytest.mark.parametrize(
    "message",
    [
        {"type": "begin", "msg_id": 1, "worker": 1},
        {"type": "begin", "worker": 1, "txn": 1},
        {"type": "row", "msg_id": 1, "worker": "1", "txn": 1},
        {"type": "shout"},
        {"type": "checkpoint", "upto": True},
    ],
)
def test_malformed_message_does_not_fit(message):
    assert not validator(json_schema()).is_valid(message)


def test_page_has_every_message_under_its_speaker():
    text = pages()[PAGE]
    harness, applier = text.split("## Messages from the harness")[1].split(
        "## Messages from the applier"
    )
    for spec in MESSAGES:
        part = harness if spec.speaker is Speaker.HARNESS else applier
        assert f"### `{spec.type}`" in part
    assert "`init` and its answer" not in text
    assert json.loads(pages()[SCHEMA])["$defs"].keys() == {spec.type for spec in MESSAGES}


def test_example_waits_for_the_first_writer():
    said = [(m["type"], m.get("txn")) for _, m in example_conversation()]
    assert said.index(("begin", 3)) > said.index(("commit", 1))
