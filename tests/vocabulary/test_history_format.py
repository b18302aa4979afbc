"""The description of the format: current, complete, and the same as what reader and writer do."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci.pages import history_format
from ci.pages.history_format import attribute_docs, json_schema, pages
from ci.pages.writing import stale_pages
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history_jsonl import read_histories, write_history
from paraply.vocabulary.records import codec_of, record_fields
from tests.vocabulary.histories import histories

SCHEMA = json_schema()


def is_valid(value, schema):
    """Judge a value by the part of JSON Schema that ours uses; any other keyword fails."""
    assert set(schema) <= {
        "$schema", "title", "oneOf", "$defs", "type", "properties", "required",
        "additionalProperties", "items", "uniqueItems", "anyOf", "enum", "const", "$ref",
        "minimum", "maximum", "pattern", "description",
    }  # fmt: skip
    if "$ref" in schema:
        return is_valid(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    if "oneOf" in schema:
        return sum(is_valid(value, each) for each in schema["oneOf"]) == 1
    if "anyOf" in schema:
        return any(is_valid(value, each) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(has_type(value, each) for each in allowed):
        return False
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None
    if isinstance(value, list):
        unique = len({json.dumps(each) for each in value}) == len(value)
        return all(is_valid(each, schema["items"]) for each in value) and (
            unique or not schema.get("uniqueItems")
        )
    if isinstance(value, dict):
        return is_valid_object(value, schema)
    if type(value) is int:
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    return True


def is_valid_object(value, schema):
    known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    return set(schema.get("required", [])) <= set(value) and all(
        is_valid(each, known[name]) if name in known else others and is_valid(each, others)
        for name, each in value.items()
    )


def has_type(value, name):
    kinds = {
        "null": value is None,
        "boolean": isinstance(value, bool),
        "integer": type(value) is int,
        "number": type(value) in (int, float),
        "string": isinstance(value, str),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }
    return kinds[name]


@pytest.mark.long
@given(histories())
def test_every_written_line_is_valid_by_the_schema(history):
    for line in write_history(history):
        assert is_valid(json.loads(line), SCHEMA)


@pytest.mark.long
@given(histories(), st.data())
def test_line_that_the_schema_refuses_is_refused_by_the_reader(history, data):
    lines = list(write_history(history))
    number = data.draw(st.integers(0, len(lines) - 1))
    value = json.loads(lines[number])
    name = data.draw(st.sampled_from([*value, "nonsense"]))
    value[name] = data.draw(st.none() | st.booleans() | st.text(max_size=3) | st.lists(st.none()))
    lines[number] = json.dumps(value)
    if not is_valid(value, SCHEMA):
        with pytest.raises(ParaplyError):
            list(read_histories(lines))


def test_generated_files_are_current():
    assert stale_pages(pages()) == []


@pytest.mark.parametrize("cls", [cls for cls, _ in history_format.LINES.values()])
def test_every_field_of_a_line_is_described(cls):
    assert set(attribute_docs(cls)) == {entry.name for entry in record_fields(cls)}


@pytest.mark.parametrize("cls", [EventKind, *history_format.ENUMS])
def test_every_word_is_described(cls):
    assert set(attribute_docs(cls)) == {member.name for member in cls}


def test_page_names_every_event_kind_and_outcome():
    page = history_format.page()
    assert all(f"| `{word.value}` |" in page for word in [*EventKind, *Outcome])


def test_type_without_a_json_form_is_an_error_of_ours():
    with pytest.raises(TypeError, match="no JSON form for <class 'complex'>"):
        codec_of(complex)


def test_optional_fields_come_after_the_required_ones():
    assert [entry.name for entry in record_fields(Event) if entry.is_required] == ["kind", "time"]
