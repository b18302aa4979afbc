"""A run ends the same, byte by byte, with and without sandbox."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from paraply.sandbox.kernel import has_seccomp
from tests.conftest import REPOSITORY
from tests.sandbox.runs import LOG, hostile, run

pytestmark = [
    pytest.mark.skipif(not has_seccomp(), reason="the sandbox needs seccomp"),
    pytest.mark.long,
]

FIXTURES = REPOSITORY / "tests" / "fixtures"
BINLOGS = FIXTURES / "binlogs"
HISTORY = next((REPOSITORY / "tests" / "regressions").glob("applier*.jsonl"))
LOG_FILE = LOG / "bin.000001"
OTHER_LOG = BINLOGS / "mysql-9.7.4" / "keys" / "bin.000001"
DOMAINS = sorted((BINLOGS / "mariadb-10.11.19" / "domains").glob("bin.0*"))
OUTPUTS = ("--json", "o.json", "--junit", "o.xml", "--sarif", "o.sarif", "--html", "o.html")

RUNS = {
    "audit": ("audit", LOG_FILE, *OUTPUTS),
    "audit to standard output": ("audit", LOG_FILE, "--json", "-"),
    "audit with schema": ("audit", LOG_FILE, "--schema", LOG / "schema.sql", "--details"),
    "audit of MariaDB": ("audit", *DOMAINS),
    "audit of XA": ("audit", BINLOGS / "mysql-9.7.4" / "xa" / "bin.000001", "--strict"),
    "audit of compressed events": ("audit", BINLOGS / "mysql-9.7.4" / "compressed" / "bin.000001"),
    "audit by the compiled engine": ("audit", "--engine", "compiled", "sample", "--json", "o.json"),
    "audit of a range": ("audit", LOG_FILE, "--start-gtid", "no-such-gtid"),
    "audit of a missing file": ("audit", "missing", "--json", "o.json"),
    "audit of a folder": ("audit", "."),
    "audit of a history": ("audit", HISTORY, "--json", "o.json"),
    "audit of a damaged log": ("audit", "damaged", "--json", "o.json"),
    "audit of a device": ("audit", "/dev/zero"),
    "audit into a missing folder": ("audit", LOG_FILE, "--json", "missing/o.json"),
    "audit with two standard outputs": ("audit", LOG_FILE, "--json", "-", "--sarif", "-"),
    "audit over a foreign file": ("audit", LOG_FILE, "--json", "damaged"),
    "audit with wrong workers": ("audit", LOG_FILE, "--workers", "0"),
    "check": ("check", FIXTURES / "histories" / "write-skew.edn", *OUTPUTS[:4]),
    "check with a log": (
        "check", FIXTURES / "histories" / "gap.edn",
        "--log", FIXTURES / "histories" / "gap.log.jsonl",
    ),
    "check of a history of paraply": ("check", HISTORY, "--json", "-"),
    "check of a large history": ("check", "large.jsonl"),
    "check of nonsense": ("check", "damaged"),
    "compare": ("compare", LOG_FILE, "--json", "o.json"),
    "compare of a workload": ("compare", "--workload", "hot-keys", "--transactions", "300"),
    "verify": ("verify", LOG_FILE, "--target", LOG_FILE, *OUTPUTS),
    "verify of another log": ("verify", LOG_FILE, "--target", OTHER_LOG),
    "replay": ("replay", HISTORY, "--json", "o.json"),
    "show": ("show", HISTORY, "--out", "page.html"),
    "show beside the history": ("show", "one.jsonl", "--no-alternatives"),
    "show of two histories": ("show", "two.jsonl", "--no-alternatives"),
    "show of a folder": ("show", "histories", "--no-alternatives", "--out", "new/pages"),
    "show over a foreign file": ("show", "one.jsonl", "--out", "damaged"),
    "show over a folder": ("show", "one.jsonl", "--out", "histories"),
    "show over a page of its own": ("show", "one.jsonl", "--out", "old.html"),
    "show into a missing folder": ("show", "one.jsonl", "--out", "missing/page.html"),
    "show of nonsense": ("show", "damaged"),
    "show of a missing file": ("show", "missing"),
}  # fmt: skip


def world(folder):
    folder.mkdir()
    data = LOG_FILE.read_bytes()
    (folder / "damaged").write_bytes(data[:9_000] + b"\xff" * 200 + data[9_200:])
    return folder


def prepared(folder, name):
    if "compiled" in name:
        import lzma

        from paraply.auditing.loading import SAMPLE

        (folder / "sample").write_bytes(lzma.decompress(SAMPLE.read_bytes()))
    if "show" in name:
        history = HISTORY.read_text()
        (folder / "one.jsonl").write_text(history)
        (folder / "two.jsonl").write_text(history * 2)
        (folder / "histories").mkdir()
        for file in ("a.jsonl", "b.jsonl"):
            (folder / "histories" / file).write_text(history)
        run("show", "--no-sandbox", "one.jsonl", "--out", "old.html", folder=folder)
        assert (folder / "old.html").is_file()
    if "large" in name:
        lines = []
        for number in range(2_500):
            key, seen = number % 50, [*range(number % 50, number + 1, 50)]
            for kind, read in (("invoke", None), ("ok", seen)):
                value = [["append", key, number], ["r", key, read]]
                event = {"type": kind, "process": number % 5, "f": "txn", "value": value}
                lines.append(json.dumps(event))
        (folder / "large.jsonl").write_text("\n".join(lines))


def ended(folder, words, **options):
    before = contents(folder)
    ran = run(*words, folder=folder, **options)
    files = contents(folder)
    return ran, {name: data for name, data in files.items() if data != before.get(name)}


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "injected" not in path.parts
    }


@pytest.mark.parametrize("name", sorted(RUNS))
def test_a_run_is_the_same_without_sandbox(tmp_path, name):
    found = []
    for option in ("--sandbox", "--no-sandbox"):
        folder = world(tmp_path / "world")
        prepared(folder, name)
        command, *words = RUNS[name]
        found.append(ended(folder, (command, option, *words)))
        folder.rename(tmp_path / option)
    assert found[0] == found[1]
    assert found[0][0].code != 70


def test_a_log_from_standard_input_is_the_same(tmp_path):
    text = gzip.decompress((LOG / "expected" / "bin.000001.txt.gz").read_bytes())
    found = [
        run("audit", option, "-", "--json", "-", folder=tmp_path, stdin=text.decode("latin-1"))
        for option in ("--sandbox", "--no-sandbox")
    ]
    assert found[0] == found[1]
    assert found[0].code in (0, 1, 2)


def test_a_crash_is_the_same(tmp_path):
    found = []
    for option in ("--sandbox", "--no-sandbox"):
        folder = world(tmp_path / "world")
        words = ("audit", option, LOG_FILE, *OUTPUTS)
        found.append(ended(folder, words, injected=hostile("1 / 0")))
        folder.rename(tmp_path / option)
    assert found[0] == found[1]
    assert found[0][0].code == 70
    assert b"ZeroDivisionError" in found[0][1]["o.json"]


@pytest.mark.parametrize("option", ["--sandbox", "--no-sandbox"])
@pytest.mark.parametrize("to_group", [False, True])
def test_an_interrupt_ends_both_processes(tmp_path, option, to_group):
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", "paraply", "audit", option, "-", "--json", "o.json"],
        cwd=tmp_path, stdin=reading, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(reading)
        # The pipe is full when the reader has stopped taking from it, and empty when it waits.
        os.write(writing, LOG_FILE.read_bytes()[:20_000])
        _wait_until_it_waits(writing)
        (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        os.close(writing)
    assert (process.returncode, out, err) == (130, "", "paraply: interrupted\n")
    assert not (tmp_path / "o.json").exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def _wait_until_it_waits(writing):
    import fcntl
    import struct
    import termios

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not struct.unpack("i", fcntl.ioctl(writing, termios.FIONREAD, b"\0" * 4))[0]:
            time.sleep(0.2)
            return
        time.sleep(0.05)
    raise AssertionError("nothing reads the log")


def test_a_reader_that_leaves_is_no_error(tmp_path):
    command = f"{sys.executable} -m paraply audit --sandbox {LOG_FILE} --details | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} >/dev/null; echo ${{PIPESTATUS[0]}}"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
