"""Inputs guided by coverage: atheris (libFuzzer).

An input that reaches new code joins the corpus, and later inputs are made from it. atheris ends
the process that it runs in, so each reader gets a fork.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections import Counter
from contextlib import redirect_stderr
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.readers import Files, Reader

MODULE = "tests.fuzz.guided"
COMPILED = (
    "paraply.adapters.binlog.compiled", "paraply.properties.logs.compiled",
    "paraply.properties.isolation.compiled", "paraply.properties.tables.compiled",
    "paraply.mining.compiled",
)  # fmt: skip
"""numba does not compile instrumented functions."""
INPUT_SECONDS_MAX = 60
RSS_MEGABYTES_MAX = 3072
_STORE_EVERY_S = 0.2
_GRACE_SECONDS = 120
_BROKEN = ("crash-", "timeout-", "oom-")


def is_possible() -> bool:
    """Return whether atheris is installed."""
    return find_spec("atheris") is not None


def pack(files: Files) -> bytes:
    """Return an input as one piece of bytes.

    >>> unpack(pack({"a": b"1", "b/c": b""}))
    {'a': b'1', 'b/c': b''}
    """
    parts = []
    for name, data in files.items():
        coded = name.encode()
        parts += [struct.pack("<HI", len(coded), len(data)), coded, data]
    return b"".join(parts)


def unpack(data: bytes) -> Files:
    """Return the input of :func:`pack`; what follows its last whole file is left out."""
    files, at = {}, 0
    while at + 6 <= len(data):
        name_bytes, size = struct.unpack_from("<HI", data, at)
        end = at + 6 + name_bytes + size
        if end > len(data):
            break
        files[data[at + 6 : end - size].decode("utf-8", "replace")] = data[end - size : end]
        at = end
    return files


def start(words: list[str]) -> int:
    """Run the fuzzer in a process whose modules tell what code they reach; return its exit code."""
    command = [sys.executable, "-m", MODULE, *words]
    # Coverage may depend on the order of sets, and so would later inputs.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(command, env=environment, check=False).returncode


def fuzz(
    reader: Reader, seed: int, seconds: float, inputs: int, corpus: Path, folder: Path
) -> tuple[Counter[str], list[Path]]:
    """Return the outcomes of a reader's inputs, and the inputs that broke it.

    Input n depends on the code, the seed, the corpus and n; it ends by time or number.

    Raises:
        RuntimeError: the process ended without an input that broke the reader.
    """
    for place in (corpus, folder / "begin"):
        place.mkdir(parents=True, exist_ok=True)
    log = folder / "atheris.log"
    child = os.fork()  # atheris ends the process.
    if not child:
        with log.open("wb") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        try:
            hand_over(reader, seed, seconds, inputs, corpus, folder)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(1)
    code = _wait(child, seconds + _GRACE_SECONDS)
    broken = sorted(path for path in folder.iterdir() if path.name.startswith(_BROKEN))
    last = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
    if code and not broken:
        raise RuntimeError(f"{reader.name}: exit code {code}\n{last}")
    if broken:
        print(last)
    return Counter(json.loads((folder / "outcomes.json").read_text())), broken


def _wait(child: int, seconds: float) -> int:
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            deadline = math.inf
        time.sleep(0.05)


def hand_over(
    reader: Reader, seed: int, seconds: float, inputs: int, corpus: Path, folder: Path
) -> None:
    """Hand over to atheris; never returns."""
    import atheris

    from tests.fuzz.oracle import limit_memory

    seeds = reader.seeds()  # Made here: threads of libraries that make them do not survive a fork.
    for number, files in enumerate(seeds):
        (folder / "begin" / f"seed-{number:03}").write_bytes(pack(files))
    outcomes: Counter[str] = Counter()

    stored_at = 0.0

    def store() -> None:
        nonlocal stored_at
        stored_at = time.monotonic()
        partial = folder / "outcomes.part"
        partial.write_text(json.dumps(outcomes))
        os.replace(partial, folder / "outcomes.json")

    def read_one(data: bytes) -> None:
        files = unpack(data)
        if not files:
            return
        try:
            outcomes[reader.read(files)] += 1
        except BaseException:  # atheris ends the process, and keeps no input.
            (folder / f"crash-{hashlib.sha256(data).hexdigest()[:16]}").write_bytes(data)
            raise
        # The process ends without a word, so the count must be there before.
        if time.monotonic() > stored_at + _STORE_EVERY_S:
            store()

    def change(data: bytes, most: int, number: int) -> bytes:
        choice = Random(number)
        files = unpack(data) or choice.choice(seeds)
        if reader.is_choosy or choice.randrange(3):
            files = reader.damaged(files, choice)
        else:
            at = choice.choice(sorted(files))
            files = files | {at: atheris.Mutate(files[at], len(files[at]) + 64)}
        changed = pack(files)
        return changed if len(changed) <= most else data

    store()
    limit_memory()
    atheris.Setup(
        [
            MODULE,
            str(corpus),
            str(folder / "begin"),
            f"-seed={seed}",
            f"-max_total_time={max(1, round(seconds))}",
            f"-runs={inputs}",
            f"-max_len={2 * max(len(pack(files)) for files in seeds) + 4096}",
            f"-timeout={INPUT_SECONDS_MAX}",
            f"-rss_limit_mb={RSS_MEGABYTES_MAX}",
            f"-artifact_prefix={folder}/",
            "-print_final_stats=1",
        ],
        read_one,
        custom_mutator=change,
    )
    atheris.Fuzz()


def main(words: list[str]) -> int:
    """Let the modules of paraply tell what code they reach, and run the fuzzer."""
    import atheris

    with (
        redirect_stderr(StringIO()),  # A line for each module.
        atheris.instrument_imports(include=["paraply"], exclude=list(COMPILED)),
    ):
        from tests.fuzz.__main__ import main as run
    return run(words, guide=fuzz)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
