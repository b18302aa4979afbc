"""A link between two ends that can be silenced, cut and mended."""

from __future__ import annotations

import socket
import threading

import pytest

from paraply.adapters.servers.link import Link


@pytest.fixture
def echo():
    """A server that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(one):
        with one:
            while data := one.recv(4096):
                one.sendall(data)

    def run():
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(one,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


@pytest.fixture
def link(echo):
    made = Link(echo)
    yield made
    made.close()


def connected(link):
    return socket.create_connection(("127.0.0.1", link.port), timeout=5)


def answer(connection, text=b"hello"):
    connection.sendall(text)
    return connection.recv(4096)


def test_link_delivers_both_ways(link):
    with connected(link) as one, connected(link) as other:
        assert answer(one) == b"hello"
        assert answer(other, b"there") == b"there"
        assert link.connections == 2


def test_what_is_sent_in_silence_is_delivered_when_it_is_over(link):
    with connected(link) as one:
        assert answer(one) == b"hello"
        link.silence()
        one.sendall(b"kept")
        one.settimeout(0.2)
        with pytest.raises(TimeoutError):
            one.recv(4096)
        link.mend()
        one.settimeout(5)
        assert one.recv(4096) == b"kept"


def test_cut_breaks_what_is_open_and_refuses_what_is_new(link):
    with connected(link) as one:
        assert answer(one) == b"hello"
        link.cut()
        with pytest.raises((ConnectionError, AssertionError)):
            assert answer(one)
        with connected(link) as other, pytest.raises((ConnectionError, AssertionError)):
            assert answer(other)
        assert link.connections == 0
        link.mend()
        with connected(link) as third:
            assert answer(third) == b"hello"


def test_end_that_hangs_up_is_told_to_the_other(link):
    with connected(link) as one:
        assert answer(one) == b"hello"
        one.shutdown(socket.SHUT_WR)
        assert one.recv(4096) == b""


def test_target_that_is_not_there_ends_the_connection():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    link = Link(port)
    try:
        with connected(link) as one, pytest.raises((ConnectionError, AssertionError)):
            assert answer(one)
    finally:
        link.close()


def test_closed_link_frees_its_port(link):
    link.close()
    with pytest.raises(ConnectionRefusedError):
        connected(link)


def test_link_whose_clients_are_silent_delivers_what_the_server_sends():
    said = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        link = Link(listener.getsockname()[1], lambda *what: said.append(what))
        try:
            with connected(link) as client:
                server, _ = listener.accept()
                with server:
                    link.silence(server_speaks=True)
                    client.sendall(b"kept")
                    server.sendall(b"sent")
                    assert client.recv(4096) == b"sent"
                    assert said == [(1, False, b"sent")]
                    link.mend()
                    server.settimeout(5)
                    assert server.recv(4096) == b"kept"
                    assert said[1:] == [(1, True, b"kept")]
        finally:
            link.close()


def test_packets_of_a_client_arrive_one_by_one_if_spaced_out(echo):
    said = []
    link = Link(echo, lambda number, is_client, data: said.append((is_client, data)))
    packets = [b"\3\0\0\0abc", b"\1\0\0\1d", b"\2\0\0\2ef"]
    try:
        link.space_out(0.01)
        with connected(link) as one:
            one.sendall(b"".join(packets))
            got = b""
            while len(got) < len(b"".join(packets)):
                got += one.recv(4096)
    finally:
        link.close()
    assert got == b"".join(packets)
    assert [data for is_client, data in said if is_client] == packets
