"""The table of WL#8440, with the lines that its examples do not show."""

from __future__ import annotations

from paraply.vocabulary.notation_parser import parse_history
from tests.builders.timestamp_table import format_timestamp_table


def test_table_shows_refused_and_local_transactions_without_numbers():
    history = parse_history(
        """T1{a} | T2{a b} | T3:view_change | T4 | T5{c}
        | certified T1@r1 positive 2<1 ; certified T2@r1 negative ; certified T3@r1 positive 0<0
        ; certified T5@r1 positive ; certified T4@r2 positive 2<1 ; garbage_collected @r1"""
    )
    assert format_timestamp_table(history, "r1", boot=False).splitlines()[3:] == [
        "T1   | a        | 1       | 2",
        "T2   | a, b     |         |    (refused)",
        "     |          | 0       | 0  (view change)",
        "T4   | c        |         |    (local)",
        "     |          |         |    (garbage collection, purged: nothing)",
    ]
