"""Programs: choices as bytes and as one word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.programs import (
    decode_program,
    encode_program,
    format_program,
    parse_program,
)

choices = st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 200))


@given(choices)
def test_program_round_trips_as_bytes_and_as_text(made):
    program = encode_program(made)
    assert decode_program(program) == tuple(made)
    assert parse_program(format_program(program)) == program


@given(st.lists(st.integers(0, 127)))
def test_program_of_small_choices_is_one_byte_each(made):
    assert encode_program(made) == bytes(made)


@given(st.binary(max_size=30))
def test_any_bytes_are_a_program_with_one_encoding_or_refused(program):
    try:
        made = decode_program(program)
    except ParaplyError:
        return
    assert encode_program(made) == program


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("80", "ends inside a choice, after 1 bytes"),
        ("8000", "ends at byte 1 is padded"),
        ("ff" * 9 + "01", "byte 8 is too large"),
    ],
)
def test_malformed_program_is_refused_with_the_place(program, reason):
    with pytest.raises(ParaplyError, match=reason):
        decode_program(bytes.fromhex(program))


@pytest.mark.parametrize("text", ["!", "A", "é", "AA=A", "AA+/", "AB"])
def test_malformed_program_text_is_refused(text):
    with pytest.raises(ParaplyError, match="P503"):
        parse_program(text)


@pytest.mark.parametrize("choice", [-1, 2**63])
def test_choice_outside_the_range_is_refused(choice):
    with pytest.raises(ValueError, match="a choice lies in"):
        encode_program([choice])
