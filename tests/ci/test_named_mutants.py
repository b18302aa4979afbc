"""Named mutants on three workloads: found, stored once, and shown."""

from __future__ import annotations

import pytest

from ci.mutation import named
from ci.mutation.named import WORKLOADS, Search, main, searched, stored, summary
from ci.pages import named_score
from paraply.registries import mutant_named


@pytest.mark.parametrize("workload", WORKLOADS)
def test_mutant_is_found_with_the_property_that_it_breaks(workload):
    mutant = mutant_named("low_water_mark_is_highest_done")
    found = searched(mutant, workload, seed=0, runs_max=300)
    assert found.caught_by
    assert 0 < found.runs <= 300
    assert found == searched(mutant, workload, seed=0, runs_max=300)


def test_mutant_that_its_workload_never_shows_is_not_caught():
    # By default appliers do not crash.
    mutant = mutant_named("checkpoint_is_highest")
    found = searched(mutant, "fixed", seed=0, runs_max=20)
    assert (found.caught_by, found.runs) == ("", 20)


def test_store_is_continued_and_published(tmp_path, monkeypatch, capsys):
    few = tuple(
        mutant_named(name) for name in ("low_water_mark_is_highest_done", "checkpoint_is_highest")
    )
    monkeypatch.setattr(named, "registered_mutants", lambda: few)
    monkeypatch.setattr(named, "RECORDS", tmp_path / "records.jsonl")
    arguments = ["--runs", "5", "--store", str(tmp_path)]
    assert main(arguments) == 0
    lines = (tmp_path / "named.jsonl").read_text().splitlines()
    assert len(lines) == len(few) * len(WORKLOADS)
    assert main(arguments) == 0
    assert (tmp_path / "named.jsonl").read_text().splitlines() == lines
    assert "default: " in capsys.readouterr().out
    assert main([*arguments, "--publish"]) == 0
    assert {one.mutant for one in stored(tmp_path / "records.jsonl")} == {one.name for one in few}


def test_page_leaves_out_what_each_workload_finds_soon(monkeypatch):
    def of(mutant, runs, caught_by="p"):
        return [
            Search(
                mutant=mutant, subject="applier", workload=workload, caught_by=caught_by,
                runs=runs, runs_max=500, seed=0,
            )
            for workload in WORKLOADS
        ]  # fmt: skip

    searches = [*of("soon", 3), *of("late", 400), *of("never", 500, ""), *of("endless", 0, "")]
    monkeypatch.setattr(named_score, "stored", lambda: searches)
    text = "\n".join(named_score.blocks()["named"])
    assert "| `late` | applier | 400 | 400 | 400 |" in text
    assert "| `never` | applier | not in 500 | not in 500 | not in 500 |" in text
    assert "does not end" in text
    assert "soon" not in text.partition("| mutant |")[2]
    assert next(summary(searches)) == "default: 2 of 4 caught (50.0%)"
