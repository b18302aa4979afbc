"""Clients without a connection: the property holds, breaks, and on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.semi_sync.lost_clients import lost_clients_get_no_answer
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict


def run(note, *answered):
    events = [f'wait_abandoned T1@source note="{note}"']
    events += [f"client_acknowledged T{one}@source" for one in answered]
    return history_of("members=source,r1 | T1{a} | T2{b} | " + " ; ".join(events))


@pytest.mark.parametrize("note", ["KILL CONNECTION", "shutdown"])
def test_client_that_lost_its_connection_is_not_answered(note):
    assert verdict(run(note, 2), lost_clients_get_no_answer) is Verdict.HOLDS
    (breach,) = lost_clients_get_no_answer(run(note, 2, 1))
    assert str(breach) == (
        f"the client of T1 was told that it committed, though {note} had ended its connection"
    )


@pytest.mark.parametrize("note", ["KILL QUERY", "time-out"])
def test_client_that_keeps_its_connection_is_answered(note):
    assert verdict(run(note, 1), lost_clients_get_no_answer) is Verdict.UNKNOWN
