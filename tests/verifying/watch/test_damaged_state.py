"""A damaged state file is refused with P375."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import zlib
from base64 import b64encode
from pathlib import Path

import pytest

from paraply.cli import main
from paraply.verifying.watch import service, source
from paraply.verifying.watch.service import Watch
from paraply.verifying.watch.source import SourceState
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_names import GtidNames
from tests.verifying.watch.runs import request_of
from tests.verifying.watch.test_real_logs import REPLICAS, streams

MEMORY_BYTES_MAX = 3 << 30
WORDS = ["watch", "--source", "mysql://me@127.0.0.1:1", "--target", "mysql://me@127.0.0.1:2"]
HEAD = b'{"paraply": "watch-state", "format": 1, '
DEEP = b"[" * 100_000
DAMAGED = {
    "empty": b"",
    "no JSON": b"not JSON",
    "no UTF-8": b'{"paraply": "\xff"}',
    "list": b"[]",
    "number": b"1",
    "other format": b'{"paraply": "watch-state", "format": 2}',
    "no pairs": HEAD + b'"findings_bytes": 0}',
    "pairs are a list": HEAD + b'"findings_bytes": 0, "pairs": []}',
    "pair is a number": HEAD + b'"findings_bytes": 0, "pairs": {"a": 1}}',
    "endless number": HEAD + b'"findings_bytes": Infinity, "pairs": {}}',
    "deep, open": HEAD + b'"a": ' + DEEP,
    "deep, closed": HEAD + b'"a": ' + DEEP + b"]" * 100_000 + b"}",
    "deep objects": HEAD + b'"a": ' + b'{"a": ' * 100_000,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_state_is_refused(name, tmp_path, capsys):
    state = tmp_path / "state.json"
    state.write_bytes(DAMAGED[name])
    assert main([*WORDS, "--force", "--state", str(state)]) == 3
    assert f"P375 {state}: the state cannot be used" in capsys.readouterr().err
    assert state.read_bytes() == DAMAGED[name]


def test_state_above_the_limit_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(service, "STATE_BYTES_MAX", 100)
    state = tmp_path / "state.json"
    state.write_bytes(b" " * 101)
    assert main([*WORDS, "--force", "--state", str(state)]) == 3
    assert "it has more than 100 bytes" in capsys.readouterr().err


def test_endless_state_is_refused_in_little_memory():
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))

    command = [sys.executable, "-m", "paraply", *WORDS, "--state", "/dev/zero"]
    ended = subprocess.run(
        command, preexec_fn=limit, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 3, ended.stderr
    assert "P375 /dev/zero" in ended.stderr


def saved_state(folder: Path) -> tuple[dict, Path]:
    watch = Watch(request_of(*streams(REPLICAS[0], "none", folder), folder))
    watch.save()
    watch.end()
    state = folder / "state.json"
    return json.loads(state.read_text()), state


@pytest.mark.parametrize(
    "packed",
    [
        b64encode(zlib.compress(b" " * 1001)),
        b64encode(zlib.compress(b"CREATE TABLE t (a int)")[:-3]),
        b64encode(b"not zlib"),
        b"@",
    ],
    ids=["too large", "cut", "not zlib", "not Base64"],
)
def test_definitions_that_cannot_be_unpacked_are_refused(packed, tmp_path, monkeypatch):
    monkeypatch.setattr(source, "DEFINITIONS_TEXT_BYTES_MAX", 1000)
    document, state = saved_state(tmp_path)
    kept = SourceState(after=GtidNames()).as_json() | {"definitions": packed.decode()}
    state.write_text(json.dumps(document | {"source": kept}))
    with pytest.raises(ParaplyError, match="P375"):
        Watch(request_of(*streams(REPLICAS[0], "none", tmp_path), tmp_path))


@pytest.mark.parametrize("size", [0, 1, 999, 1000])
def test_definitions_up_to_the_limit_come_back(size, monkeypatch):
    monkeypatch.setattr(source, "DEFINITIONS_TEXT_BYTES_MAX", 1000)
    state = SourceState(after=GtidNames(), definitions="é" * (size // 2) + "x" * (size % 2))
    assert SourceState.of_json(state.as_json()).definitions == state.definitions


@pytest.mark.parametrize(
    ("definitions", "statements"),
    [("x" * 1001, []), ("é" * 501, []), ("x", [("y" * 501, "", ""), ("y" * 500, "", "")])],
)
def test_more_than_can_be_read_is_not_saved(definitions, statements, monkeypatch):
    monkeypatch.setattr(source, "DEFINITIONS_TEXT_BYTES_MAX", 1000)
    monkeypatch.setattr(source, "STATEMENTS_CHARACTERS_MAX", 1000)
    state = SourceState(after=GtidNames(), definitions=definitions, statements=statements)
    restored = SourceState.of_json(json.loads(json.dumps(state.as_json())))
    assert (restored.definitions, restored.statements) == (None, [])
