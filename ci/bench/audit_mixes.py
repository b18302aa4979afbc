"""Benchmark ``audit-mixes``: audits of four kinds of logs beside the servers' own decoders.

Both programs read the same file; ``mysqlbinlog -v`` or ``mariadb-binlog -v`` prints to /dev/null.
CPU seconds are compared, so that other work on the machine does not count.
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from ci.bench import generate_log, mixes
from ci.bench.measure import Run, interleave, run_measured
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.adapters.servers.installation import find_mariadb, find_mysql
from paraply.vocabulary.errors import ParaplyError

SPEED_GOAL = 2.0
"""CPU seconds of the decoder, relative to those of the audit."""
MEMORY_GOAL_MB = 300.0
MEGABYTES = 1000.0
"""Servers begin a new log at 1 GiB; start and prediction take the same time for any size."""
KINDS = ("wide", *mixes.KINDS)
_VERDICTS = frozenset({0, 2})


def _log(options: Options, kind: str, dialect: str, megabytes: float) -> Path:
    path = options.folder / f"mix-{dialect}-{kind}-{megabytes:g}mb-seed{options.seed}.000001"
    if not path.exists():
        made, size = path.with_suffix(".part"), int(megabytes * 1e6)
        if kind == "wide":
            generate_log.generate(made, dialect=dialect, size_bytes=size, seed=options.seed)
        else:
            mixes.generate(made, kind=kind, dialect=dialect, size_bytes=size, seed=options.seed)
        made.rename(path)
    return path


def _audit(path: Path, options: Options) -> Run:
    command = (sys.executable, "-m", "paraply", "audit", str(path))
    return run_measured(command, exit_codes=_VERDICTS, seconds_max=options.seconds_max)


def _engine(path: Path, options: Options) -> str:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "audit.json"
        command = (sys.executable, "-m", "paraply", "audit", str(path), "--json", str(out))
        run_measured(command, exit_codes=_VERDICTS, seconds_max=options.seconds_max)
        result = json.loads(out.read_text())
    return f"{result['verdict']}, engine {result['engine']}"


@benchmark("audit-mixes", megabytes=MEGABYTES)
def audit_mixes(options: Options) -> Report:
    """Audit logs of wide rows, narrow rows, a production mix, and a compressed one."""
    megabytes = options.megabytes
    report = Report(
        benchmark="audit-mixes",
        input=f"logs of {megabytes:g} MB, compressed ones before compression (seed {options.seed})",
    )
    for dialect, find in {"mariadb": find_mariadb, "mysql": find_mysql}.items():
        try:
            decoder = find().binlog_command
        except ParaplyError as missing:
            decoder = ()
            report.remarks.append(f"no comparison with a decoder for {dialect}: {missing}")
        for kind in KINDS:
            path = _log(options, kind, dialect, megabytes)
            name = f"{kind}, {dialect}"
            # The first run may compile kernels; only later runs count.
            report.remarks.append(f"{name}: {_engine(path, options)}")
            contestants = {"audit": partial(_audit, path, options)}
            if decoder:
                command = (*decoder, "-v", str(path))
                contestants["decoder"] = partial(
                    run_measured, command, seconds_max=options.seconds_max
                )
            runs = interleave(contestants, options.rounds)
            for contestant, taken in runs.items():
                report.add(f"{name}: {contestant}", "CPU time", taken.cpu_seconds, "s")
            report.add(f"{name}: audit", "peak memory", runs["audit"].peak_bytes / 1e6, "MB")
            report.goals.append(
                Goal(
                    name=f"{name}: peak memory of the audit in MB",
                    wanted=MEMORY_GOAL_MB,
                    got=runs["audit"].peak_bytes / 1e6,
                    at_most=True,
                )
            )
            if "decoder" in runs:
                report.goals.append(
                    Goal(
                        name=f"{name}: CPU seconds of the decoder / of the audit",
                        wanted=SPEED_GOAL,
                        got=runs["decoder"].cpu_seconds / runs["audit"].cpu_seconds,
                    )
                )
            if not options.keeps_inputs:
                path.unlink()
    return report
