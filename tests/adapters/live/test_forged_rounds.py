"""Rounds whose log is forged: no replica has any of it before."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from paraply.adapters.live.faults import FAULTS
from paraply.adapters.live.pair.lab import PairLab
from paraply.adapters.live.pair.mysql.faults import FORGED, FORGED_IDEMPOTENT, MYSQL_FAULTS
from paraply.adapters.live.target import LiveRequest


class ServerThatTells:
    """A server that writes down what it is asked, and has one log file."""

    is_mariadb = False  # It has no checkpoint to wait for.

    def __init__(self, name, told, file):
        self.name, self._told, self._file = name, told, file

    def query(self, statement):
        self._told.append(f"{self.name}: {statement}")

    def stop(self):
        self._told.append(f"{self.name} stops")

    def start(self):
        self._told.append(f"{self.name} starts")

    def binary_logs(self):
        return [self._file]


def told_of(fault, applier, tmp_path):
    """Return what happens in a round of a fault, one line each, up to the end of the load."""
    told = []
    file = tmp_path / "bin.000001"
    file.write_bytes(b"\xfebin")

    class Lab(PairLab):
        def __init__(self):
            self.applier = applier
            self.fault = fault
            self.request = LiveRequest(mode="any", fault=fault.name)
            self.source = ServerThatTells("source", told, file)
            self.replicas = [ServerThatTells(f"replica{n}", told, file) for n in (1, 2)]
            self._marks = {}

        _replica_options = round = position = stated_position = reader = None

    lab = Lab()
    clients = SimpleNamespace(
        wait=lambda seconds: told.append("clients write"), stop=lambda: told.append("clients end")
    )
    lab._begin()
    fault.inject(lab, clients, [], random.Random(0))
    return [line for line in told if "FLUSH" not in line]


@pytest.mark.parametrize(
    ("fault", "applier"),
    [
        *((MYSQL_FAULTS[name], "REPLICA") for name in (FORGED, FORGED_IDEMPOTENT)),
        *((FAULTS[name], "SLAVE") for name in ("forged-commit-ids", "forged-idempotent")),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_replicas_are_stopped_from_before_the_load_until_its_log_is_forged(
    fault, applier, tmp_path
):
    assert told_of(fault, applier, tmp_path) == [
        f"replica1: STOP {applier}",
        f"replica2: STOP {applier}",
        "clients write",
        "clients end",
        "source stops",
        "source starts",
        f"replica1: START {applier}",
        f"replica2: START {applier}",
    ]
