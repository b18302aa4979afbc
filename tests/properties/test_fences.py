"""Which transactions bear (0, 0): holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.certification.fences import only_beginnings_are_fences
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} origin=s2 | T2{b} origin=s2 | T3:view_change gtid=G:3 | started @s1 ; "


def certifier(*stamps, dialect):
    events = " ; ".join(
        one if "@" in one else f"certified T{place}@s1 positive {one}"
        for place, one in enumerate(stamps, 1)
    )
    return history_of(f"dialect={dialect} {LOG}{events}")


@pytest.mark.parametrize(
    ("dialect", "stamps", "found"),
    [
        ("mysql_8_4", ("0<0", "3<2"), []),
        ("mysql_8_4", ("2<1", "3<2"), [(1, False)]),
        ("mysql_8_3", ("0<0", "0<0"), [(2, True)]),
        ("mysql_8_0", ("2<1", "3<2", "0<0"), []),
        ("mysql_8_0", ("0<0", "3<2"), [(1, True)]),
        ("wl8440", ("2<1", "3<2", "4<1"), [(3, False)]),
    ],
)
def test_fences_are_beginnings(dialect, stamps, found):
    run = certifier(*stamps, dialect=dialect)
    breaches = only_beginnings_are_fences(run)
    assert [(one.transaction, one.is_marked) for one in breaches] == found
    assert verdict(run, only_beginnings_are_fences) is (
        Verdict.VIOLATED if found else Verdict.HOLDS
    )


def test_breach_says_what_is_wrong():
    (late,) = only_beginnings_are_fences(certifier("2<1", dialect="mysql_8_4"))
    assert str(late) == "s1 began with T1 and did not give it (0, 0)"
    (early,) = only_beginnings_are_fences(certifier("0<0", dialect="wl8440"))
    assert str(early) == "s1 gave T1 (0, 0), and nothing begins with it"


def test_member_begins_again_when_it_starts():
    again = "crashed @s1 ; started @s1 ; certified T2@s1 positive"
    assert not only_beginnings_are_fences(certifier("0<0", f"{again} 0<0", dialect="mysql_8_4"))
    assert only_beginnings_are_fences(certifier("0<0", f"{again} 3<2", dialect="mysql_8_4"))


def test_rules_of_other_systems_are_unknown():
    (prop,) = [one for one in registered_properties() if one.name == "only_beginnings_are_fences"]
    assert prop.applies_to(certifier("2<1", dialect="wl8440"))
    assert not prop.applies_to(certifier("2<1", dialect="galera"))
