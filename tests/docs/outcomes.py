"""What becomes of each command in the blocks of the pages: its exit code, or why it is not run.

The outputs in ``console`` blocks are compared by other tests. Every command in an ``sh`` block is
in one of these tables.
"""

from __future__ import annotations

PROVE = 'pip install "$(echo dist/paraply-*.whl)[prove]"'
TEST = 'pip install "$(echo dist/paraply-*.whl)[test]"'
INSTALLING = ("make wheel", "pip install dist/paraply-*.whl", PROVE, TEST)
"""Run in the clone, in this order, before all others; each ends with 0."""

IN_THE_CLONE = ("make ", "python -m ci.")

CAMPAIGN = (
    "paraply mine --subjects applier:logical_clock_unordered --histories 40 --seed 1"
    " --master none --out out/mine"
)
"""What the reader of docs/spark.md has run before."""

RUN = {
    "README.md": {
        "paraply audit binlog.000042 binlog.000043 --schema schema.sql --html report.html": 0,
        "paraply compare binlog.000042 --workers 8": 0,
        "paraply verify source.0000* --target replica.0000*": 0,
        "paraply explore applier --schedules 2000 --option workers=3": 0,
    },
    "CONTRIBUTING.md": {"make help": 0},
    "docs/appliers.md": {
        "paraply explore wl4648 --exhaustive --dialect=c0 --transactions=2 --rows=2"
        " --option sessions=1 --option deletes=false --option reads=0": 1,
        "paraply explore wl4648 --exhaustive --dialect=c2_c1 --transactions=3 --rows=2"
        " --option sessions=1 --option deletes=false --option reads=0": 2,
    },
    "docs/audit-json.md": {
        "paraply audit binlog.000001 --json - | jq -r '.violations[]"
        ' | "\\(.earlier.gtid) \\(.key)"\'': 0,
    },
    "docs/audit.md": {
        "paraply audit binlog.000007 binlog.000008": 0,
        "paraply audit binlog.* --html report.html": 0,
        "paraply audit binlog.* --schema schema.sql --strict --junit audit.xml"
        " --json audit.json": 0,
        "paraply audit binlog.000007 --json - | jq -r .verdict": 0,
    },
    "docs/compare.md": {
        "paraply compare --workload oltp --workers 8 --transactions 2000 --seed 0": 0,
        "paraply compare --workers 16 --appliers mysql,mariadb,c3 binlog.000001 binlog.000002": 0,
    },
    "docs/counterexamples.md": {"python -m ci.counterexamples --list": 0},
    "docs/explore.md": {
        "paraply list subjects": 0,
        "paraply list dialects": 0,
        "paraply list properties": 0,
        "paraply list mutants": 0,
        "paraply explore composed --exhaustive --transactions=2 --rows=1 --option sessions=1 "
        "--option single_primary=true --option workers=1": 2,
    },
    "docs/isolation.md": {
        "paraply check history.edn": 0,
        "paraply check history.edn --level snapshot-isolation": 0,
        "paraply check replica.json --log binlog.jsonl --level monotonic-prefix": 1,
        "paraply check history.edn --json result.json --junit result.xml": 0,
    },
    "docs/live.md": {"paraply live --list": 0},
    "docs/programs.md": {"python -m ci.programs --list": 0},
    "docs/spark.md": {
        "paraply mine --resume --out out/mine": 1,
        "paraply mine --report out/mine": 1,
        "paraply mine --promote out/mine": 0,
        'paraply mine --sql "SELECT system, property, count(*) n, min(transactions)'
        ' FROM breaches GROUP BY ALL ORDER BY n DESC"': 0,
    },
    "docs/verify.md": {
        "paraply verify source/binlog.0* --target replica/binlog.0*": 0,
        "paraply verify source/binlog.0* --target replica/binlog.0* --parts 4": 0,
    },
}
"""Exit code by page and command."""

NOT_RUN = {
    "takes minutes or hours; .ci/run or make nightly runs it": (
        "make check", "make test", "make long-tests", "make live", "make fuzz", "make bench",
        "make mutation-score", "make install", "python -m tests.fuzz --store", "paraply prove",
        "paraply mutants", "paraply mine --mutants all", "paraply mine --subjects all",
        "for first in $(seq",
    ),
    "takes half a minute; docs/write-an-adapter.md runs such a command and compares its output": (
        "paraply conform -- ./my-applier", "paraply conform --applier my_applier.py:Mine",
        "paraply conform --log binlog.* -- ./my-applier",
        "paraply conform --role tracker -- ./tracker", "paraply conform --self-test",
        "pytest --paraply-command ./my-applier",
    ),
    "takes ten seconds; docs/tutorial-researcher.md enumerates a smaller scope": (
        "paraply explore group --exhaustive --transactions 3 --rows 2",
    ),
    "takes half a minute; tests/mining runs such a campaign": (
        "paraply mine --applier my_applier.py:Applier", "paraply mine --histories 2000",
    ),
    "repeats runs that make check enumerates for the page's table; two of them are run": (
        "paraply explore wl4648 --exhaustive",
    ),
    "tests/reference_impl/test_composed_scopes.py explores the same scopes; one of them is run": (
        "paraply explore composed --exhaustive",
    ),
    "needs servers; make live-tests and make live run such commands": (
        "paraply live mariadb", "paraply live mysql", "paraply live galera", "paraply live --dsn",
        "paraply watch --source", "paraply conform --wire", "S=$(python -c",
        "python -m ci.counterexamples --only", "python -m ci.counterexamples --publish",
        "python -m ci.programs pglogical", "python -m ci.programs --publish",
        "python -m ci.programs --transactions", "PARAPLY_DSN_PASSWORD=… paraply audit --dsn",
        "psql ", "pg_recvlogical ",
    ),
    "needs a program of a server, or a compiler": (
        "mysqlbinlog -v binlog.000007 | paraply audit -", "go build ",
    ),
    "compiles kernels in a new environment; test_commands.py runs it in its own process": (
        "paraply audit --spark binlog.*", "paraply audit --spark --part-megabytes 128 binlog.*",
    ),
    "installs software as root": ("ci/servers",),
    "needs a network or a container engine": (
        "docker build", "docker run", "python -m venv env && env/bin/pip install",
    ),
    "needs a cluster or a bucket; make cluster-test and make nightly run such commands": (
        "PYSPARK_DRIVER_PYTHON=", "spark-submit ", "paraply audit --spark --out DIR --master yarn",
        "paraply verify --spark --master yarn",
        "paraply audit --follow",
    ),
    "opens a browser": ("paraply show counterexample.jsonl --open",),
    "names what no recorded log or history has: tables to map, GTIDs, a stream, a large table": (
        "paraply verify source.0000* --target dw.0000* --map",
        "paraply verify source/bin.000007 --target dw/bin.000003 --map",
        "paraply verify bin.000001 --target bin.000001 --map",
        "paraply verify source.stream", "paraply audit binlog.000007 --start-gtid",
        "paraply audit mariadb-bin.000007 --start-gtid",
        "paraply audit --spark histories.parquet",
        "paraply audit --spark --out DIR histories.parquet",
    ),
    "has a placeholder": (
        "paraply mine --promote out/mine NAME", "python -m tests.fuzz --reader NAME",
    ),
    "ends as the console block below it shows, which is run": ("make demo",),
}  # fmt: skip
"""Beginnings of commands by the reason for which they are not run."""
