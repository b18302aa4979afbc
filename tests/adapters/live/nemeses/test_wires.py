"""A cut direction withholds data, and only that direction."""

from __future__ import annotations

import socket
import threading

import pytest

from paraply.adapters.live.nemeses.wires import Wires

_SOON_S, _LONG_S = 0.3, 10


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def wires(listener):
    port = listener.getsockname()[1]
    made = Wires(lambda wanted: 1 if wanted == port else None)
    made.own_hub = made.hub(0, lambda _: port)
    yield made
    made.close()


@pytest.fixture
def ends(wires, listener):
    """Return both ends of a connection that member 0 opened to member 1."""
    with socket.create_connection(("127.0.0.1", wires.own_hub)) as near:
        far, _ = listener.accept()
        with far:
            yield near, far


def arrives(sender, receiver, seconds):
    sender.sendall(b"x")
    receiver.settimeout(seconds)
    try:
        return receiver.recv(1) == b"x"
    except TimeoutError:
        return False


def test_whole_wires_forward_both_directions(wires, ends):
    near, far = ends
    assert arrives(near, far, _LONG_S)
    assert arrives(far, near, _LONG_S)
    assert not wires.cut_now


@pytest.mark.parametrize("cut", [(0, 1), (1, 0)])
def test_a_direction_is_cut_and_the_other_one_is_not(wires, ends, cut):
    near, far = ends
    wires.cut([cut])
    assert arrives(near, far, _SOON_S if cut == (0, 1) else _LONG_S) == (cut != (0, 1))
    assert arrives(far, near, _SOON_S if cut == (1, 0) else _LONG_S) == (cut != (1, 0))
    assert wires.withheld[cut] == 1


def test_withheld_data_arrives_after_the_link_is_mended(wires, ends):
    near, far = ends
    wires.cut([(0, 1)])
    assert not arrives(near, far, _SOON_S)
    wires.mend([(0, 1)])
    far.settimeout(_LONG_S)
    assert far.recv(1) == b"x"


def test_the_end_of_a_connection_is_withheld_too(wires, ends):
    near, far = ends
    wires.cut([(0, 1)])
    near.shutdown(socket.SHUT_WR)
    far.settimeout(_SOON_S)
    with pytest.raises(TimeoutError):
        far.recv(1)
    wires.mend([(0, 1)])
    far.settimeout(_LONG_S)
    assert far.recv(1) == b""


def test_cuts_that_overlap_add_up(wires, ends):
    near, far = ends
    wires.cut([(0, 1)])
    wires.cut([(0, 1), (1, 0)])
    wires.mend([(0, 1), (1, 0)])
    assert wires.cut_now == {(0, 1)}
    assert not arrives(near, far, _SOON_S)
    wires.mend([(0, 1)])
    assert not wires.cut_now


def test_a_connection_opens_only_when_both_directions_work(wires, listener):
    wires.cut([(1, 0)])
    accepted = []

    def accept():
        accepted.append(listener.accept()[0])

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    with socket.create_connection(("127.0.0.1", wires.own_hub)):
        thread.join(_SOON_S)
        assert not accepted
        wires.mend([(1, 0)])
        thread.join(_LONG_S)
        assert accepted
        accepted[0].close()
