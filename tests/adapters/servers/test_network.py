"""Hosts of a private network hear each other until one is cut off, and leave nothing behind."""

from __future__ import annotations

import socket

import pytest

from paraply.adapters.servers import network as network_module
from paraply.adapters.servers.network import PrivateNetwork
from paraply.vocabulary.errors import ParaplyError

PORT = 5000


@pytest.fixture
def network():
    try:
        made = PrivateNetwork(3)
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    yield made
    made.close()


def listener(host):
    with host.namespace.entered():
        return socket.create_server((host.address, PORT))


def connected(host, to, *, seconds=5):
    with host.namespace.entered():
        return socket.create_connection((to.address, PORT), timeout=seconds)


def interfaces():
    return {name for _, name in socket.if_nameindex()}


def test_every_host_reaches_every_other(network):
    for to in network.hosts:
        with listener(to):
            for one in network.hosts:
                connected(one, to).close()


def test_host_has_no_way_outside_and_is_not_seen_there(network):
    with (
        network.hosts[0].namespace.entered(),
        pytest.raises(OSError, match="unreachable"),
    ):
        socket.create_connection(("198.51.100.1", PORT), timeout=5)
    assert not any(name.startswith(("port", "switch")) for name in interfaces())


def test_host_that_is_cut_off_hears_nothing_until_it_is_mended(network):
    first, second, third = network.hosts
    with listener(first) as door, connected(third, first) as kept:
        near, _ = door.accept()
        with near:
            network.cut(third)
            near.sendall(b"kept back")
            kept.settimeout(0.2)
            with pytest.raises(TimeoutError):
                kept.recv(100)
            with pytest.raises(TimeoutError):
                connected(third, first, seconds=0.2)
            connected(second, first).close()
            network.mend(third)
            kept.settimeout(10)
            assert kept.recv(100) == b"kept back"
            connected(third, first).close()


def test_thread_is_where_it_was_after_it_was_elsewhere(network):
    before = interfaces()
    with network.hosts[0].namespace.entered():
        assert interfaces() == {"lo", "eth0"}
    assert interfaces() == before


def test_failing_command_is_quoted(network):
    with pytest.raises(ParaplyError, match=r"P616 .*ip link set nobody up"):
        network.switch.run("ip", "link", "set", "nobody", "up")


def test_system_without_namespaces_is_told_apart(monkeypatch):
    class Refusing:
        def unshare(self, _):
            network_module.ctypes.set_errno(1)
            return -1

    monkeypatch.setattr(network_module, "_LIBC", Refusing())
    with pytest.raises(ParaplyError, match=r"P616 .*Operation not permitted"):
        PrivateNetwork(2)
