"""Fuzz every reader of foreign input: ``python -m tests.fuzz --seconds 60``.

    python -m tests.fuzz [--seconds S] [--seed N] [--reader NAME ...] [--corpus DIR]
    python -m tests.fuzz --reader NAME --replay FILE               one input again
    python -m tests.fuzz --store FILE --inputs 10000000            so many in all, resumable
    python -m tests.fuzz --reader NAME --seed N --input NUMBER     one of those again

Inputs are guided by coverage where atheris is installed. ``--store`` and ``--blind`` do without:
input n of a reader then depends on the seed and n alone. ``--corpus`` keeps the inputs that reach
new code, and begins with them. ``--counts`` ends each reader at a number of inputs too, so that a
fast machine makes none that were not made before. Exit code 0: nothing broke; 1: something did; 2:
a reader read nothing, or refused nothing, so its inputs have shown nothing.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from tests.fuzz import campaign, guided
from tests.fuzz.oracle import bounded_time, limit_memory
from tests.fuzz.readers import Files, Reader, readers

MODULE = "tests.fuzz"
ENOUGH = 40
"""Inputs of a reader from which on it must have read some and refused some."""


def input_of(reader: Reader, seed: int, number: int) -> Files:
    """Return an input; the first ones are the seeds themselves."""
    seeds = reader.seeds()
    if number < len(seeds):
        return seeds[number]
    choice = random.Random(f"{reader.name} {seed} {number}")
    # Each seed gets the same share of bytes: many inputs of short ones, few of long ones.
    (chosen,) = choice.choices(seeds, [1 / sum(map(len, one.values())) for one in seeds])
    return reader.damaged(chosen, choice)


def is_telling(outcomes: Counter[str]) -> bool:
    """Return whether inputs were read and others refused."""
    refused = sum(count for name, count in outcomes.items() if name.startswith("P"))
    return 0 < refused < outcomes.total() or len(outcomes) > 1 or outcomes.total() < ENOUGH


def fuzz(
    reader: Reader, seed: int, numbers: range, deadline: float, artifacts: Path
) -> tuple[Counter[str], list[int]]:
    """Return the outcomes of a reader's inputs, and the inputs that broke it."""
    outcomes: Counter[str] = Counter()
    broken = []
    for number in numbers:
        if time.monotonic() >= deadline and number >= len(reader.seeds()):
            break
        files = input_of(reader, seed, number)
        try:
            # The first inputs also compile and import.
            with bounded_time() if number >= len(reader.seeds()) else nullcontext():
                outcomes[reader.read(files)] += 1
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            broken.append(number)
            _keep(artifacts / f"{reader.name}-{seed}-{number}", files)
            print(f"fuzz: BROKEN {reader.name} by input {number}: {error!r}"[:600])
            print(f"fuzz: again: python -m {MODULE} --reader {reader.name} --seed {seed} "
                  f"--input {number}", flush=True)  # fmt: skip
            if len(broken) >= 5:
                break
    return outcomes, broken


def _keep(folder: Path, files: Files) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


Guide = Callable[[Reader, int, float, int, Path, Path], tuple[Counter[str], list[Path]]]
"""See :func:`tests.fuzz.guided.fuzz`."""


def main(arguments: list[str] | None = None, guide: Guide | None = None) -> int:
    """Fuzz the readers in turn; each gets an equal share of the time."""
    every = {reader.name: reader for reader in readers()}
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--store", type=Path, help="continue the run whose tally is in this file")
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="with --store: in all")
    parser.add_argument("--counts", type=Path, help="JSON: most inputs by reader")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--reader", nargs="+", choices=sorted(every), default=list(every))
    parser.add_argument("--blind", action="store_true", help="not guided by coverage")
    parser.add_argument("--corpus", type=Path, help="where inputs that reach new code are kept")
    parser.add_argument("--input", type=int, help="this one alone, with its traceback")
    parser.add_argument("--replay", type=Path, help="this file alone, with its traceback")
    parser.add_argument("--artifacts", type=Path, help="where breaking inputs are kept")
    options = parser.parse_args(arguments)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1, 1 << 31)
    if options.store is not None:
        seed, _ = campaign.load(options.store, seed)
    if options.input is not None:
        reader = every[options.reader[0]]
        return _again(reader, input_of(reader, seed, options.input))
    if options.replay is not None:
        return _again(every[options.reader[0]], guided.unpack(options.replay.read_bytes()))
    artifacts = options.artifacts or Path(tempfile.gettempdir()) / "paraply-fuzz-broken"
    if guide is None and guided.is_possible() and not options.blind and options.store is None:
        return guided.start([*(arguments or sys.argv[1:]), "--seed", str(seed)])
    how = "not guided by coverage" if guide is None else "guided by coverage"
    print(f"fuzz: seed {seed}, {how}; inputs that break go to {artifacts}", flush=True)
    if guide is None:
        for name in options.reader:
            every[name].seeds()
        limit_memory()
    if options.store is not None:
        sound = campaign.run(
            [every[name] for name in options.reader],
            store=options.store, seed=seed, inputs=options.inputs,
            deadline=time.monotonic() + options.seconds, turn=fuzz, artifacts=artifacts,
        )  # fmt: skip
        return 0 if sound else 1
    share = options.seconds / len(options.reader)
    counts = json.loads(options.counts.read_text()) if options.counts is not None else {}
    code = 0
    for name in options.reader:
        broken: Sequence[object]
        if guide is not None:
            folder = artifacts / f"{name}-{seed}-guided"
            shutil.rmtree(folder, ignore_errors=True)
            kept = folder / "corpus" if options.corpus is None else options.corpus / name
            most = counts.get(name, -1)
            outcomes, broken = guide(every[name], seed, share, most, kept, folder)
            for path in broken:
                print(f"fuzz: BROKEN {name}; again: python -m {MODULE} --reader {name} "
                      f"--replay {path}", flush=True)  # fmt: skip
                print(f"fuzz: base64 -d of {base64.b64encode(path.read_bytes()[:4096]).decode()}")
        else:
            deadline = time.monotonic() + share
            numbers = range(counts.get(name, sys.maxsize))
            outcomes, broken = fuzz(every[name], seed, numbers, deadline, artifacts)
        shown = ", ".join(f"{what} {count:,}" for what, count in outcomes.most_common(8))
        print(f"fuzz: {name:18} {outcomes.total():7,} inputs: {shown}", flush=True)
        if broken:
            code = 1
        elif not is_telling(outcomes) and code == 0:
            print(f"fuzz: {name}: all inputs came out alike, which shows nothing")
            code = 2
    return code


def _again(reader: Reader, files: Files) -> int:
    for name, data in files.items():
        print(f"{name}: {data[:2000]!r}")
    try:
        print(reader.read(files))
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
