"""``paraply verify``: row changes per CPU second."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ci.bench.generate_log import generate
from ci.bench.measure import Run, interleave, run_here
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.fingerprints import fingerprint
from paraply.properties.two_logs.streaming import judge_streaming
from paraply.verifying.pipeline import VerifyRequest, verify

COMMITS = 10_000
KEYS = 100_000
ROWS = 3
MEGABYTES_MAX = 8.0
JUDGE_MIN, WHOLE_MIN = 60_000, 11_000
"""A prototype's changes per CPU second."""


def made_commits(seed: int) -> list[Commit]:
    """Return commits of three updated rows each."""
    chance = Random(seed)
    held: dict[int, int] = {}
    commits = []
    for number in range(COMMITS):
        changes = {}
        for key in chance.sample(range(KEYS), ROWS):
            value = fingerprint(b"bench", key, number)
            changes[key] = (held.get(key, 1), value)
            held[key] = value
        commits.append(Commit(changes=changes))
    return commits


def swapped(commits: list[Commit]) -> list[Commit]:
    """Swap every fourth pair without a common row."""
    order = list(commits)
    for at in range(0, COMMITS - 1, 4):
        if not order[at].changes.keys() & order[at + 1].changes.keys():
            order[at], order[at + 1] = order[at + 1], order[at]
    return order


def split(commits: list[Commit]) -> list[Commit]:
    """Return a commit per row."""
    return [Commit(changes={key: pair}) for c in commits for key, pair in c.changes.items()]


@benchmark("verify")
def verify_logs(options: Options) -> Report:
    """Judge synthetic commits and a generated log."""
    source = made_commits(options.seed)
    path = options.folder / f"verify-{options.seed}.binlog"
    if not path.exists():
        size = int(min(options.megabytes, MEGABYTES_MAX) * 1e6)
        generate(path, dialect="mariadb", size_bytes=size, seed=options.seed)
    request = VerifyRequest(source=(str(path),), target=(str(path),))
    seen = verify(request)
    report = Report(
        benchmark="verify",
        input=f"{COMMITS:,} made commits of {ROWS} rows; a log of {path.stat().st_size / 1e6:.0f} "
        f"MB against itself; seed {options.seed}",
    )
    changes = dict.fromkeys(("serial", "swapped", "split"), 2 * COMMITS * ROWS)
    changes["log, with reading"] = seen.source.changes + seen.target.changes

    def judging(target: list[Commit]) -> Callable[[], Run]:
        return lambda: run_here(lambda: judge_streaming(source, target))

    runs = interleave(
        {
            "serial": judging(source),
            "swapped": judging(swapped(source)),
            "split": judging(split(source)),
            "log, with reading": lambda: run_here(lambda: verify(request)),
        },
        options.rounds,
    )
    for name, result in runs.items():
        speed = changes[name] / result.cpu_seconds
        report.add(name, "row changes of both logs", speed, "per CPU s")
        whole = name == "log, with reading"
        report.goals.append(
            Goal(
                name=f"{name}: per CPU second", wanted=WHOLE_MIN if whole else JUDGE_MIN, got=speed
            )
        )
    return report
