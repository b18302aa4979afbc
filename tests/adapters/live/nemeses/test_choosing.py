"""A nemesis that cannot be had is refused, and the recording keeps what nemeses did."""

from __future__ import annotations

import json

import pytest

from paraply.adapters.elle.operations import OperationType, read_operations
from paraply.adapters.elle.writing import edn_lines, json_lines
from paraply.adapters.live.clients.load import is_undone
from paraply.adapters.live.clients.recorder import Recorder
from paraply.adapters.live.nemeses import kinds, running
from paraply.adapters.live.nemeses.choosing import NEMESIS_REFUSED, chosen, plan_of
from paraply.adapters.live.nemeses.field import Equipment, Field
from paraply.adapters.live.nemeses.kinds import NEMESES, Nemesis
from paraply.adapters.live.nemeses.plan import RANDOM, Aim, Plan, Strike
from paraply.adapters.live.target import UNKNOWN_CHOICE, LiveRequest
from paraply.cli import main
from paraply.vocabulary.errors import ParaplyError


def request(*nemeses, seed=0):
    return LiveRequest(mode="", nemeses=nemeses, seed=seed)


@pytest.fixture
def has_all(monkeypatch):
    monkeypatch.setattr(Nemesis, "why_not", lambda self: "")


@pytest.mark.parametrize(
    ("target", "name", "error"),
    [
        ("galera", "earthquake", UNKNOWN_CHOICE),
        ("mariadb", "partition-bridge", NEMESIS_REFUSED),
        ("mysql-semisync", "pause", NEMESIS_REFUSED),
        ("mysql-gr", "disk-full", NEMESIS_REFUSED),
        ("existing", RANDOM, NEMESIS_REFUSED),
    ],
)
@pytest.mark.usefixtures("has_all")
def test_what_a_target_cannot_have_is_refused(target, name, error):
    with pytest.raises(ParaplyError) as raised:
        chosen(target, request(name))
    assert raised.value.error is error


@pytest.mark.parametrize(
    ("name", "part", "reason"),
    [("disk-full", "why_no_shim", "no C compiler"), ("clock", "faketime_library", "libfaketime")],
)
def test_what_this_machine_cannot_have_is_refused_with_the_reason(monkeypatch, name, part, reason):
    answers = {"why_no_shim": "there is no C compiler", "faketime_library": None}
    monkeypatch.setattr(kinds, part, lambda: answers[part])
    with pytest.raises(ParaplyError, match=reason) as raised:
        chosen("galera", request(name))
    assert raised.value.error is NEMESIS_REFUSED
    # A random plan that draws it is refused as well, and never carried out without it.
    seeds = [seed for seed in range(30) if is_refused(seed)]
    assert 0 < len(seeds) < 30


def is_refused(seed):
    try:
        chosen("galera", request(RANDOM, seed=seed))
    except ParaplyError:
        return True
    return False


@pytest.mark.usefixtures("has_all")
def test_random_plans_of_a_pair_have_no_shape_that_needs_three():
    drawn = {
        strike.nemesis
        for seed in range(100)
        for strike in plan_of("mariadb", request(RANDOM, seed=seed)).strikes
    }
    assert drawn == set(NEMESES) - {"partition-bridge"}


def test_nemeses_need_a_client_workload(capsys):
    assert main(["live", "galera", "--nemesis", "pause"]) == 3
    assert "--nemesis needs a client workload" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "text", "undone"),
    [
        (1213, "Deadlock found", True),
        (1180, 'Got error 149 "Lock deadlock; Retry transaction" during COMMIT', True),
        (1180, "Error while appending streaming replication fragment(provider status: Not"
         " connected to Primary Component)", False),
        (2013, "Lost connection", False),
    ],
)  # fmt: skip
def test_a_commit_has_rolled_back_only_where_its_error_says_so(code, text, undone):
    assert is_undone(code, text) == undone


class Recording(Nemesis):
    """A nemesis without effect."""

    name = resource = "recording"
    meaning = "is recorded"
    calls: list[str] = []

    def aim(self, dice, members):
        return Aim(victims=(0,))

    def start(self, field, aim):
        self.calls.append("start")
        if aim.amount:
            raise RuntimeError("could not start")
        return "began"

    def stop(self, field, aim):
        self.calls.append("stop")
        return "seen"


class Named:
    """A member that does not run."""

    name = "m1"
    is_running = False


@pytest.fixture
def field_of_one(monkeypatch):
    monkeypatch.setitem(running.NEMESES, "recording", Recording)
    Recording.calls.clear()
    return Field(
        members=[Named()], equipment=Equipment(needs=frozenset()), view_of=lambda _: "",
        recover=tuple,
    )  # fmt: skip


def plan(amount=0):
    strike = Strike(
        nemesis="recording", aim=Aim(victims=(0,), amount=amount), begins_s=0.0, ends_s=0.01
    )
    return Plan(seed=0, seconds=0.01, strikes=(strike, strike))


def test_every_strike_that_starts_is_stopped_even_if_a_start_fails(field_of_one):
    with pytest.raises(RuntimeError):
        running.carry_out(plan(amount=1), field_of_one, lambda: 0, lambda _: None)
    assert Recording.calls == ["start", "stop"]


def test_what_nemeses_did_is_exported_in_order_of_time_and_left_out_when_read(field_of_one):
    recorder = Recorder()
    recorder.invoke(0, "txn", [["add", 1, 2]], "m1")
    recorder.add_nemeses(
        running.carry_out(plan(), field_of_one, recorder.elapsed_ns, lambda _: None)
    )
    recorder.complete(OperationType.OK, 0, "txn", [["add", 1, 2]], "m1")
    assert Recording.calls == ["start", "start", "stop", "stop"]
    lines = list(json_lines(recorder.with_nemeses()))
    forms = [json.loads(line) for line in lines]
    assert [form["f"] for form in forms] == [
        "txn", "start-recording", "start-recording", "stop-recording", "stop-recording", "txn",
    ]  # fmt: skip
    assert forms[3]["value"] == {
        "members": ["m1"], "effect": "seen", "views": ["m1 does not run"]
    }  # fmt: skip
    edn = list(edn_lines(recorder.with_nemeses()))
    assert ":process :nemesis" in edn[1]
    assert '"began"' in edn[1]
    for text, is_json in (("\n".join(lines), True), ("\n".join(edn), False)):
        read = [one.type for one in read_operations(text, is_json=is_json)]
        assert read == [OperationType.INVOKE, OperationType.OK]
