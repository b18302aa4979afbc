"""``paraply mine``: run millions of histories; keep the smallest breaches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from paraply.campaigning.comparison import compare, comparison_json, comparison_lines
from paraply.campaigning.files import Filed, promotable, promote, read_index, write_counterexamples
from paraply.campaigning.plan import add_plan_arguments, planned, usage, words_of
from paraply.campaigning.progress import mining_progress
from paraply.campaigning.result import judge, overall
from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.counterexamples.workload_arguments import STRICT_HELP
from paraply.file_arguments import InputPath, JsonFile
from paraply.mining.campaign import Progress, StopWhen, read_campaign, run_campaign
from paraply.mining.clusters import clusters_of, distinct, minimise_all
from paraply.mining.engines import IN_PROCESS, Engine, InProcess, OnSpark
from paraply.mining.java import ensure_java_home
from paraply.mining.plan import Plan
from paraply.mining.session import is_submitted
from paraply.mining.store import store_at
from paraply.number_arguments import positive, positive_seconds
from paraply.progress import progress as progress_bar
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.reporting.json_document import json_document
from paraply.reporting.mining_text import mining_json, mining_text
from paraply.reporting.plain_table import plain_table
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.kernel_cache import has_kernels
from paraply.vocabulary.verdict import Verdict

OUT = "out/mine"
CLUSTERS = 3
SPARK_PAYS_FROM = 100_000
"""Break-even in histories: two cores make about 2,000 a second, a JVM start costs 5 to 10 s."""
FAST_TIMES = 50
"""Rough speed-up of ``--fast``; Spark pays that much later."""
REGRESSIONS = "tests/regressions"
SCOPE_MAX = 7
"""Eight transactions take ten uninterruptible minutes."""

_EXAMPLE = """\
examples:
  paraply mine --mutants all                           every seeded fault, 200 histories of each
  paraply mine --subjects applier,group:wl8440 --histories 100000 --time-limit 600
  paraply mine --subjects all --workload transactions=6,rows=3,crashes=1 --stop-when coverage
  paraply mine --subjects all --histories 1000000 --master spark://host:7077 --out s3://b/mine
  paraply mine --applier my_applier.py:Applier         as a child process, as for conform
  paraply mine --histories 5000 -- ./my-applier        the same of any program
  paraply mine --resume --out out/mine                 continue after an interruption
  paraply mine --scope 6                               every history of six transactions on 3 rows
  paraply mine --report out/mine                       what a campaign found, without running it
  paraply mine --sql "select * from smallest"          query it (docs/spark.md has the views)
  paraply mine --promote out/mine applier-...-1        keep a counterexample as a regression test

exit codes: 0 every subject holds and every mutant is caught; 1 a subject breaks a property (known
breaches count unless --allow-expected) or an equivalent mutant is caught; 2 a situation was never
reached, a breach that is sought was not found, or the campaign is not complete
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Run subjects and mutants on random schedules, judge every history by every property,\n"
        "and write one row per history as Parquet. Of each sort of breach the smallest history\n"
        "is made smaller, confirmed, and written with a page. Killed at any moment, it resumes."
    )
    parser.epilog = _EXAMPLE
    what = parser.add_argument_group("what is run")
    add_plan_arguments(what)
    what.add_argument(
        "--stop-when", choices=[rule.value for rule in StopWhen],
        help="end a system early: when its breach was found, or all its situations were reached",
    )  # fmt: skip
    what.add_argument("--time-limit", type=positive_seconds, metavar="SECONDS", help="stop then")
    where = parser.add_argument_group("where it runs, and where results go")
    where.add_argument(
        "--master", default="auto", metavar="URL",
        help="Spark master (local[*], spark://host:7077, yarn, k8s://...), or none for this "
        f"process alone; auto: none below {SPARK_PAYS_FROM:,} histories, then local[*]",
    )  # fmt: skip
    where.add_argument(
        "--spark-conf", action="extend", nargs="+", default=[], metavar="NAME=VALUE",
        help="as spark.executor.memory=2g",
    )  # fmt: skip
    where.add_argument("--out", default=OUT, metavar="DIR", help=f"folder or URL ({OUT})")
    where.add_argument(
        "--resume",
        action="store_true",
        help="continue the campaign in --out; other options come from its plan",
    )
    where.add_argument(
        "--trust", action="store_true",
        help="with --resume: run the program that only the stored plan names; it is printed first",
    )  # fmt: skip
    where.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")
    where.add_argument("--no-times", action="store_true", help="leave times out")
    where.add_argument(
        "--minimise", choices=["goals", "all", "none"], default="goals",
        help="make counterexamples small: those that are sought, side effects of mutants too, none",
    )  # fmt: skip
    where.add_argument(
        "--clusters", type=positive, default=CLUSTERS, metavar="N",
        help=f"sorts of breach per system and property made small, frequent first ({CLUSTERS})",
    )  # fmt: skip
    where.add_argument(
        "--allow-expected", action="store_true",
        help="breaches that a dialect is known for do not make the exit code 1",
    )  # fmt: skip
    where.add_argument("--strict", action="store_true", help=STRICT_HELP)
    instead = parser.add_argument_group("instead of running")
    instead.add_argument(
        "--compare", type=positive, metavar="SEEDS",
        help="guided against blind on so many seeds: what each mutant needs to be found",
    )  # fmt: skip
    instead.add_argument(
        "--scope", type=int, choices=range(1, SCOPE_MAX + 1), metavar="N",
        help=f"every history of N transactions (1 to {SCOPE_MAX}) on 3 rows, 4 workers",
    )  # fmt: skip
    instead.add_argument(
        "--scope-fault", default="", metavar="F",
        help="with --scope: seeded with a fault (lowest_writer; another name lists them)",
    )  # fmt: skip
    instead.add_argument(
        "--report", type=InputPath, metavar="DIR", help="print what the campaign in DIR found"
    )
    instead.add_argument(
        "--sql", metavar="QUERY",
        help="run a query on the campaign in --out: views rows, breaches, systems and smallest",
    )  # fmt: skip
    instead.add_argument(
        "--promote", nargs="+", metavar=("DIR", "NAME"),
        help="copy the counterexamples named, or all that are confirmed (all), to --regressions; "
        "without a name, list them",
    )  # fmt: skip
    instead.add_argument(
        "--regressions",
        default=REGRESSIONS,
        metavar="DIR",
        help=f"folder of the regression tests ({REGRESSIONS})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run, report or promote; return the exit code."""
    is_instead = (
        arguments.scope
        or arguments.promote
        or arguments.report is not None
        or arguments.sql is not None
    )
    if is_instead and arguments.command_line:
        raise usage(f"{arguments.command_line[0]} is out of place: nothing is run")
    if arguments.scope:
        return _scope(arguments)
    if arguments.promote:
        return _promote(*arguments.promote, regressions=Path(arguments.regressions))
    if arguments.sql is not None:
        return _sql(arguments)
    if arguments.report is not None:
        progress = read_campaign(arguments.report)
        return _show(arguments, progress, read_index(store_at(arguments.report)), engine="")
    conf = words_of(arguments.spark_conf, option="--spark-conf")
    if conf and arguments.master == IN_PROCESS:
        raise usage("--spark-conf sets what Spark does, and --master none is without Spark")
    plan, stop_when = planned(arguments)
    if plan.is_fast:
        compile_kernels(plan)
    histories = plan.histories * len(plan.systems) // (FAST_TIMES if plan.is_fast else 1)
    engine = engine_for(arguments.master, histories, conf)
    try:
        if arguments.compare:
            return _compare(arguments, plan, engine)
        with mining_progress() as listener:
            progress = run_campaign(
                plan,
                arguments.out,
                engine,
                resume=arguments.resume,
                stop_when=stop_when,
                time_limit_s=arguments.time_limit,
                on_batch=listener,
            )
        filed = minimised(arguments, progress, engine)
    finally:
        engine.close()
    return _show(arguments, progress, filed, engine=engine.name)


def _promote(folder: str, *names: str, regressions: Path) -> int:
    if names:
        for path in promote(folder, names, regressions):
            print(path)
        return 0
    for name, entry in promotable(folder).items():
        print(name if entry.is_confirmed else f"{name} (not confirmed)")
    print(f"nothing is written: name those to copy to {regressions}/, or say all", file=sys.stderr)
    return 0


def _sql(arguments: argparse.Namespace) -> int:
    # Imported late: only this path needs DuckDB.
    from paraply.mining.sql import query_campaign

    columns, rows = query_campaign(arguments.out, arguments.sql)
    if arguments.json != STANDARD_OUTPUT:
        shown = [["" if value is None else str(value) for value in row] for row in rows]
        write_report(STANDARD_OUTPUT, "\n".join([*plain_table(columns, shown), ""]))
    if arguments.json is not None:
        found = [dict(zip(columns, map(_plain, row), strict=True)) for row in rows]
        write_report(arguments.json, json_document({"rows": found}))
    return 0


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _scope(arguments: argparse.Namespace) -> int:
    # Imported late: only this path compiles.
    from paraply.mining.small_scope import explore_scope
    from paraply.reporting.scope_text import scope_json, scope_text

    fault, transactions = arguments.scope_fault, arguments.scope
    try:
        result = explore_scope(transactions, fault=fault)
    except ValueError as error:
        raise usage(str(error)) from None
    if arguments.json != STANDARD_OUTPUT:
        write_report(STANDARD_OUTPUT, scope_text(result, transactions=transactions, fault=fault))
    if arguments.json is not None:
        write_report(arguments.json, scope_json(result, transactions=transactions, fault=fault))
    return result.verdict.exit_code


def engine_for(master: str, histories: int, conf: Mapping[str, str] | None = None) -> Engine:
    """Return the batch engine.

    ``auto`` takes Spark under ``spark-submit``, with settings, or where it can start and pays.
    """
    if master == "auto":
        is_wanted = is_submitted() or bool(conf)
        wants_spark = is_wanted or (histories >= SPARK_PAYS_FROM and _spark_can_start())
        master = "local[*]" if wants_spark else IN_PROCESS
    return InProcess() if master == IN_PROCESS else OnSpark(master, conf=conf)


def compile_kernels(plan: Plan) -> None:
    """Compile here, once, what each worker would compile."""
    # Imported late: it takes a second.
    from paraply.mining.compiled.twins import twin_of

    for twin in map(twin_of, plan.systems):
        if twin is not None and not has_kernels(twin.folder):
            twin.run_many(twin.settings, 0, 1)


def _spark_can_start() -> bool:
    try:
        if find_spec("pyspark") is None:
            raise ImportError("pyspark is not installed")
        ensure_java_home()
    except (ImportError, ParaplyError) as error:
        print(f"paraply: without Spark, in this process alone: {error}", file=sys.stderr)
        return False
    return True


def minimised(arguments: argparse.Namespace, progress: Progress, engine: Engine) -> list[Filed]:
    """Write small counterexamples, unless unwanted.

    One time limit covers all; ``--resume`` continues.
    """
    if arguments.minimise == "none":
        return []
    goals_only = arguments.minimise == "goals"
    clusters = clusters_of(progress, goals_only=goals_only, most=arguments.clusters)
    minimals = []
    with progress_bar("minimising", total=len(clusters)) as advance:
        for minimal in minimise_all(progress.plan, clusters, engine, smallest_of_system):
            minimals.append(minimal)
            advance(len(minimals))
            if arguments.time_limit and progress.elapsed >= arguments.time_limit:
                break
    if len(minimals) < len(clusters):
        left = len(clusters) - len(minimals)
        progress.remarks.append(f"{left:,} sorts of breaches were not made small: time was over")
    again = [minimal for minimal in minimals if minimal is not None]
    if len(again) < len(minimals):
        progress.remarks.append(
            f"{len(minimals) - len(again):,} sorts of breaches were not met again on the same "
            "choices: the applier does not always answer alike; their histories are in rows/"
        )
    store = store_at(arguments.out)
    return write_counterexamples(store, progress.plan, distinct(again))


def _compare(arguments: argparse.Namespace, plan: Plan, engine: Engine) -> int:
    seeds = range(plan.seed, plan.seed + arguments.compare)
    with mining_progress() as listener:
        comparison = compare(
            plan, arguments.out, engine, seeds, resume=arguments.resume, on_batch=listener
        )
    if arguments.json != STANDARD_OUTPUT:
        lines = comparison_lines(comparison, with_times=not arguments.no_times)
        write_report(STANDARD_OUTPUT, "\n".join([*lines, ""]))
    if arguments.json is not None:
        write_report(arguments.json, json_document(comparison_json(comparison)))
    missed = any(sum(needed.missed.values()) for needed in comparison.mutants.values())
    return (Verdict.UNKNOWN if missed else Verdict.HOLDS).exit_code


def _show(
    arguments: argparse.Namespace, progress: Progress, filed: Sequence[Filed], *, engine: str
) -> int:
    results = judge(progress, allow_expected=arguments.allow_expected, is_strict=arguments.strict)
    with_times = not arguments.no_times
    if arguments.json != STANDARD_OUTPUT:
        text = mining_text(progress, results, filed, engine=engine, with_times=with_times)
        write_report(STANDARD_OUTPUT, text)
    if arguments.json is not None:
        document = mining_json(progress, results, filed, engine=engine, with_times=with_times)
        write_report(arguments.json, document)
    return overall(progress, results).exit_code
