from __future__ import annotations

import json

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
    assert "z3    proved: 43 of 43 obligations" in printed
    assert "cvc5  proved: 43 of 43 obligations" in printed
    assert "commit_order_preserved                initially ok · queue ok" in printed
    assert printed.endswith("2 of 2 came out as stated\n")


def test_counterexample_is_printed_step_by_step(capsys):
    assert main(["prove", "C02"]) == 0
    printed = capsys.readouterr().out
    assert "breaks last_committed_is_below after 2 steps, and none is shorter" in printed
    assert "collect_garbage()  ->" in printed
    assert "the statement is false" in printed


def test_unknown_identifier_is_a_usage_error_that_names_the_known_ones(capsys):
    assert main(["prove", "P77"]) == 3
    assert "P01..P22" in capsys.readouterr().err


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
