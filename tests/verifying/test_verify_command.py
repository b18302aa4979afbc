"""``paraply verify`` as users call it: exit codes, mappings, reports, errors."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from paraply.cli import main
from paraply.verifying import pipeline
from tests.builders import column_specs as spec
from tests.builders.json_schema import run_of_sarif
from tests.builders.log_forger import ForgedLog
from tests.verifying.small_logs import ACCOUNT, NOTE, Txn, account, run
from tests.verifying.test_real_logs import REPLICAS, files_of
from tests.verifying.workloads import START, batches, by_key, dependency_order, split, transfers

SOURCE = transfers(30, 4)


@pytest.fixture
def logs(tmp_path):
    def write(target: list[Txn], source: list[Txn] | None = None, **options) -> list[str]:
        mine = run(source or SOURCE, tmp_path / "source.000001", START)
        theirs = run(target, tmp_path / "target.000001", options.pop("rows", START), **options)
        return ["verify", mine, "--target", theirs]

    return write


def test_replica_that_keeps_the_order_holds(logs, capsys):
    assert main(logs(SOURCE)) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("HOLDS: prefix is required, and the target reaches prefix.")
    assert "30 in both logs, 0 missing, 0 errant, 0 applied again, 0 changed" in printed
    assert "nothing seen twice" in printed
    assert "exactly once" not in printed, "two logs cannot show that"


def test_replica_out_of_order_is_violated_until_atomic_is_enough(logs, capsys):
    arguments = logs(dependency_order(SOURCE, 6, 1))
    assert main(arguments) == 1
    assert "Why not prefix" in capsys.readouterr().out
    assert main([*arguments, "--require", "atomic"]) == 0
    assert main([*arguments, "--require", "batches"]) == 1


def test_screen_has_at_most_forty_lines_and_hundred_columns(logs, capsys):
    main([*logs(split(SOURCE), domain=7), "--require", "prefix"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("applier", ["diverged", "but for few rows", "torn"])
def test_reports_do_not_depend_on_the_random_secret(applier, logs, tmp_path, capsys, monkeypatch):
    """Rows come in the order of the logs, not of their digests."""
    renamed = [{key: (row[0], "bob", row[2]) for key, row in txn.writes.items()} for txn in SOURCE]
    lacking = [{key: row for key, row in t.writes.items() if key[1] not in (3, 5)} for t in SOURCE]
    target = {
        "diverged": list(map(Txn, renamed)),
        "but for few rows": list(map(Txn, lacking)),
        "torn": by_key(SOURCE, 3, 1),
    }[applier]
    arguments = [*logs(target, domain=7), "--require", "prefix"]
    for form in ("text", "json", "html"):
        found = set()
        for secret in range(4):
            monkeypatch.setattr(pipeline, "new_secret", lambda key=secret: bytes([key] * 16))
            out = tmp_path / f"report.{form}"
            assert main([*arguments, *([] if form == "text" else [f"--{form}", str(out)])]) == 1
            printed = capsys.readouterr().out
            found.add(printed if form == "text" else out.read_text())
        assert len(found) == 1, form


def test_third_party_applier_must_reach_the_final_state_by_default(logs, capsys):
    renamed = {"schema": "dw", "names": {"account": "accounts"}, "domain": 7}
    target = [Txn(txn.writes) for txn in batches(SOURCE, 4)]
    arguments = [*logs(target, **renamed), "--map", "shop.account=dw.accounts"]
    assert main(arguments) == 0
    assert "shop.account = dw.accounts" in capsys.readouterr().out
    assert main([*arguments, "--require", "batches"]) == 0
    assert main([*arguments, "--require", "prefix"]) == 1


def test_map_of_a_whole_schema_and_of_chosen_columns(logs):
    renamed = {"schema": "dw", "domain": 7}
    assert main([*logs(SOURCE, **renamed), "--map", "shop.*=dw.*", "--require", "prefix"]) == 0
    chosen = "shop.account=dw.account:id,balance"
    other_owner = [
        Txn({key: (row[0], "bob", row[2]) for key, row in txn.writes.items()}) for txn in SOURCE
    ]
    arguments = logs(other_owner, **renamed)
    assert main([*arguments, "--map", "shop.*=dw.*"]) == 1
    assert main([*arguments, "--map", chosen, "--require", "prefix"]) == 0


def test_map_file_renames_casts_and_leaves_out(logs, tmp_path, capsys):
    columns = (
        spec.integer(4).named("pk", nullable=False),
        spec.varchar(100).named("owner"),
        spec.varchar(100).named("amount"),
        spec.integer(4).named("loaded_at"),
    )
    target = [
        Txn({key: (row[0], "ANN ", str(row[2]), 5) for key, row in txn.writes.items()})
        for txn in SOURCE
    ]
    rows = {key: (row[0], "ANN ", str(row[2]), 5) for key, row in START.items()}
    arguments = logs(
        target, rows=rows, schema="dw", domain=7, tables={"account": columns, "note": NOTE}
    )
    rules = tmp_path / "map.toml"
    rules.write_text(
        '[[table]]\nsource = "shop.account"\ntarget = "dw.account"\n'
        'renamed = {id = "pk", balance = "amount"}\nkey = ["id"]\n'
        'cast = {balance = "number", owner = "trim"}\nleave_out = ["owner"]\n'
    )
    assert main([*arguments, "--map-file", str(rules), "--require", "prefix"]) == 0
    assert "loaded_at" in capsys.readouterr().out
    # Without the cast, text and numbers do not compare: that is unknown, not violated.
    rules.write_text(rules.read_text().replace("cast", "# cast"))
    assert main([*arguments, "--map-file", str(rules), "--require", "prefix"]) == 2
    assert "name a cast" in capsys.readouterr().out


def test_table_only_at_the_source_is_unknown_until_confirmed(logs, capsys):
    source = [*SOURCE, Txn({("basket", 1): (1, "ann", 1)}), SOURCE[0]]
    arguments = logs([*SOURCE, SOURCE[0]], source, domain=7)
    assert main(arguments) == 2
    assert "filtered on purpose, or lost" in capsys.readouterr().out
    assert main([*arguments, "--filtered", "shop.basket"]) == 0
    assert "as confirmed: shop.basket" in capsys.readouterr().out


def test_target_that_ends_early_is_behind_and_lost_only_if_drained(logs, capsys):
    source = [Txn(account(number, 7 * number)) for number in range(1, 9)]
    arguments = logs(source[1:-1], source, domain=7)
    assert main([*arguments, "--require", "atomic"]) == 0
    assert main(arguments) == 2
    assert "2 rows differ; they may be late" in capsys.readouterr().out.replace(
        "\n" + " " * 15, " "
    )
    assert main([*arguments, "--drained"]) == 1
    # With the last transaction in, the first one cannot be late.
    assert main(logs(source[1:], source, domain=7)) == 1
    assert main(logs(source[:-1], source, domain=7)) == 2


def test_missing_errant_repeated_and_changed_transactions_are_named(logs, capsys):
    changed = SOURCE[20].writes | account(1, 5)
    target = [*SOURCE[:5], *SOURCE[6:20], Txn(changed, name=21), *SOURCE[21:],
              Txn(account(2, 9), name=900), SOURCE[29]]  # fmt: skip
    assert main([*logs(target), "--json", "-"]) == 1
    document = json.loads(capsys.readouterr().out)
    names = document["names"]
    assert (names["missing"], names["errant"], names["twice"]) == (1, 1, 1)
    texts = [finding["text"] for finding in names["findings"]]
    assert "0-1-6 is missing, though the target has later transactions" in texts
    assert "0-1-900 is not in the source's log" in texts
    assert "0-1-30 was applied again" in texts
    assert any(text.startswith("0-1-21 differs") for text in texts)
    assert document["verdict"] == "violated"


def test_rows_without_a_key_count_as_copies(logs, capsys):
    source = [Txn(notes=(("hello", 5), ("hello", 5))), Txn(notes=(("bye", 3),)), SOURCE[0]]
    assert main(logs(source, source)) == 0
    assert "rows are matched whole" in capsys.readouterr().out
    target = [Txn(notes=(("hello", 5), ("hello", 5), ("hello", 5), ("hello", 5))), *source[1:]]
    assert main([*logs(target, source), "--by-content"]) == 1
    assert "'hello'" in capsys.readouterr().out


def test_log_that_begins_later_is_unknown_and_named(logs, capsys):
    rows = dict(START)
    for txn in SOURCE[:10]:
        rows |= txn.writes
    target = [Txn(txn.writes) for txn in SOURCE[10:]]
    assert main([*logs(target, rows=rows, domain=7), "--require", "prefix"]) == 2
    assert "it seems to begin later, after 0-1-10" in capsys.readouterr().out


def test_source_that_begins_later_is_unknown_and_named(logs, capsys):
    arguments = logs(SOURCE, domain=7)
    rows = dict(START)
    for txn in SOURCE[:12]:
        rows |= txn.writes
    source = run(SOURCE[12:], Path(arguments[1]), rows)
    assert main(["verify", source, *arguments[2:], "--require", "prefix"]) == 2
    assert "source log: it seems to begin later, after 7-1-12" in capsys.readouterr().out


def test_logs_of_different_times_are_unknown(logs, capsys):
    other = transfers(30, 77)
    rows = {key: (row[0], "bob", 5) for key, row in START.items()}
    assert main([*logs(other, rows=rows, domain=7), "--require", "prefix"]) == 2
    assert "the logs seem to be of different times" in capsys.readouterr().out.replace(
        "\n    ", " "
    )


def test_source_and_copy_in_one_log(tmp_path, capsys):
    """As an online schema change works: source table and new table change in one transaction."""
    both = [
        Txn(txn.writes | {("basket", key[1]): row for key, row in txn.writes.items()})
        for txn in SOURCE
    ]
    rows = START | {("basket", key[1]): row for key, row in START.items()}
    log = run(both, tmp_path / "bin.000001", rows)
    arguments = ["verify", log, "--target", log, "--map", "shop.account=shop.basket"]
    assert main([*arguments, "--require", "prefix"]) == 0
    assert "30 of 30 target commits" in capsys.readouterr().out


def test_reports_in_every_form_agree(logs, tmp_path, capsys):
    names = {form: tmp_path / f"report.{form}" for form in ("json", "junit", "sarif", "html")}
    options = [part for form, name in names.items() for part in (f"--{form}", str(name))]
    assert main([*logs(split(SOURCE)), *options]) == 1
    document = json.loads(names["json"].read_text())
    assert (document["verdict"], document["level"]) == ("violated", "per-key")
    suite = ElementTree.parse(names["junit"]).getroot().find("testsuite")
    assert suite is not None
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) > 0
    sarif = run_of_sarif(names["sarif"].read_text())
    results = sarif["results"]
    rules = {rule["id"] for rule in sarif["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in results} <= rules
    assert any(result["level"] == "error" for result in results)
    page = names["html"].read_text()
    assert "Not atomic" in page
    assert page.count('class="witness"') == len(document["witnesses"])
    assert "<polyline" in page


def test_names_and_values_of_strangers_are_escaped(logs, tmp_path, capsys):
    evil = '<script>alert("x")</script>\x1b[31m'
    target = [*SOURCE[:-1], Txn({("account", 1): (1, evil, 1)})]
    page = tmp_path / "page.html"
    assert main([*logs(target), "--html", str(page)]) == 1
    assert "<script>alert" not in page.read_text()
    assert "\x1b" not in capsys.readouterr().out + page.read_text()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--map", "shop.account"], "P370"),
        (["--map", "shop.*=dw.t"], "P370"),
        (["--map-file", "/nowhere.toml"], "P371"),
        (["--map", "shop.account=other.t"], "P372"),
    ],
)
def test_wrong_mapping_is_an_error_with_a_remedy(logs, capsys, arguments, code):
    given = [*logs(SOURCE, schema="dw", domain=7), *arguments]
    if code == "P372":
        given += ["--ignored", "dw.account"]
    assert main(given) == 3
    error = capsys.readouterr().err
    assert code in error
    assert "remedy:" in error


def test_map_file_with_an_unknown_word_names_the_word(logs, tmp_path, capsys):
    rules = tmp_path / "map.toml"
    rules.write_text('[[table]]\nsource = "a.b"\ntarget = "c.d"\ncolums = ["id"]\n')
    assert main([*logs(SOURCE), "--map-file", str(rules)]) == 3
    assert "has no 'colums'" in capsys.readouterr().err


def test_log_without_rows_and_missing_file_are_errors(tmp_path, capsys, logs):
    arguments = logs(SOURCE)
    empty = run([], tmp_path / "empty.000001")
    assert main([*arguments[:2], "--target", empty]) == 3
    assert "P373" in capsys.readouterr().err
    assert main([*arguments[:2], "--target", str(tmp_path / "nothing")]) == 3
    assert "P101" in capsys.readouterr().err


def test_damaged_log_is_at_best_unknown(tmp_path, logs, capsys):
    arguments = logs(SOURCE)
    target = Path(arguments[-1])
    target.write_bytes(target.read_bytes()[:-40])
    assert main([*arguments, "--require", "prefix"]) == 2
    assert "Unknown" in capsys.readouterr().out


def test_target_that_is_ahead_of_a_damaged_source_is_unknown(tmp_path, capsys):
    """Its first transactions change no row, so commits with rows have other numbers."""
    folder = next(folder for folder in REPLICAS if "mysql" in folder.parent.name)
    source = tmp_path / "source.000001"
    source.write_bytes((folder / "bin.000001").read_bytes()[:-2000])
    target = str(folder / "replica-bin.000001")
    arguments = ["verify", str(source), "--target", target, "--require=prefix"]
    assert main(arguments) == 2
    assert "Unknown" in capsys.readouterr().out


def test_violation_before_the_damage_of_the_source_is_one(tmp_path, logs):
    arguments = logs(split(SOURCE))
    source = Path(arguments[1])
    source.write_bytes(source.read_bytes()[:-40])
    assert main([*arguments, "--require", "prefix"]) == 1


def test_target_with_a_damaged_first_file_is_unknown(tmp_path, logs):
    """What its second file changes seems to come from nowhere."""
    folder = next(folder for folder in REPLICAS if "mysql" in folder.parent.name)
    log = ForgedLog.read(folder / "replica-bin.000001")
    half = log.starts()[len(log) // 2]
    first, second = copy.deepcopy(log), copy.deepcopy(log)
    del first.events[half:]
    del second.events[1:half]
    files = [str(one.save(tmp_path / f"t.{at}")) for at, one in enumerate((first, second))]
    arguments = ["verify", *files_of(folder), "--require=prefix", "--target", *files]
    assert main(arguments) == 0
    Path(files[0]).write_bytes(Path(files[0]).read_bytes()[:-2000])
    assert main(arguments) == 2


def test_account_table_has_the_columns_that_these_tests_name():
    assert [column.name for column in ACCOUNT] == ["id", "owner", "balance"]


def test_audit_of_the_target_decides_where_its_metadata_is_unsafe(tmp_path, capsys):
    """Each transaction of the forged replica may run beside the one before."""
    folder = next(folder for folder in REPLICAS if "mysql" in folder.parent.name)
    forged = ForgedLog.read(folder / "replica-bin.000001")
    for ordinal in range(3, len(forged) + 1):
        forged.set_timestamp(ordinal, last_committed=ordinal - 2)
    target = str(forged.save(tmp_path / "target.000001"))
    arguments = ["verify", *files_of(folder), "--target", target, "--json", "-"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["metadata"] is None
    assert main([*arguments, "--audit"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["metadata"]["verdict"] == document["verdict"] == "violated"
    assert document["level"] == "prefix"
    assert document["headline"].startswith("the target's own metadata: ")
    assert main([*arguments[:-2], "--audit"]) == 1
    assert "  metadata     violated: " in capsys.readouterr().out


def test_audit_never_improves_a_verdict(logs, capsys):
    assert main([*logs(split(SOURCE)), "--require", "prefix", "--audit"]) == 1
    assert main([*logs(SOURCE), "--target", "-", "--audit"]) == 3
