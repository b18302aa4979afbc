from __future__ import annotations

import json
import subprocess
import sys

import pytest

from paraply.cli import main
from paraply.commands import prove as command
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS, theorem
from paraply.models.judging import judges
from paraply.models.judging.certificates.__main__ import systems
from paraply.models.judging.proving import ObligationCache, Refutation, prove
from paraply.models.judging.solver import Answer, Judgment
from paraply.models.language.system import obligations
from paraply.proving import stability as proof_stability
from paraply.reporting.proof_text import matrix_text


@pytest.mark.long
def test_theorem_is_printed_with_its_matrix_and_each_solver(capsys):
    assert main(["prove", "P07", "--matrix"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("P07  Commit order preserved")
    for judge in ("z3    ", "cvc5  ", "kernel"):
        assert f"     {judge} proved: 55 of 55 obligations" in printed
    assert "commit_order_preserved                initially ok · queue ok" in printed
    assert printed.endswith("3 of 3 came out as stated\n")


def test_counterexample_is_printed_step_by_step(capsys):
    assert main(["prove", "C02"]) == 0
    printed = capsys.readouterr().out
    assert "breaks last_committed_is_below after 2 steps, and none is shorter" in printed
    assert "collect_garbage()  ->" in printed
    assert "the statement is false" in printed


def test_unknown_identifier_is_a_usage_error_that_names_the_known_ones(capsys):
    assert main(["prove", "P77"]) == 3
    printed = capsys.readouterr().err
    assert f"P01..{THEOREMS[-1].id}" in printed
    assert "--list" in printed


def test_results_and_obligations_are_written(tmp_path, capsys):
    results, folder = tmp_path / "r.json", tmp_path / "smt2"
    arguments = ["prove", "P06", "--solver", "z3", "--json", str(results), "--export", str(folder)]
    assert main(arguments) == 0
    rows = json.loads(results.read_text())["results"]
    assert rows[0]["id"] == "P06"
    assert rows[0]["verdict"] == "holds"
    assert rows[0]["proved"] == rows[0]["obligations"]
    files = sorted(folder.glob("*.smt2"))
    assert f"wrote {len(files)} obligations" in capsys.readouterr().out
    assert all("(check-sat)" in file.read_text() for file in files)


def test_undecided_obligation_is_unknown_and_its_cell_is_shown(capsys, monkeypatch):
    def gives_up(obligation, *, timeout_s, seed):
        return Judgment(
            obligation=obligation, solver="z3", answer=Answer.UNDECIDED, seconds=timeout_s,
            reason="timeout",
        )  # fmt: skip

    monkeypatch.setitem(command.JUDGES, "z3", gives_up)
    assert main(["prove", "P06", "--solver", "z3"]) == 2
    printed = capsys.readouterr().out
    assert "undecided: 0 of" in printed
    assert "0 of 1 came out as stated; P06 by z3 is unknown" in printed
    assert "initially UNDECIDED" in printed
    assert "     undecided: timeout" in printed


def test_undecided_counterexample_is_unknown_and_says_where(capsys, monkeypatch):
    def gives_up(entry, *, timeout_s):
        return Refutation(entry, None, undecided=f"at depth 2 after {timeout_s} s")

    monkeypatch.setattr(command, "refute", gives_up)
    assert main(["prove", "C02", "--timeout", "0.5"]) == 2
    printed = capsys.readouterr().out
    assert "     undecided: at depth 2 after 0.5 s" in printed
    assert printed.endswith("0 of 1 came out as stated; C02 is unknown\n")


@pytest.mark.long
def test_stability_is_asked_of_the_solvers_only(tmp_path, capsys):
    results = tmp_path / "r.json"
    arguments = ["prove", "P22", "--seeds", "3", "--orders", "2", "--json", str(results)]
    assert main(arguments) == 0
    assert "z3     proved: 130 of 130 obligations with 3 seeds and 2 other orders" in (
        capsys.readouterr().out
    )
    asked = [
        (r["solver"], r["seed"], r["order"]) for r in json.loads(results.read_text())["results"]
    ]
    rounds = [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)]
    assert asked == [*(("z3", *r) for r in rounds), *(("cvc5", *r) for r in rounds),
                     ("kernel", 0, 0)]  # fmt: skip


@pytest.mark.parametrize(
    ("option", "text", "wanted"),
    [
        *(("--seeds", text, "a whole number from 1 to") for text in ("x", "0", "2.5", "9" * 9)),
        *(("--orders", text, "a whole number from 0 to") for text in ("x", "-1", "1e3")),
        *(("--timeout", text, "a number from 0.001 to")
          for text in ("x", "nan", "inf", "0", "-3", "1e-9", "1e10")),
    ],
)  # fmt: skip
def test_number_that_means_nothing_is_a_usage_error_that_says_which_do(
    capsys, option, text, wanted
):
    assert main(["prove", "P22", option, text]) == 3
    assert f"argument {option}: '{text}' is not {wanted}" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0.001", "2", "1000000"])
def test_timeout_within_the_range_proves(text):
    assert main(["prove", "P15", "--solver", "kernel", "--timeout", text]) == 0


@pytest.mark.parametrize("option", ["--seeds", "--orders"])
def test_rounds_of_the_kernel_alone_are_refused_and_not_left_out(capsys, option):
    assert main(["prove", "P15", "--solver", "kernel", option, "2"]) == 3
    captured = capsys.readouterr()
    assert f"{option} is for the solvers" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("option", ["--json", "--export"])
@pytest.mark.parametrize("place", ["/proc/nowhere/x", "file/x"])
def test_output_that_cannot_be_written_is_refused_before_the_work(
    tmp_path, capsys, monkeypatch, option, place
):
    monkeypatch.setattr(command, "prove", lambda *_, **__: pytest.fail("it went to work"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine\n")
    assert main(["prove", "P15", "--solver", "kernel", option, place]) == 3
    printed = capsys.readouterr().err
    assert printed.startswith(f"paraply: P302 {place}: ")
    assert "remedy: choose an existing folder with write permission" in printed
    assert (tmp_path / "file").read_text() == "mine\n"


def test_export_to_a_file_and_results_to_a_folder_are_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("mine\n")
    for option, name in (("--export", tmp_path / "file"), ("--json", tmp_path)):
        assert main(["prove", "P15", "--solver", "kernel", option, str(name)]) == 3
        assert capsys.readouterr().err.startswith(f"paraply: P302 {name}: ")


def test_results_go_into_the_folder_that_the_export_makes(tmp_path):
    folder = tmp_path / "a" / "smt2"
    results = folder / "r.json"
    arguments = ["prove", "P15", "--solver", "kernel", "--export", str(folder)]
    assert main([*arguments, "--json", str(results)]) == 0
    assert json.loads(results.read_text())["results"][0]["proved"] == len(
        list(folder.glob("*.smt2"))
    )


def test_results_on_standard_output_stand_alone(tmp_path, capsys):
    arguments = ["prove", "P15", "C02", "--solver", "kernel", "--matrix", "--lint"]
    assert main([*arguments, "--export", str(tmp_path), "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [row["id"] for row in rows] == ["P15", "C02"]


def test_list_has_a_line_for_each_identifier(tmp_path, capsys):
    listed = tmp_path / "list.json"
    assert main(["prove", "--list", "--json", str(listed)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == [e.id for e in command.chosen([])]
    assert lines[0] == f"P01  {THEOREMS[0].claim}"
    assert lines[-1] == f"{COUNTEREXAMPLES[-1].id}  {COUNTEREXAMPLES[-1].title}"
    assert f"C69  (progress) {theorem('C69').title}" in lines
    records = json.loads(listed.read_text())["entries"]
    kinds = {"safety": "", "progress": "(progress) "}
    assert lines == [
        f"{record['id']}  {kinds[record['kind']]}{record['claim']}" for record in records
    ]
    told = {record["id"] for record in records if record["kind"] == "progress"}
    assert told == {entry.id for entry in command.chosen([]) if entry.kind == "progress"}
    assert told >= {"P36", "P37", "C68", "C69"}
    assert {record["id"][0]: record["expected"] for record in records} == {
        "P": "proved", "C": "refuted",
    }  # fmt: skip


def test_progress_is_proved_and_exported_under_its_kind(tmp_path):
    folder, results = tmp_path / "smt2", tmp_path / "r.json"
    arguments = ["prove", "P36", "C69", "--solver", "kernel", "--json", str(results)]
    assert main([*arguments, "--export", str(folder)]) == 0
    proof, lasso = json.loads(results.read_text())["results"]
    assert (proof["kind"], proof["verdict"], lasso["kind"]) == ("progress", "holds", "progress")
    assert (len(lasso["steps"]), lasso["loop"]) == (6, 2)
    kinds = {path.read_text().splitlines()[1] for path in folder.glob("*.smt2")}
    assert kinds == {
        "; induction", "; progress: the_log_is_finished", "; safety: no_row_is_waited_for",
        "; safety: conflicts_do_not_overlap",
    }  # fmt: skip


def test_list_of_some_identifiers_is_of_those(capsys):
    assert main(["prove", "c01", "--list", "--json", "-"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["entries"]
    assert record["id"] == "C01"


@pytest.mark.parametrize(("judge", "searched"), [("z3", True), ("kernel", False)])
def test_run_that_was_only_replayed_is_not_called_the_shortest(tmp_path, judge, searched):
    results = tmp_path / "r.json"
    assert main(["prove", "C02", "--solver", judge, "--json", str(results)]) == 0
    (row,) = json.loads(results.read_text())["results"]
    assert (row["as_expected"], row["shown_shortest"]) == (True, searched)


@pytest.mark.long
def test_lint_warns_of_each_system_once(capsys):
    assert main(["prove", "P01", "P02", "P06", "P14", "--solver", "kernel", "--lint"]) == 0
    printed = capsys.readouterr().out
    assert "lint: 5 warnings; none makes a proof wrong" in printed
    assert printed.count("     certification: refused_row and writer lead") == 1
    assert printed.count("     parallel_applier[wl8440]: item_position and item_sn") == 1


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        ("z3", ["P15"]),
        ("z3", ["P15", "--solver", "z3"]),
        ("cvc5", ["P15"]),
        # Whoever proves, Z3 looks for the runs.
        ("z3", ["P15", "C02", "--solver", "cvc5"]),
    ],
)
def test_solver_that_is_not_installed_is_said_before_the_work_with_a_remedy(
    capsys, monkeypatch, missing, arguments
):
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["prove", *arguments]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"paraply: P710 the solver {missing} is not installed")
    assert "pip install 'paraply[prove]'; `paraply prove --solver kernel`" in captured.err


@pytest.mark.long
def test_stability_of_one_system_is_measured_again_and_that_of_others_kept(tmp_path):
    results = tmp_path / "r.json"
    given = ["--seeds", "1", "--orders", "1", "--system", "members", "--record", str(results)]
    code = proof_stability.main(given)
    old, new = proof_stability.stored(), json.loads(results.read_text())
    assert code == any(row["failed"] for row in new.values())
    for judge, row in new.items():
        kept = {name: s for name, s in row["systems"].items() if name != "members"}
        assert kept.items() <= old[judge]["systems"].items()
        assert list(row["systems"]) == [system.name for system in systems()]
        assert row["obligations"] == sum(len(obligations(system)) for system in systems())
        again = row["obligations"] - sum(
            len(obligations(system)) for system in systems() if system.name != "members"
        )
        before = (row["obligations"] - again) * old[judge]["asked"] // old[judge]["obligations"]
        assert row["asked"] == before + again * (2 if row["version"] else 1)
        others = [one for one in old[judge]["failed"] if one["system"] != "members"]
        assert row["failed"] == others


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [("z3", ["P15", "--solver", "cvc5"]), ("cvc5", ["C02"]), ("cvc5", ["P15", "--solver", "z3"])],
)
def test_solver_that_is_not_asked_need_not_be_installed(monkeypatch, missing, arguments):
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["prove", *arguments]) == 0


WITHOUT_SOLVERS = """
import sys
sys.modules["z3"] = sys.modules["cvc5"] = None
from paraply.proving import stability as proof_stability
from paraply.cli import main
sys.exit(main(["prove", "--solver", "kernel"]))
"""


@pytest.mark.nightly
def test_kernel_proves_every_theorem_where_no_solver_is_installed():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SOLVERS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("kernel proved: ") == len(THEOREMS)
    assert done.stdout.count("in the stored run, replayed") == len(COUNTEREXAMPLES)


def test_list_exports_if_asked(tmp_path, capsys):
    assert main(["prove", "P15", "--list", "--export", str(tmp_path / "smt2")]) == 0
    assert "obligations to" in capsys.readouterr().out
    assert len(list((tmp_path / "smt2").glob("*.smt2"))) == 37


def test_kernel_judges_alone_where_no_solver_is_installed(monkeypatch, capsys):
    for solver in ("z3", "cvc5"):
        monkeypatch.setitem(sys.modules, solver, None)
    assert main(["prove", "P15", "C02"]) == 0
    printed = capsys.readouterr()
    assert "no solver is installed: the kernel judges alone" in printed.err
    assert "kernel proved: 37 of 37" in printed.out
    assert "z3" not in printed.out


def test_times_are_cpu_seconds(monkeypatch):
    clock = iter([10.0, 12.5])
    monkeypatch.setattr(judges.time, "process_time", lambda: next(clock))
    assert prove_one().seconds == 2.5


def prove_one():
    return judges.judge_kernel(obligations(theorem("P15").systems[0]())[0])


def test_matrix_marks_the_cell_that_is_refuted():
    proof = prove(THEOREMS[5], "z3", ObligationCache())
    one = proof.judgments[0]
    proof.judgments[0] = Judgment(
        obligation=one.obligation, solver="z3", answer=Answer.REFUTED, seconds=0.0
    )
    assert "REFUTED" in matrix_text(proof)


def test_every_entry_can_be_named():
    assert len(command.chosen([])) == len({entry.id for entry in command.chosen([])})
    assert command.chosen(["p01"]) == [theorem("P01")]


@pytest.mark.parametrize("given", [("--seeds", "0"), ("--orders", "-1"), ("--timeout", "nan")])
def test_measurement_of_stability_refuses_numbers_that_mean_nothing(given, capsys):
    with pytest.raises(SystemExit):
        proof_stability.main(given)
    assert f"argument {given[0]}: '{given[1]}' is not a" in capsys.readouterr().err
