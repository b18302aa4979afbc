"""Fuzz the binary log decoder, guided by coverage where atheris is installed.

    python -m tests.fuzz.fuzz_binlog --seconds 120 [--seed N] [--corpus DIR] [--artifacts DIR]
    python -m tests.fuzz.fuzz_binlog --replay FILE

Prints the seed and, when an input breaks the decoder, the command that replays it. Exit code 0:
nothing broke; 1: something did; 2: the run reached too little to show anything.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODULE = "tests.fuzz.fuzz_binlog"
PLAIN_LOG = b"\xfebin"
"""Compressed logs would spend the time on checksums of the compression."""
INPUT_BYTES_MAX = 8192
INPUT_SECONDS_MAX = 10
RSS_MEGABYTES_MAX = 2048
_GRACE_SECONDS = 60
_STATISTICS_EVERY = 500


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--corpus", type=Path, help="further logs to start from")
    parser.add_argument("--artifacts", type=Path, help="where breaking inputs are kept")
    parser.add_argument("--replay", type=Path, help="run one input and show what it does")
    parser.add_argument("--no-atheris", action="store_true", help="mutate blindly")
    parser.add_argument("--guided-run", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.replay:
        return replay(options.replay)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1, 1 << 31)
    if options.guided_run:
        guided_run(options.guided_run, options.seconds, seed)
    artifacts = options.artifacts or Path(tempfile.mkdtemp(prefix="paraply-fuzz-"))
    artifacts.mkdir(parents=True, exist_ok=True)
    print(f"fuzz_binlog: seed {seed}, {options.seconds} s, inputs that break go to {artifacts}")
    print(
        f"fuzz_binlog: run again with python -m {MODULE} --seconds {options.seconds} --seed {seed}"
    )
    inputs = starting_inputs(options.corpus)
    if options.no_atheris:
        print("fuzz_binlog: mutating blindly, as asked")
    elif importlib.util.find_spec("atheris") is None:
        print("fuzz_binlog: atheris is not installed here, so mutation is not guided by coverage")
    else:
        return guided(artifacts, options.seconds, seed, inputs)
    return unguided(artifacts, options.seconds, seed, inputs)


def starting_inputs(corpus: Path | None) -> list[bytes]:
    """Return the sample logs, the small logs that are shipped, and those of a folder."""
    from tests.fuzz.binlog_target import seeds

    inputs = seeds()
    shipped = Path(__file__).resolve().parent.parent / "fixtures"
    for folder in (shipped, corpus):
        if folder is None or not folder.is_dir():
            continue
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.stat().st_size <= INPUT_BYTES_MAX:
                data = path.read_bytes()
                if data.startswith(PLAIN_LOG):
                    inputs.append(data)
    return inputs


def replay(path: Path) -> int:
    """Run one input without a net: what breaks the decoder shows as a trace."""
    from tests.fuzz.binlog_target import Seen, check

    seen = Seen()
    check(path.read_bytes(), seen)
    print(json.dumps(seen.as_dict(), indent=2))
    return 0


def guided(artifacts: Path, seconds: int, seed: int, inputs: list[bytes]) -> int:
    """Run atheris in a process of its own (it ends the process it runs in)."""
    corpus = artifacts / "corpus"
    shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir()
    for number, data in enumerate(inputs):
        (corpus / f"seed-{number:03d}").write_bytes(data)
    command = [sys.executable, "-m", MODULE, "--guided-run", str(artifacts)]
    command += ["--seconds", str(seconds), "--seed", str(seed)]
    log = artifacts / "fuzz.log"
    with log.open("wb") as output:
        try:
            done = subprocess.run(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=seconds + _GRACE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"fuzz_binlog: no end after {seconds + _GRACE_SECONDS} s; see {log}")
            return 1
    broken = sorted(
        path for path in artifacts.iterdir() if path.name.startswith(("crash-", "timeout-", "oom-"))
    )
    if done.returncode or broken:
        print("\n".join(log.read_text(errors="replace").splitlines()[-25:]))
        for path in broken:
            print(f"fuzz_binlog: BROKEN, replay with python -m {MODULE} --replay {path}")
        return 1
    statistics = artifacts / "statistics.json"
    return verdict(json.loads(statistics.read_text()) if statistics.is_file() else {})


def guided_run(artifacts: Path, seconds: int, seed: int) -> None:
    """Hand over to atheris; never returns."""
    import atheris

    with atheris.instrument_imports(include=["paraply.adapters.binlog"]):
        from tests.fuzz.binlog_target import Seen, check
    seen = Seen()

    def test_one_input(data: bytes) -> None:
        check(data, seen)
        if seen.inputs % _STATISTICS_EVERY == 0:
            write_statistics(artifacts, seen.as_dict())

    atheris.Setup(
        [
            MODULE,
            str(artifacts / "corpus"),
            f"-seed={seed}",
            f"-max_total_time={seconds}",
            f"-max_len={INPUT_BYTES_MAX}",
            f"-timeout={INPUT_SECONDS_MAX}",
            f"-rss_limit_mb={RSS_MEGABYTES_MAX}",
            f"-artifact_prefix={artifacts}/",
            "-print_final_stats=1",
        ],
        test_one_input,
    )
    atheris.Fuzz()


def write_statistics(artifacts: Path, statistics: dict[str, object]) -> None:
    """Write them whole or not at all: the process may end at any time."""
    partial = artifacts / "statistics.part"
    partial.write_text(json.dumps(statistics))
    os.replace(partial, artifacts / "statistics.json")


def unguided(artifacts: Path, seconds: int, seed: int, inputs: list[bytes]) -> int:
    """Mutate the starting inputs blindly until the time is up."""
    from tests.fuzz.binlog_target import Seen, check

    seen = Seen()
    choice = random.Random(seed)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        data = mutated(choice.choice(inputs), choice)
        try:
            check(data, seen)
        except Exception as fault:
            path = artifacts / f"crash-{seed}-{seen.inputs}"
            path.write_bytes(data)
            print(f"fuzz_binlog: BROKEN by {fault!r}")
            print(f"fuzz_binlog: replay with python -m {MODULE} --replay {path}")
            return 1
    return verdict(seen.as_dict())


def mutated(data: bytes, choice: random.Random) -> bytes:
    """Return a damaged copy: bytes set, runs copied, removed, or lengths made extreme."""
    result = bytearray(data)
    for _ in range(1 << choice.randrange(5)):
        if len(result) < 8:
            break
        at = choice.randrange(len(result))
        match choice.randrange(5):
            case 0:
                result[at] = choice.randrange(256)
            case 1:
                size = choice.choice([1, 2, 4, 8])
                value = choice.choice([b"\0", b"\xff", b"\x7f", b"\x80"]) * size
                result[at : at + size] = value
            case 2:
                del result[at : at + choice.randrange(1, 16)]
            case 3:
                source = choice.randrange(len(result))
                run = result[source : source + choice.randrange(1, 64)]
                result[at:at] = run
            case _:
                result[at] ^= 1 << choice.randrange(8)
    return bytes(result[:INPUT_BYTES_MAX])


def verdict(statistics: dict[str, object]) -> int:
    """Print what was reached; too little of it is not a pass."""
    events = statistics.get("events")
    names = events if isinstance(events, dict) else {}
    kinds = sum(not name.startswith("UNKNOWN") for name in names)
    print(
        f"fuzz_binlog: {statistics.get('inputs', 0)} inputs, "
        f"{statistics.get('read_to_end', 0)} of them readable, "
        f"{statistics.get('transactions', 0)} transactions, {statistics.get('rows', 0)} rows, "
        f"{kinds} known event types, diagnostics {statistics.get('codes', {})}"
    )
    if kinds < 20 or not statistics.get("rows") or not statistics.get("read_to_end"):
        print("fuzz_binlog: too little was reached to show anything")
        return 2
    print("fuzz_binlog: nothing broke")
    return 0


if __name__ == "__main__":
    sys.exit(main())
