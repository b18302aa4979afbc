"""Whatever a child says, the harness answers with a verdict: no hang, no traceback."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from paraply.adapters.conformance.cases.case import bystanders, empty_log
from paraply.adapters.conformance.child import (
    ApplierDiedError,
    ApplierSilentError,
    ChildProcess,
)
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.protocol import MESSAGES, ProtocolError, Speaker, decode, encode
from paraply.adapters.conformance.session import RunOptions, Session
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schedule import SeededSchedule

GREETING = (
    "import json, sys, os, time\n"
    "def tell(**m): print(json.dumps(m), flush=True)\n"
    "init = json.loads(sys.stdin.readline())\n"
    "def ready(*features):\n"
    "    tell(type='init_ok', in_reply_to=init['msg_id'], name='child', features=list(features))\n"
)


def run_child(code, *, timeout=20.0):
    log = empty_log()
    bystanders(log, 1, 2)
    command = [sys.executable, "-I", "-S", "-c", GREETING + code]
    with CommandLauncher(command, timeout=timeout) as launcher:
        options = RunOptions(patience=0.2)
        return Session(launcher, log, SeededSchedule(1), options).run()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"type":"txn"}', "no message of an applier"),
        (b'{"type":"begin","msg_id":1,"txn":1}', "'begin' has no 'worker'"),
        (b'{"type":"begin","worker":"1","msg_id":1,"txn":1}', "'worker' of 'begin' is '1'"),
        (b'{"type":"begin","worker":true,"msg_id":1,"txn":1}', "no integer"),
        (b'{"type":"sync_ok"}', "has no 'in_reply_to'"),
        (b"[" * 5_000, "nested too deeply"),
        (b'"' + b"x" * 2_000_000 + b'"', "longer than 1,048,576 bytes"),
    ],
)
def test_line_that_is_no_message_is_refused_with_the_reason(line, reason):
    with pytest.raises(ProtocolError, match=reason):
        decode(line)


def test_every_message_of_an_applier_is_read_back():
    values = {"integer": 1, "string": "x", "array": ["lc_sn"], "object": {}}
    for spec in MESSAGES:
        if spec.speaker is Speaker.HARNESS:
            continue
        message = {"type": spec.type}
        for field in spec.fields:
            message[field.name] = values[field.type_name.split("|")[0]]
        message |= {"msg_id": 1} if spec.asks else {}
        message |= {"in_reply_to": 1} if spec.answers else {}
        assert decode(encode(message)) == message


def test_bytes_travel_as_hexadecimal():
    assert json.loads(encode({"v": b"\x00\xff"})) == {"v": {"hex": "00ff"}}


def test_child_that_dies_is_said_to_have_died_with_its_last_lines():
    run = run_child("print('out of memory', file=sys.stderr, flush=True)\nos._exit(7)\n")
    assert run.fault == "the applier ended with exit code 7"
    assert run.stderr == ("out of memory",)
    assert not run.history.is_complete


def test_child_killed_by_a_signal_is_said_to_be():
    run = run_child("os.kill(os.getpid(), 9)\n")
    assert run.fault == "the applier was killed by SIGKILL"


def test_child_that_says_nothing_is_given_up_after_the_timeout():
    run = run_child("time.sleep(60)\n", timeout=0.3)
    assert run.fault == "no message for 0.3 s"


def test_child_that_stops_answering_sync_is_given_up():
    run = run_child("ready('sync')\ntime.sleep(60)\n", timeout=0.3)
    assert run.fault == "no message for 0.3 s"


def test_malformed_child_is_named_with_what_it_said():
    run = run_child("print('hello world', flush=True)\ntime.sleep(60)\n")
    assert "not JSON" in run.fault
    assert "hello world" in run.fault


def test_flood_of_messages_ends_in_a_verdict():
    run = run_child(
        "ready('sync')\nfor line in sys.stdin:\n    while True: tell(type='checkpoint', upto=0)\n"
    )
    assert "messages at once" in run.fault


def test_line_without_an_end_ends_in_a_verdict():
    run = run_child("ready()\nsys.stdout.write('x' * 3_000_000)\nsys.stdout.flush()\n")
    assert run.fault == "a line is longer than 1,048,576 bytes"


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("tell(type='row', msg_id=1, worker=1, txn=1, i=0)", "outside of a transaction"),
        ("tell(type='begin', msg_id=1, worker=0, txn=1)", "not 1 or more"),
        ("tell(type='begin', msg_id=1, worker=1, txn=99)", "was not sent"),
        ("tell(type='end_ok', in_reply_to=1)", "was not asked for"),
        (
            "for line in sys.stdin:\n"
            "    m = json.loads(line)\n"
            "    if m['type'] == 'end': tell(type='end_ok', in_reply_to=m['msg_id'] + 1)",
            "'end_ok' answers",
        ),
        ("tell(type='timestamp', txn=1, lc=0, sn=1)", "out of place"),
        (
            "tell(type='begin', msg_id=1, worker=1, txn=1);"
            "tell(type='begin', msg_id=2, worker=1, txn=2)",
            "before its last answer",
        ),
    ],
)
def test_request_that_is_out_of_place_is_named(said, reason):
    run = run_child(f"ready()\n{said}\ntime.sleep(60)\n")
    assert reason in run.fault


def test_child_that_never_applies_has_stalled():
    run = run_child(
        "ready('sync')\nfor line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if m['type'] == 'sync': tell(type='sync_ok', in_reply_to=m['msg_id'])\n"
    )
    assert not run.fault
    assert run.has_stalled
    assert run.is_proved


def test_child_without_sync_has_stalled_once_it_sleeps():
    run = run_child("ready()\nfor line in sys.stdin: pass\n")
    assert run.has_stalled
    assert not run.is_proved


def test_child_that_reads_nothing_does_not_block_the_harness():
    command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
    child = ChildProcess(command, timeout=0.2)
    message = {"type": "rotate", "file": "x" * 1_000_000}
    try:
        with pytest.raises(ApplierSilentError, match="read nothing"):
            child.send(message)  # More than is kept back, so it is written at once.
    finally:
        child.kill()


def test_applier_that_has_ended_is_heard_to_its_last_word(tmp_path):
    said = tmp_path / "said"
    said.write_text('{"type":"skip","txn":1}\n{"type":"skip","txn":2}\n')
    child = ChildProcess(["cat", str(said)])
    try:
        child._process.wait()
        for number in (1, 2):
            child.send({"type": "sync"})
            assert child.receive()["txn"] == number
        child.send({"type": "sync"})
        with pytest.raises(ApplierDiedError, match="exit code 0"):
            child.receive()
    finally:
        child.kill()


def test_children_of_the_child_die_with_it():
    code = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)'])\n"
        'print(\'{"type":"skip","txn":%d}\' % p.pid, flush=True)\ntime.sleep(60)\n'
    )
    child = ChildProcess([sys.executable, "-I", "-S", "-c", code])
    pid = child.receive()["txn"]
    child.kill()
    with pytest.raises(ProcessLookupError):
        _wait_until_gone(pid)


def test_orphan_that_left_the_group_is_killed_and_reaped():
    code = (
        "import os, sys, time\n"
        "r, w = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.write(w, str(os.getpid()).encode())\n"
        "        time.sleep(60)\n"
        "    os._exit(0)\n"
        "pid = int(os.read(r, 20))\n"
        'print(\'{"type":"skip","txn":%d}\' % pid, flush=True)\ntime.sleep(60)\n'
    )
    child = ChildProcess([sys.executable, "-I", "-S", "-c", code])
    pid = child.receive()["txn"]
    child.kill()
    assert not Path(f"/proc/{pid}").exists()


def _wait_until_gone(pid):
    for _ in range(200):
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "Z":  # Dead, and waiting for init to notice.
            raise ProcessLookupError
        time.sleep(0.02)


def test_command_that_does_not_exist_is_an_error_with_a_remedy():
    with pytest.raises(ParaplyError) as error:
        ChildProcess(["/no/such/applier"])
    assert error.value.error.code == "P630"
    assert "/no/such/applier" in error.value.text
