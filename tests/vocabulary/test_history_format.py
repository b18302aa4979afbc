"""The description of the format: current, complete, and the same as what reader and writer do."""

from __future__ import annotations

import json

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
from tests.builders.json_schema import validator
from tests.vocabulary.histories import histories

VALIDATOR = validator(json_schema())


@pytest.mark.long
@given(histories())
def test_every_written_line_is_valid_by_the_schema(history):
    for line in write_history(history):
        assert VALIDATOR.is_valid(json.loads(line))


@pytest.mark.long
@given(histories(), st.data())
def test_line_that_the_schema_refuses_is_refused_by_the_reader(history, data):
    lines = list(write_history(history))
    number = data.draw(st.integers(0, len(lines) - 1))
    value = json.loads(lines[number])
    name = data.draw(st.sampled_from([*value, "nonsense"]))
    value[name] = data.draw(st.none() | st.booleans() | st.text(max_size=3) | st.lists(st.none()))
    lines[number] = json.dumps(value)
    if not VALIDATOR.is_valid(value):
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
