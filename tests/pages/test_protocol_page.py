"""The page and the schema of the conformance protocol say what is said."""

import json

import pytest

from ci.pages.protocol import PAGE, SCHEMA, example_conversation, json_schema, pages
from paraply.adapters.conformance.protocol import MESSAGES, Speaker


def fits(value, schema, definitions):
    """Return whether a value fits as much of JSON Schema as the schema uses."""
    if "$ref" in schema:
        return fits(value, definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "oneOf" in schema:
        return sum(fits(value, one, definitions) for one in schema["oneOf"]) == 1
    if "const" in schema and value != schema["const"]:
        return False
    if "type" in schema and not is_of_type(value, schema["type"]):
        return False
    if not isinstance(value, dict):
        return True
    if "anyOf" in schema and not any(
        set(one["required"]) <= value.keys() for one in schema["anyOf"]
    ):
        return False
    return set(schema.get("required", ())) <= value.keys() and all(
        fits(value[name], one, definitions)
        for name, one in schema.get("properties", {}).items()
        if name in value
    )


def is_of_type(value, names):
    types = {
        "integer": int, "string": str, "array": list, "object": dict, "null": type(None),
    }  # fmt: skip
    if isinstance(value, bool):
        return False
    return isinstance(
        value, tuple(types[name] for name in ([names] if isinstance(names, str) else names))
    )


def test_whole_conversation_fits_the_schema():
    schema = json_schema()
    conversation = example_conversation()
    assert {message["type"] for _, message in conversation} >= {
        "init", "init_ok", "txn", "begin", "row", "ok", "commit", "end", "end_ok", "checkpoint",
    }  # fmt: skip
    for _, message in conversation:
        assert fits(message, schema, schema["$defs"]), message


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
    schema = json_schema()
    assert not fits(message, schema, schema["$defs"])


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
