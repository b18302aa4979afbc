"""docs/counterexamples.md: every counterexample of the models has a decision or a reason."""

from __future__ import annotations

from ci.counterexamples.__main__ import SERVERS, main
from ci.counterexamples.registry import SCRIPTS
from ci.pages.counterexamples import (
    NUMBERS,
    OURS,
    PAGE,
    PUBLISHED,
    ROOT,
    UNFORCED,
    UNTRIED,
    results_lines,
)
from paraply.models.claims.refuted import COUNTEREXAMPLES


def test_every_counterexample_has_a_script_or_a_reason_and_not_both():
    scripted = {name for one in SCRIPTS.values() for name in one.decides}
    assert scripted | set(UNFORCED) == {*NUMBERS, *PUBLISHED}
    assert not scripted & set(UNFORCED)
    untried = [f"C{number}" for numbers in UNTRIED for number in numbers]
    named = sorted([*NUMBERS, *OURS, *untried], key=lambda name: int(name[1:]))
    assert named == [one.id for one in COUNTEREXAMPLES]
    page = (ROOT / "docs/counterexamples.md").read_text(encoding="utf-8")
    *others, last = (f"C{numbers[0]} to C{numbers[-1]}" for numbers in UNTRIED)
    assert f"{', '.join(others)} and {last} have not been tried" in page


def test_stored_runs_decide_what_their_scripts_are_about():
    stored = PAGE.stored()
    decided = {name for one in stored for name in one["decisions"]}
    assert len(decided) >= 20
    for one in stored:
        assert one["error"] == ""
        assert set(one["decisions"]) <= set(SCRIPTS[one["script"]].decides)
        assert all(each["seen"] for each in one["decisions"].values())


def test_page_is_current():
    assert PAGE.main(["--check"]) == 0


def test_a_counterexample_without_a_stored_run_is_not_called_decided():
    run = {
        "script": "late-writer", "server": "MySQL 9.7.4", "seconds": 1.0, "error": "",
        "decisions": {"C22": {"outcome": "impossible", "seen": "a <b> | c"}}, "notes": ["0.1 s: x"],
    }  # fmt: skip
    lines = list(results_lines([run]))
    assert lines[0].startswith("1 of 74 are decided on real servers: 0 reproduced")
    (row,) = (line for line in lines if line.startswith("| [C22]"))
    assert "| impossible | `late-writer` |" in row
    (other,) = (line for line in lines if line.startswith("| [C11]"))
    assert other.endswith("|  | not tried |")
    assert "- **C22**, MySQL 9.7.4, impossible: a \\<b> \\| c" in lines


def test_scripts_are_listed_with_what_they_decide(capsys):
    assert main(["--list", "--only", "C45"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("position-table-without-transactions (C45): ")
    assert set(SERVERS) == {"mariadb", "mariadb-11.8", "mysql"}
