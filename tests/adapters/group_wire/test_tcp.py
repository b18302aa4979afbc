"""Streams come out as they were sent, whatever the interface does to the frames."""

from __future__ import annotations

import random

import pytest

from paraply.adapters.group_wire.tcp import reassemble
from paraply.vocabulary.errors import ParaplyError
from tests.builders.group_wire import frame, stream

DATA = bytes(range(256)) * 20


def _joined(frames) -> bytes:
    return b"".join(data for _, _, data in reassemble(frames))


def test_stream_in_order_is_the_data():
    assert _joined(stream(DATA)) == DATA


@pytest.mark.parametrize("seed", range(5))
def test_frames_out_of_order_and_twice_give_the_data_once(seed):
    first, *rest = stream(DATA, cut=300)
    shuffled = rest + rest[:5]
    random.Random(seed).shuffle(shuffled)
    assert _joined([first, *shuffled]) == DATA


def test_sequence_numbers_may_wrap():
    assert _joined(stream(DATA, start=(1 << 32) - 700, cut=300)) == DATA


def test_overlapping_retransmission_gives_each_byte_once():
    frames = stream(DATA[:500], cut=500)
    longer = (9, frame(1000, 2000, 101 + 200, DATA[200:900]))
    assert _joined([*frames, longer]) == DATA[:900]


def test_length_zero_means_the_rest_of_a_large_frame():
    frames = [(0, frame(1, 2, 0, syn=True)), (1, frame(1, 2, 1, DATA, total=0))]
    assert _joined(frames) == DATA


def answered(frames, *acknowledged):
    """Return frames of a connection after which its receiver asks for what follows so many."""
    back = [(9, frame(2000, 1000, 500, ack=101 + count)) for count in acknowledged]
    return [*frames, *back]


def test_lost_frame_that_the_receiver_has_is_a_user_error():
    frames = stream(DATA, cut=300)
    del frames[3]
    with pytest.raises(ParaplyError, match=r"P641.*lost"):
        list(reassemble(answered(frames, 600, len(DATA), 600)))


@pytest.mark.parametrize("acknowledged", [(), (300,), (300, 600)])
def test_what_a_cut_network_lost_ends_the_stream_where_the_receiver_stopped(acknowledged):
    frames = stream(DATA, cut=300)
    del frames[3]
    assert _joined(answered(frames, *acknowledged)) == DATA[:600]


def test_connection_older_than_the_capture_is_a_user_error():
    with pytest.raises(ParaplyError, match=r"P641.*began before"):
        list(reassemble(stream(DATA)[1:]))


def test_new_connection_on_the_same_ports_starts_anew():
    again = stream(DATA, start=9)
    assert _joined([*stream(DATA), *again]) == DATA + DATA


def _changed(at, value):
    sound = bytearray(frame(1, 2, 1, b"data"))
    sound[at] = value
    return bytes(sound)


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        (b"", "bytes of headers are needed"),
        (frame(1, 2, 1)[:-1], "bytes of headers are needed"),
        (_changed(14, 0x65), "not TCP in IPv4"),
        (_changed(23, 17), "not TCP in IPv4"),
        (_changed(14, 0x44), "an IPv4 header of 16 bytes"),
        (_changed(14, 0x4F), "an IPv4 header of 60 bytes"),
        (_changed(46, 0x40), "a TCP header of 16 bytes in a packet of 44"),
        (_changed(46, 0xF0), "a TCP header of 60 bytes in a packet of 44"),
        (frame(1, 2, 1, b"data", total=39), "a TCP header of 20 bytes in a packet of 39"),
        (frame(1, 2, 1, b"data", total=45), "a TCP header of 20 bytes in a packet of 45"),
    ],
)
def test_frame_that_is_no_tcp_segment_is_a_user_error(damaged, reason):
    with pytest.raises(ParaplyError, match=rf"P642.*{reason}"):
        list(reassemble([(0, damaged)]))
