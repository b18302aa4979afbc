"""``paraply check``: recorded histories of both kinds, and every way to get it wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from paraply.adapters.history_parquet import write_parquet
from paraply.cli import main
from paraply.interface.checking import check
from paraply.judging.history_files import FileKind, kind_of
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.verdict import Verdict

EXAMPLES = Path(__file__).parents[1] / "fixtures" / "histories"
EXAMPLE_VERDICTS = {
    "serializable.edn": (0, "holds: nothing in this history contradicts serializable"),
    "read-skew.edn": (1, "refuted by G-single, G-nonadjacent, G2-item"),
    "write-cycle.json": (1, "refuted by G0"),
    "write-skew.edn": (1, "refuted by G2-item"),
    "aborted-read.jsonl": (1, "refuted by G1a"),
    "intermediate-read.edn": (1, "refuted by G1b"),
    "information-cycle.edn": (1, "refuted by G1c"),
    "long-fork.edn": (1, "refuted by G-nonadjacent, G2-item"),
    "gap.edn": (0, "holds: nothing in this history contradicts serializable"),
    "bank.edn": (1, "violated: 1 violated"),
    "set.edn": (1, "violated: 1 violated, 5 holds"),
    "counter.edn": (0, "holds: 2 holds"),
}


@pytest.fixture
def recorded(tmp_path):
    """Return a file of some runs of the applier, and the runs."""

    def record(dialect="logical_clock", count=3):
        subject, workload = subject_named("applier"), Workload(dialect=dialect)
        runs = [subject.run(schedule, workload) for schedule in random_schedules(0, count)]
        file = tmp_path / f"{dialect}.jsonl"
        lines = [line for run in runs for line in write_history(run)]
        file.write_text("".join(f"{line}\n" for line in lines))
        return file, runs

    return record


def test_every_example_is_tried():
    files = {path.name for path in EXAMPLES.iterdir()}
    assert files - {"README.md", "gap.log.jsonl"} == set(EXAMPLE_VERDICTS)


@pytest.mark.parametrize("name", EXAMPLE_VERDICTS)
def test_example_gets_its_verdict_and_exit_code(name, capsys):
    exit_code, summary = EXAMPLE_VERDICTS[name]
    assert main(["check", str(EXAMPLES / name)]) == exit_code
    assert summary in capsys.readouterr().out.splitlines()[-1]


def test_breach_is_told_once_under_its_first_name(capsys):
    main(["check", str(EXAMPLES / "read-skew.edn")])
    out = " ".join(capsys.readouterr().out.split())
    sentence = "T1 appended 1 to x before T2 appended 2; T2 read y before T1 wrote 1 there"
    assert out.count(sentence) == 1


def test_set_tells_the_lost_element_and_the_reads_without_it(capsys):
    main(["check", str(EXAMPLES / "set.edn")])
    out = " ".join(capsys.readouterr().out.split())
    assert "T2 added 2 to set and was confirmed; in the end T4 at n2 and T5 at n1 read set" in out
    # A set without an order of versions decides the levels of its own findings only.
    assert main(["check", str(EXAMPLES / "set.edn"), "--level", "serializable"]) == 2
    assert "a set shows no order of versions" in capsys.readouterr().out
    assert main(["check", str(EXAMPLES / "counter.edn"), "--level", "monotonic-reads"]) == 0
    assert check(EXAMPLES / "set.edn").verdict is Verdict.VIOLATED


def test_log_of_a_counter_has_the_numbers_of_transactions(tmp_path, capsys):
    recording, log = tmp_path / "gap.edn", tmp_path / "gap.log.jsonl"
    recording.write_text(
        "{:process 0 :type :ok :f :txn :value [[:inc x 1]]}"
        "{:process 1 :type :ok :f :txn :value [[:inc y 1]]}"
        "{:process 2 :type :ok :f :txn :value [[:r x 0] [:r y 1]]}"
    )
    log.write_text("1\n2\n")
    assert main(["check", str(recording), "--log", str(log)]) == 1
    assert "T3 saw y of T2 but not x of T1, which the log has" in capsys.readouterr().out
    for text in ("3\n", "true\n", '[["x", 1]]\n'):
        log.write_text(text)
        assert main(["check", str(recording), "--log", str(log)]) == 3
        assert "is not the number of a transaction that increments" in capsys.readouterr().err


def test_gap_is_no_breach_of_serializability_and_one_of_prefixes(capsys):
    gap, log = str(EXAMPLES / "gap.edn"), str(EXAMPLES / "gap.log.jsonl")
    assert main(["check", gap, "--level", "prefix"]) == 2
    assert "the order of the source's log is not known" in capsys.readouterr().out
    assert main(["check", gap, "--level", "prefix", "--log", log]) == 1
    out = capsys.readouterr().out
    assert "T3 saw y of T2 but not x of T1, which the log has before it" in out
    assert main(["check", gap, "--log", log]) == 0


def test_history_in_which_no_client_did_anything_is_unknown(tmp_path, capsys):
    file = tmp_path / "nemesis.edn"
    file.write_text("{:process :nemesis :type :info :f :kill :value nil}")
    assert main(["check", str(file)]) == 2
    assert "rw-register, 0 transactions\n" in capsys.readouterr().out


def test_level_decides_the_exit_code(capsys):
    skew = str(EXAMPLES / "write-skew.edn")
    assert main(["check", skew, "--level", "snapshot-isolation"]) == 0
    assert main(["check", skew, "--level", "serializable"]) == 1
    assert main(["check", skew, "--level", "read-your-writes"]) == 2
    assert capsys.readouterr().out.endswith("no session came back to a key in such a way\n")


def test_bank_is_judged_by_its_total(capsys):
    bank = str(EXAMPLES / "bank.edn")
    assert main(["check", bank, "--total", "10"]) == 1
    assert "T3 (line 5) saw 5 in all accounts together" in capsys.readouterr().out
    assert main(["check", bank, "--total", "5"]) == 1
    assert "T1 (line 2) saw 10" in capsys.readouterr().out
    assert main(["check", bank, "--level", "serializable"]) == 1
    assert "refuted by bank total" in capsys.readouterr().out
    assert main(["check", bank, "--level", "read-committed"]) == 2


def test_bank_whose_total_never_changes_holds(tmp_path, capsys):
    file = tmp_path / "bank.edn"
    file.write_text("{:process 0 :type :ok :f :read :value {0 10}}")
    assert main(["check", str(file)]) == 0
    assert main(["check", str(file), "--level", "serializable"]) == 2
    assert "a bank shows totals, and no versions" in capsys.readouterr().out
    file.write_text("{:process 0 :type :ok :f :transfer :value {}}")
    assert main(["check", str(file)]) == 2
    assert "no read of the accounts succeeded" in capsys.readouterr().out


@pytest.mark.long
def test_own_history_is_judged_by_the_properties_of_its_subject(recorded, capsys):
    file, _ = recorded("logical_clock_unordered", count=100)
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert "100 histories of applier logical_clock_unordered" in out
    assert ["engine_commits_follow_the_log", "violated"] in [
        line.split()[:2] for line in out.splitlines()
    ]
    assert "  history " in out
    assert "certification" not in out


def test_own_history_that_breaks_nothing_holds_or_names_what_is_unknown(recorded, capsys):
    file, _ = recorded()
    assert main(["check", str(file), "--property", "rows_apply_as_logged"]) == 0
    capsys.readouterr()
    assert main(["check", str(file)]) in (0, 2)
    assert "its situation does not occur" in capsys.readouterr().out


def test_property_of_which_the_history_says_nothing_is_unknown(recorded, capsys):
    file, _ = recorded()
    assert main(["check", str(file), "--property", "members_decide_alike"]) == 2
    assert capsys.readouterr().out.endswith("unknown: 1 unknown\n")


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 3])
def test_every_form_lists_what_monitors_say(count, recorded, tmp_path, capsys):
    file, _ = recorded(count=count)
    names = tmp_path / "report.json", tmp_path / "report.xml"
    options = ["--json", str(names[0]), "--junit", str(names[1])]
    main(["check", str(file), "--monitor", "P07", "P49", *options])
    printed = " ".join(capsys.readouterr().out.split())
    order, group = json.loads(names[0].read_text())["rows"]
    cases = ElementTree.parse(names[1]).getroot().findall("testsuite/testcase")
    first = "" if count == 1 else "history 1: "
    for row, case, start in (
        (order, cases[0], f"{first}a run of commit_order; "),
        (group, cases[1], f"{first}no certified events"),
    ):
        assert row["said"].startswith(start)
        assert row["said"] in printed
        counts = "{decided} of {relevant} situations are decidable".format(**row["situations"])
        assert case.find("system-out").text == f"{row['said']}\n{counts}"
    assert (order["verdict"], group["verdict"]) == ("holds", "unknown")
    assert "steps followed" in order["said"]


def test_folder_of_parquet_is_judged_as_its_lines_are(recorded, tmp_path, capsys):
    file, runs = recorded("logical_clock_unordered", count=40)
    write_parquet(tmp_path / "runs", runs)
    codes = [main(["check", str(name)]) for name in (file, tmp_path / "runs")]
    lines, parquet = (text.splitlines()[1:] for text in _outputs(capsys, 2))
    assert codes[0] == codes[1]
    assert lines == parquet
    assert main(["check", str(tmp_path / "runs" / "histories.parquet")]) == codes[0]


def _outputs(capsys, count):
    text = capsys.readouterr().out
    parts = text.split("\nviolated: ")
    assert len(parts) == count + 1
    ends = [part.partition("\n") for part in parts[1:]]
    return [parts[0] + ends[0][0], ends[0][2] + ends[1][0]]


def test_unfinished_recording_says_so(recorded, tmp_path, capsys):
    file, _ = recorded(count=1)
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    main(["check", str(file)])
    assert "1 broke off before the end" in capsys.readouterr().out


def test_history_of_an_unknown_applier_is_judged_by_what_it_speaks_of(recorded, capsys):
    file, _ = recorded("logical_clock_unordered", count=60)
    file.write_text(file.read_text().replace('"subject":"applier"', '"subject":"ours"'))
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert "engine_commits_follow_the_log" in out
    assert "says nothing of: " in out


def test_json_has_every_row(capsys):
    assert main(["check", str(EXAMPLES / "write-skew.edn"), "--json", "-"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "violated"
    assert document["level"] == "serializable"
    rows = {(row["group"], row["label"] or row["name"]): row for row in document["rows"]}
    assert rows["phenomenon", "G2-item"]["breaches"] == 1
    assert rows["phenomenon", "G2-item"]["sentences"][0].startswith("T1 read y before T2 wrote 2")
    assert rows["level", "snapshot-isolation"]["verdict"] == "holds"
    assert [row["name"] for row in document["rows"] if row["decides"]] == ["serializable"]


def test_junit_fails_only_for_what_decides(tmp_path):
    file = tmp_path / "check.xml"
    skew = str(EXAMPLES / "write-skew.edn")
    assert main(["check", skew, "--level", "snapshot-isolation", "--junit", str(file)]) == 0
    root = ElementTree.parse(file).getroot()
    assert root.get("failures") == "0"
    skipped = {case.get("name"): case.find("skipped") for case in root.iter("testcase")}
    message = skipped["G2-item: anti_dependencies_form_no_cycle"].get("message")
    assert message.startswith("does not decide: ")
    assert main(["check", skew, "--junit", str(file)]) == 1
    root = ElementTree.parse(file).getroot()
    (failure,) = root.iter("failure")
    assert failure.get("message") == "G2-item"


def test_junit_of_our_own_histories_fails_for_each_broken_property(recorded, tmp_path):
    file, _ = recorded("logical_clock_unordered", count=60)
    report = tmp_path / "check.xml"
    main(["check", str(file), "--junit", str(report), "--json", str(tmp_path / "check.json")])
    failed = {
        case.get("name")
        for case in ElementTree.parse(report).getroot().iter("testcase")
        if case.find("failure") is not None
    }
    document = json.loads((tmp_path / "check.json").read_text())
    broken = [row for row in document["rows"] if row["verdict"] == "violated"]
    assert failed == {f"{row['label']}: {row['name']}" for row in broken}
    assert failed


WRONG = {
    "missing.edn": (None, "P360", "No such file"),
    "empty.edn": ("", "P360", "it is empty"),
    "blank.json": ("\n\n", "P360", "it is empty"),
    "page.md": ("\nA page about `{`", "P360", "no history begins with 'A page about"),
    "binary.edn": (b"\xff\xfe\x00", "P360", "it is not UTF-8 text"),
    "torn.edn": ("{:process 0 :type :ok", "P511", "torn.edn:1"),
    "torn.json": ('[{"process": 0, "type": "ok"', "P513", "torn.json:1"),
    "odd.json": ('\n{"process": 0, "type": "no"}', "P512", "odd.json:2"),
    "twice.edn": ("{:type :ok :value [[:w x 1]]}{:type :ok :value [[:w x 1]]}", "P508", "T2"),
    "mixed.edn": ("{:type :ok :value [[:w x 1] [:append y 1]]}", "P514", "append and w"),
    "alone.parquet": (b"PAR1 and no more", "P505", "histories.parquet"),
    "ours.jsonl": ('{"record": "history"}\n{"record": "odd"}', "P505", "ours.jsonl:2"),
    "later.jsonl": ('{"record": "history", "format_version": 9}', "P506", "later.jsonl:1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_names_file_and_line_and_exits_3(name, tmp_path, capsys):
    content, code, where = WRONG[name]
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["check", str(file)]) == 3
    error = capsys.readouterr().err
    assert error.startswith(f"paraply: {code} ")
    assert where in error
    assert "remedy: " in error


def test_folder_without_histories_is_bad_input(tmp_path, capsys):
    assert main(["check", str(tmp_path)]) == 3
    assert "P505" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["read-skew.edn", "--property", "P"], "a history of clients has no --property"),
        (["read-skew.edn", "--total", "1"], "a history without accounts has no --total"),
        (["read-skew.edn", "--total", "0"], "a history without accounts has no --total"),
        (["read-skew.edn", "--strict"], "a history of clients has no --strict"),
        (["bank.edn", "--log", "LOG"], "a bank has no versions"),
        (["read-skew.edn", "--level", "chaos"], "invalid choice: 'chaos'"),
        (["read-skew.edn", "--log", "missing"], "No such file"),
        (["read-skew.edn", "--log", "LOG"], "the log does not fit the history"),
        (["read-skew.edn", "--json", "-", "--junit", "-"], "both go to standard output"),
        (["read-skew.edn", "--json", "no/folder/x"], "there is no folder"),
    ],
)
def test_wrong_use_is_an_error_and_no_traceback(options, reason, capsys):
    name, *rest = options
    rest = [str(EXAMPLES / "gap.log.jsonl") if word == "LOG" else word for word in rest]
    assert main(["check", str(EXAMPLES / name), *rest]) == 3
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--level", "prefix"], ["--log", "x"], ["--total", "0"]])
def test_options_of_client_histories_are_refused_for_our_own(option, recorded, capsys):
    file, _ = recorded(count=1)
    assert main(["check", str(file), *option]) == 3
    assert f"a history of paraply has no {option[0]}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"record": "history"}\n', FileKind.OURS),
        ('\ufeff\n{"type": "ok"}', FileKind.JSON),
        ('[\n{"type": "ok"}]', FileKind.JSON),
        ("[{}]", FileKind.JSON),
        ("[]", FileKind.JSON),
        ("{:type :ok}", FileKind.EDN),
        ("; a remark\n{ :type :ok}", FileKind.EDN),
        ("#jepsen.history.Op{:index 0}", FileKind.EDN),
    ],
)
def test_kind_of_a_file_is_told_by_what_it_holds(text, kind, tmp_path):
    file = tmp_path / "history"
    file.write_text(text)
    assert kind_of(str(file)) is kind
    empty_vector = tmp_path / "history.edn"
    empty_vector.write_text("[]")
    assert kind_of(str(empty_vector)) is FileKind.EDN


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's address space")
def test_small_file_needs_little_memory(tmp_path):
    (tmp_path / "three.jsonl").write_bytes(b"{}\r")
    program = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from paraply.cli import main\n"
        "sys.exit(main(['check', '--no-sandbox', sys.argv[1]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "three.jsonl")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "P512" in done.stderr
