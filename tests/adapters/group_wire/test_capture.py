"""A capture has what hosts got, on a switch too, and nothing that a cut network lost."""

from __future__ import annotations

import socket

import pytest

from paraply.adapters.group_wire.capture import Capture, open_sniffer, read_frames, tcp_ports
from paraply.adapters.group_wire.tcp import reassemble
from paraply.adapters.servers.network import PrivateNetwork
from paraply.adapters.servers.ports import LOOPBACK, free_port
from paraply.vocabulary.errors import ParaplyError
from tests.builders.group_wire import frame

PORT = 5000


@pytest.fixture
def network():
    try:
        open_sniffer().close()
        made = PrivateNetwork(2)
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    yield made
    made.close()


def captured(capture):
    """Return the bytes of each flow, by destination port."""
    got = {}
    for _, (_, _, _, port), data in reassemble(read_frames(capture.path)):
        got[port] = got.get(port, b"") + data
    return got


def test_frame_without_whole_headers_has_no_ports():
    whole = frame(1, 2, 3)
    assert tcp_ports(whole) == (1, 2)
    assert {tcp_ports(whole[:size]) for size in range(38)} == {(0, 0)}


def test_loopback_traffic_of_the_port_is_captured_once(tmp_path, network):
    port = free_port()
    with (
        Capture(tmp_path / "frames", [port]) as capture,
        socket.create_server((LOOPBACK, port)) as door,
        socket.create_connection((LOOPBACK, port)) as near,
    ):
        far, _ = door.accept()
        with far:
            near.sendall(b"there")
            assert far.recv(100) == b"there"
    assert captured(capture)[port] == b"there"


def test_switch_traffic_has_nothing_that_a_cut_loses(tmp_path, network):
    first, second = network.hosts
    with first.namespace.entered():
        door = socket.create_server((first.address, PORT))
    with door, Capture(tmp_path / "frames", [PORT], network.switch) as capture:
        with second.namespace.entered():
            near = socket.create_connection((first.address, PORT), timeout=10)
        far, _ = door.accept()
        with near, far:
            near.sendall(b"before,")
            assert far.recv(100) == b"before,"
            network.cut(second)
            near.sendall(b"and kept back")
            far.settimeout(0.3)
            with pytest.raises(TimeoutError):
                far.recv(100)
    assert captured(capture)[PORT] == b"before,"
