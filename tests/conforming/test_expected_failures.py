"""Files of expected failures that cannot be used say why."""

from __future__ import annotations

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.conforming.expected_failures import read_expected_failures
from paraply.vocabulary.errors import ParaplyError

CASES = cases_named(["A-random-01"])
ENTRY = 'case = "A-random-01"\nreason = "known"\nlink = "https://example.com/1"\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("zebra = 1\nape = 2\n", "there is ape, zebra in it"),
        ("expected = 1\n", "there is no list in it"),
        ("[[expected]]\n" + ENTRY.replace("known", " "), "entry 1 has no reason"),
        ("[[expected]]\n" + ENTRY.replace("01", "99"), "entry 1: there is no case A-random-99"),
    ],
)
def test_reason_is_told(tmp_path, text, reason):
    path = tmp_path / "expected.toml"
    path.write_text(text)
    with pytest.raises(ParaplyError, match=f"P340.*{reason}"):
        read_expected_failures(path, CASES)


def test_entries_are_found_by_case(tmp_path):
    path = tmp_path / "expected.toml"
    path.write_text("[[expected]]\n" + ENTRY)
    (found,) = read_expected_failures(path, CASES).items()
    assert found[0] == found[1].case == "A-random-01"
    assert (found[1].reason, found[1].link) == ("known", "https://example.com/1")
