"""A few inputs of the fuzzer for every reader; ``make fuzz`` and ``make nightly`` try more."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transactions import read_transactions
from tests.fuzz import campaign, guided, mutations, oracle, text_twin
from tests.fuzz.__main__ import fuzz, input_of, is_telling, main
from tests.fuzz.binlog_target import check as decode_bytes
from tests.fuzz.readers import ONE, readers, single

FOLDER = Path(__file__).parent
READERS = {reader.name: reader for reader in readers()}
DAMAGED = 4
SEED = 20260101
FOREVER = float("inf")


@pytest.fixture(autouse=True)
def _own_parsers():
    """A parser is kept with the function that runs its command."""
    oracle.parser_of.cache_clear()
    yield
    oracle.parser_of.cache_clear()


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(READERS))
def test_reader_withstands_damaged_inputs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reader = READERS[name]
    seeds = reader.seeds()
    assert not reader.read(seeds[0]).startswith("P"), "the sound input is refused"
    numbers = range(len(seeds), len(seeds) + DAMAGED)
    outcomes, broken = fuzz(reader, SEED, numbers, FOREVER, tmp_path)
    assert not broken
    assert outcomes.total() == DAMAGED


def test_damage_leaves_nothing_behind_for_later_inputs():
    """An alien list that damage filled once made later inputs of gigabytes."""
    before = repr(mutations.ALIENS)
    for number in range(300):
        mutations.json_damaged(b'{"a": [1, {"b": 2}], "c": [[]]}', Random(number))
    assert repr(mutations.ALIENS) == before


def test_input_depends_on_seed_and_number_alone():
    reader = READERS["json-lines"]
    first = [input_of(reader, 7, number) for number in range(20)]
    assert first == [input_of(reader, 7, number) for number in range(20)]
    assert first[10:] != [input_of(reader, 8, number) for number in range(10, 20)]


def test_crash_of_a_command_is_noticed_and_its_input_kept(tmp_path, monkeypatch, capsys):
    def crash(_):
        raise RecursionError

    monkeypatch.setattr("paraply.commands.check.run", crash)
    reader = READERS["edn"]
    outcomes, broken = fuzz(reader, SEED, range(3), FOREVER, tmp_path)
    assert broken == [0, 1, 2]
    assert not outcomes
    assert f"--reader edn --seed {SEED} --input 0" in capsys.readouterr().out
    kept = tmp_path / f"edn-{SEED}-0" / f"{ONE}.edn"
    assert kept.read_bytes() == reader.seeds()[0][f"{ONE}.edn"]


def test_error_without_a_code_is_noticed(monkeypatch):
    monkeypatch.setattr("paraply.cli.report", lambda error, stream: None)
    reader = READERS["edn"]
    with pytest.raises(oracle.BrokenError, match="exit code 3"):
        reader.read({f"{ONE}.edn": b"{"})


def test_difference_of_the_engines_is_noticed(monkeypatch):
    pytest.importorskip("numba")
    reader = READERS["both-engines"]
    monkeypatch.setattr("tests.builders.engines.differences", lambda *_: ["pairs: 1 and 2"])
    with pytest.raises(oracle.BrokenError, match="engines differ"):
        reader.read(reader.seeds()[0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: None, []),
        (lambda found: found.pop(), ["21 transactions and 20"]),
        (lambda found: setattr(found[1], "last_committed", 7), ["last_committed 1 and 7"]),
        (lambda found: found[-1].rows.pop(), ["rows "]),
    ],
)
def test_difference_of_a_log_and_its_text_is_noticed(change, said):
    folder = text_twin.BINLOGS / "mysql-9.7.4" / "foreign-keys"
    binary = list(read_transactions([str(folder / "bin.000001")]))
    text = list(read_text_transactions([str(folder / "expected" / "bin.000001.txt.gz")]))
    change(text)
    found = list(text_twin.differences(binary, text))
    assert len(found) == len(said)
    assert all(what in one for what, one in zip(said, found, strict=True))


def test_damaged_log_keeps_its_checksums():
    data = (text_twin.BINLOGS / "mysql-9.7.4" / "tags" / "bin.000001").read_bytes()
    outcomes = [decode_bytes(text_twin.damaged(data, Random(number))) for number in range(20)]
    assert "read" in outcomes
    assert "P105" not in outcomes


def test_input_without_end_is_noticed(tmp_path, monkeypatch):
    def stall(_):
        while True:
            pass

    monkeypatch.setattr(oracle, "INPUT_SECONDS_MAX", 0.01)
    reader = replace(READERS["notation"], read=stall)
    seeds = len(reader.seeds())
    _, broken = fuzz(reader, SEED, range(seeds, seeds + 1), FOREVER, tmp_path)
    assert broken == [seeds]


def test_inputs_that_all_come_out_alike_show_nothing():
    assert not is_telling(Counter({"P505": 500}))
    assert not is_telling(Counter({"read": 500}))
    assert is_telling(Counter({"read": 499, "P505": 1}))
    assert is_telling(Counter({"P505": 3}))


@pytest.mark.parametrize(
    ("mutate", "data"),
    [
        (mutations.bytes_damaged, b""),
        (mutations.text_damaged, b""),
        (mutations.json_damaged, b"{}"),
        (mutations.json_lines_damaged, b"\n"),
        (mutations.script_damaged, b"\0"),
    ],
)
def test_damage_of_next_to_nothing_ends(mutate, data):
    for seed in range(50):
        mutate(data, Random(seed))


# Inputs that broke a reader once.


@pytest.mark.parametrize("opening", ["[", '{"a":', "[[{"])
def test_applier_that_nests_deeply_breaks_the_protocol(opening):
    (files,) = single(opening.encode() * 5_000 + b"\n")
    assert READERS["conversation"].read(files) in ("violated", "P634", "P636")


def test_group_run_that_nests_deeply_is_refused():
    (files,) = single(b"[" * 100_000 + b"\n")
    assert READERS["group-run"].read(files) == "P530"


# Inputs guided by coverage.


def test_input_is_packed_in_one_piece():
    for reader in READERS.values():
        for files in reader.seeds()[:3]:
            assert guided.unpack(guided.pack(files)) == files
    whole = {"a": b"1", "b/c": b"", "d": b"x" * 70_000}
    assert guided.unpack(guided.pack(whole)[:-1]) == {"a": b"1", "b/c": b""}
    assert guided.unpack(b"\xff\xff\xff") == {}


@pytest.mark.long
def test_guided_inputs_reach_code_that_the_first_ones_do_not(tmp_path):
    pytest.importorskip("atheris")
    corpus, counts = tmp_path / "corpus", tmp_path / "counts"
    counts.write_text('{"notation": 700}')
    words = ["--reader", "notation", "--counts", str(counts), "--corpus", str(corpus)]
    assert main([*words, "--artifacts", str(tmp_path / "found")]) == 0
    added = [path.read_bytes() for path in (corpus / "notation").iterdir()]
    assert set(map(guided.pack, READERS["notation"].seeds())).isdisjoint(added)
    assert added


@pytest.mark.long
def test_guided_inputs_are_the_same_whatever_the_time_up_to_a_number(tmp_path):
    """A counted run can break only by inputs that every counted run made."""
    pytest.importorskip("atheris")
    counts = tmp_path / "counts"
    counts.write_text('{"notation": 700}')
    made = []
    for name, seconds in (("a", "600"), ("b", "900")):
        words = [
            "--reader",
            "notation",
            "--seed",
            "5",
            "--seconds",
            seconds,
            "--counts",
            f"{counts}",
        ]
        assert main([*words, "--artifacts", str(tmp_path / name)]) == 0
        kept = tmp_path / name / "notation-5-guided" / "corpus"
        made.append({path.name: path.read_bytes() for path in kept.iterdir()})
    assert made[0] == made[1]
    assert made[0]


def test_every_reader_has_a_count_for_counted_runs():
    counts = json.loads((FOLDER / "counts.json").read_text())
    assert set(READERS) - {"text-twin"} <= set(counts)


@pytest.mark.long
def test_guided_input_that_breaks_a_reader_is_kept(tmp_path):
    pytest.importorskip("atheris")
    begin = {len(files[ONE]) for files in READERS["notation"].seeds()}
    reader = replace(READERS["notation"], read=lambda files: str(1 // (len(files[ONE]) in begin)))
    # Ends with the first input that breaks it.
    _, broken = guided.fuzz(reader, SEED, 60, -1, tmp_path / "corpus", tmp_path / "found")
    assert [len(guided.unpack(path.read_bytes())[ONE]) in begin for path in broken] == [False]


def test_guided_run_that_breaks_off_is_no_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(guided, "hand_over", lambda *_: os._exit(5))
    with pytest.raises(RuntimeError, match="notation: exit code 5"):
        guided.fuzz(READERS["notation"], SEED, 1, -1, tmp_path / "corpus", tmp_path / "found")


def test_guided_input_that_breaks_a_reader_is_kept_and_run_again(tmp_path, monkeypatch, capsys):
    reader = READERS["edn"]

    def crash(_reader, _seed, _seconds, _inputs, _corpus, folder):
        (folder / "outcomes.json").write_text('{"read": 3}')
        (folder / "crash-1").write_bytes(guided.pack(reader.seeds()[0]))
        os._exit(77)

    monkeypatch.setattr(guided, "hand_over", crash)
    words = ["--reader", "edn", "--seed", str(SEED), "--seconds", "1", "--artifacts", str(tmp_path)]
    assert main(words, guide=guided.fuzz) == 1
    kept = tmp_path / f"edn-{SEED}-guided" / "crash-1"
    said = capsys.readouterr().out
    assert f"--reader edn --replay {kept}" in said
    _, _, printed = said.partition("base64 -d of ")
    assert kept.read_bytes()[:4096] == base64.b64decode(printed.splitlines()[0])
    assert main(["--reader", "edn", "--replay", str(kept)]) == 0
    monkeypatch.setattr("paraply.commands.check.run", lambda _: 1 // 0)
    oracle.parser_of.cache_clear()
    assert main(["--reader", "edn", "--replay", str(kept)]) == 1


# A long run, resumed.


def test_run_goes_on_where_its_tally_ended_and_tries_broken_inputs_again(tmp_path):
    store, turns = tmp_path / "tally.json", []

    def turn(reader, seed, numbers, deadline, artifacts):
        turns.append((reader.name, seed, numbers.start))
        if len(numbers) == 1:
            return Counter({"read": 1}), []
        return Counter({"read": 600, "P505": 399}), [numbers.start] if len(turns) == 1 else []

    def go(inputs):
        some = [READERS["notation"], READERS["edn"]]
        return campaign.run(
            some,
            store=store,
            seed=7,
            inputs=inputs,
            deadline=FOREVER,
            turn=turn,
            artifacts=tmp_path,
        )

    assert not go(2_000)
    assert turns == [("notation", 7, 0), ("edn", 7, 0), ("edn", 7, 999)]
    seed, tallies = campaign.load(store, 8)
    assert (seed, tallies["notation"].inputs, tallies["notation"].broken) == (7, 1_000, [0])
    assert tallies["edn"].outcomes == Counter({"read": 1200, "P505": 798})
    turns.clear()
    assert go(2_999)
    assert turns == [("notation", 7, 0), ("notation", 7, 1_000)]


def test_fast_readers_share_the_time_once_each_reader_has_had_enough():
    tallies = {
        "slow": campaign.Tally(inputs=campaign.EACH_LEAST, cpu_seconds=100.0),
        "fast": campaign.Tally(inputs=90_000, cpu_seconds=20.0),
        "other": campaign.Tally(inputs=90_000, cpu_seconds=30.0),
    }
    assert campaign.next_reader(tallies) == "fast"
    tallies["slow"].inputs -= 1
    assert campaign.next_reader(tallies) == "slow"
