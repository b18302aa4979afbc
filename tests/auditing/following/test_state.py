"""A state is read by the version that wrote it, and runs nothing."""

from __future__ import annotations

import json
import os
import pickle
import zlib

import pytest

from paraply.auditing.following.judging import judge_file
from paraply.auditing.following.state import FORMAT, load_result, load_state, packed
from paraply.version import VERSION
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.errors import ParaplyError


class Harmful:
    """Makes a folder when it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def state_of(value):
    return packed(zlib.compress(pickle.dumps(value)), AuditResult())


@pytest.mark.parametrize(
    "call",
    [
        (os.mkdir, "made"),
        (eval, "__import__('os').mkdir('made')"),
        (judge_file, None),
        (getattr, 1, "real"),
        (getattr, AuditResult, "__init__"),
        (getattr, AuditResult(), "__class__"),
    ],
    ids=lambda call: f"{call[0].__name__}-{call[-1]}"[:30],
)
def test_state_that_calls_what_is_no_part_of_it_is_refused(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParaplyError, match=r"P746.*is no part of a state"):
        load_state(state_of(Harmful(*call)))
    assert not list(tmp_path.iterdir())


def test_damaged_state_is_refused():
    data = packed(zlib.compress(pickle.dumps(1)), AuditResult(transactions=3))
    assert load_result(data).transactions == 3
    for at in range(0, len(data), 7):
        torn = data[:at]
        with pytest.raises(ParaplyError, match="P746"):
            load_state(torn)
        flipped = bytearray(data)
        flipped[at] ^= 0x10
        with pytest.raises(ParaplyError, match="P746"):
            load_state(bytes(flipped))


def test_state_of_another_version_is_refused():
    head, _, body = packed(b"", AuditResult()).partition(b"\n")
    assert json.loads(head) == {"format": FORMAT, "version": VERSION, "result_bytes": len(body)}
    other = head.replace(VERSION.encode(), b"0.0.0") + b"\n" + body
    with pytest.raises(ParaplyError, match=r"P746.*paraply 0.0.0 began it"):
        load_result(other)
