from __future__ import annotations

import json
import subprocess
import sys

import pytest

from models.counterexamples import COUNTEREXAMPLES
from models.proving import ObligationCache, prove
from models.solver import Answer, Judgment
from models.theorems import THEOREMS, theorem
from paraply.cli import main
from paraply.commands import prove as command
from paraply.report.proof_text import matrix_text


def test_theorem_is_printed_with_its_matrix_and_each_solver(capsys):
    assert main(["prove", "P07", "--matrix"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("P07  Commit order preserved")
    for judge in ("z3    ", "cvc5  ", "kernel"):
        assert f"     {judge} proved: 43 of 43 obligations" in printed
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
    assert f"P01..{THEOREMS[-1].id}" in capsys.readouterr().err


def test_results_and_obligations_are_written(tmp_path, capsys):
    results, folder = tmp_path / "r.json", tmp_path / "smt2"
    arguments = ["prove", "P06", "--solver", "z3", "--json", str(results), "--export", str(folder)]
    assert main(arguments) == 0
    rows = json.loads(results.read_text())
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
    assert "initially UNDECIDED" in printed
    assert "     undecided: timeout" in printed


def test_stability_is_asked_of_the_solvers_only(tmp_path, capsys):
    results = tmp_path / "r.json"
    arguments = ["prove", "P22", "--seeds", "3", "--orders", "2", "--json", str(results)]
    assert main(arguments) == 0
    assert "z3     proved: 130 of 130 obligations with 3 seeds and 2 other orders" in (
        capsys.readouterr().out
    )
    asked = [(r["solver"], r["seed"], r["order"]) for r in json.loads(results.read_text())]
    rounds = [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)]
    assert asked == [*(("z3", *r) for r in rounds), *(("cvc5", *r) for r in rounds),
                     ("kernel", 0, 0)]  # fmt: skip


def test_negative_number_of_seeds_is_a_usage_error(capsys):
    assert main(["prove", "P22", "--seeds", "-1"]) == 3
    assert "cannot be negative" in capsys.readouterr().err


@pytest.mark.parametrize(("judge", "searched"), [("z3", True), ("kernel", False)])
def test_run_that_was_only_replayed_is_not_called_the_shortest(tmp_path, judge, searched):
    results = tmp_path / "r.json"
    assert main(["prove", "C02", "--solver", judge, "--json", str(results)]) == 0
    (row,) = json.loads(results.read_text())
    assert (row["as_expected"], row["shown_shortest"]) == (True, searched)


def test_lint_warns_of_each_system_once(capsys):
    assert main(["prove", "P05", "P06", "P14", "--solver", "kernel", "--lint"]) == 0
    printed = capsys.readouterr().out
    assert "lint: 2 warnings; none makes a proof wrong" in printed
    assert printed.count("     certification: refused_row and writer lead") == 1


WITHOUT_SOLVERS = """
import sys
sys.modules["z3"] = sys.modules["cvc5"] = None
from paraply.cli import main
sys.exit(main(["prove", "--solver", "kernel"]))
"""


def test_kernel_proves_every_theorem_where_no_solver_is_installed():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SOLVERS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("kernel proved: ") == len(THEOREMS)
    assert done.stdout.count("in the stored run, replayed") == len(COUNTEREXAMPLES)


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
