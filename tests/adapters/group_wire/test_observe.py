"""Views stand where members took them, whatever their announcements seemed to say."""

from __future__ import annotations

import pytest

from paraply.adapters.group_wire.capture import RECORD
from paraply.adapters.group_wire.logged import LoggedContents
from paraply.adapters.group_wire.observe import observe_group, views_before_what_joiners_certified
from paraply.adapters.group_wire.xcom import APPLICATION, LEARN, VIEW
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.group_trace import TransactionDelivered, ViewInstalled
from tests.builders.group_wire import cargo, gcs, gtids, items, member_state, paxos, plugin, stream
from tests.conformance.test_recorded_groups import MULTI_PRIMARY, SINGLE_PRIMARY, recorded


@pytest.mark.long
@pytest.mark.parametrize("name", [MULTI_PRIMARY, SINGLE_PRIMARY])
def test_views_of_recorded_runs_stay_where_they_are(name):
    steps = recorded(name).steps
    assert tuple(views_before_what_joiners_certified(steps)) == steps


@pytest.mark.long
def test_view_that_was_announced_again_goes_before_what_its_joiner_certified():
    steps = recorded().steps
    last = max(n for n, step in enumerate(steps) if isinstance(step, ViewInstalled) and step.joined)
    (joiner,) = steps[last].joined
    remote = [
        n for n, step in enumerate(steps)
        if n > last and isinstance(step, TransactionDelivered) and joiner in step.decided
    ]  # fmt: skip
    later = remote[3]
    shifted = (*steps[:last], *steps[last + 1 : later], steps[last], *steps[later:])
    mended = views_before_what_joiners_certified(shifted)
    view = mended.index(steps[last])
    assert view < mended.index(steps[remote[0]])
    certified = [
        step for step in mended[:view]
        if isinstance(step, TransactionDelivered) and joiner in step.decided
    ]  # fmt: skip
    assert certified == [
        step for step in steps[:last]
        if isinstance(step, TransactionDelivered) and joiner in step.decided
    ]  # fmt: skip


MEMBERS = tuple(f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2, 3))
_ONLINE, _OFFLINE = 1, 2


def _view(place, *present):
    return paxos(LEARN, place, cargos=cargo(VIEW, present=present))


def _state(place, announced_at, state=_ONLINE):
    told = member_state(MEMBERS[place[1]], state, "", announced_at=announced_at)
    return paxos(LEARN, place, cargos=cargo(APPLICATION, told))


def _views(folder, *messages):
    capture = folder / "group.capture"
    frames = (frame for _, frame in stream(b"".join(messages)))
    capture.write_bytes(b"".join(RECORD.pack(0, len(frame)) + frame for frame in frames))
    logs = [LoggedContents(uuid, [], []) for uuid in MEMBERS]
    trace = observe_group(
        capture, logs, server_version="9.7.4", group_name=MEMBERS[0], block_size=1
    )
    return [(view.members, view.joined) for view in trace.steps]


def test_view_is_installed_though_another_is_announced_before_all_have_told_their_state(tmp_path):
    # Seen on a busy machine: nobody answers an announcement that changes nothing.
    assert _views(
        tmp_path,
        _view((10, 0), True, True, True),
        _state((11, 1), (10, 0)),
        _state((12, 0), (10, 0)),
        _view((13, 0), True, True, False),
        _state((14, 2), (10, 0), _OFFLINE),
        _view((15, 0), True, True, True),
    ) == [(MEMBERS, (MEMBERS[2],))]


def test_view_is_not_installed_by_states_that_were_told_for_another(tmp_path):
    assert _views(
        tmp_path,
        _view((10, 0), True, True, True),
        _state((11, 0), (10, 0)),
        _view((12, 0), True, True, True),
        _state((13, 1), (12, 0)),
        _state((14, 2), (12, 0), _OFFLINE),
    ) == []  # fmt: skip


def test_states_for_a_view_that_was_not_announced_are_a_user_error(tmp_path):
    with pytest.raises(ParaplyError, match=r"P643.*Place\(number=9, node=0\)"):
        _views(tmp_path, _view((10, 0), True), _state((11, 0), (9, 0)))


def test_executed_set_of_a_node_outside_of_every_view_is_a_user_error(tmp_path):
    report = paxos(LEARN, (11, 5), cargos=cargo(APPLICATION, gcs(plugin(1, items((1, gtids("")))))))
    with pytest.raises(ParaplyError, match=r"P641.*node 5 reports"):
        _views(tmp_path, _view((10, 0), True), report)
