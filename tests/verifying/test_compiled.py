"""The compiled engine: equal to the readable one wherever it decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from paraply.adapters.binlog import compiled_gains
from paraply.properties.two_logs.judgement import Level
from paraply.verifying import pipeline
from paraply.verifying.mapping import Rules
from paraply.verifying.pipeline import READABLE, VerifyRequest, verify
from paraply.verifying.result import VerifyResult
from paraply.vocabulary.errors import ParaplyError
from tests.builders.log_compressor import compress
from tests.builders.log_forger import ForgedLog
from tests.verifying.test_real_logs import RECORDED, REPLICAS, files_of, forged_replica
from tests.verifying.test_seeded_faults import START, cases, run, source_of

ROTATED = sorted(folder for folder in RECORDED if folder.name == "rotation")

pytestmark = pytest.mark.long


@pytest.fixture
def decided(monkeypatch) -> list[bool]:
    """Whether the compiled engine decided, by request; it is asked for logs of any size."""
    monkeypatch.setattr(compiled_gains, "COMPILED_BYTES_MIN", 0)
    monkeypatch.setattr(compiled_gains, "COMPILING_BYTES_MIN", 0)
    real, answers = pipeline._decided, []

    def noted(*arguments):
        answers.append(False)
        result = real(*arguments)
        answers[-1] = True
        return result

    monkeypatch.setattr(pipeline, "_decided", noted)
    return answers


def by_both(source: list[str], target: list[str], **options) -> list[VerifyResult | str]:
    request = VerifyRequest(source=tuple(source), target=tuple(target), **options)
    return [answer(request), answer(replace(request, engine=READABLE))]


def answer(request: VerifyRequest) -> VerifyResult | str:
    try:
        return verify(request)
    except ParaplyError as refused:
        return refused.error.code


@pytest.mark.parametrize("by_content", [False, True], ids=["by name", "by content"])
def test_recorded_logs_are_judged_alike(decided, by_content):
    pairs = [(files_of(folder), files_of(folder)) for folder in RECORDED]
    pairs += [(files_of(f), list(map(str, sorted(f.glob("replica-bin.0*"))))) for f in REPLICAS]
    for source, target in pairs:
        compiled, readable = by_both(source, target, by_content=by_content)
        assert compiled == readable, source
    assert sum(decided) >= len(pairs) / 2, decided


@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("fault", ["none", "swapped", "lost", "twice", "cut"])
def test_forged_replicas_are_judged_alike(decided, folder, fault, tmp_path):
    target = [str(forged_replica(folder, fault, tmp_path))]
    for by_content in (False, True):
        compiled, readable = by_both(files_of(folder), target, by_content=by_content)
        assert compiled == readable
    # A state that is left out is a batch for the rows, and a missing transaction for the names.
    assert decided[0] == (fault in ("none", "cut"))


@pytest.mark.parametrize("folder", ROTATED, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_log_that_begins_later_is_judged_alike(decided, folder):
    files, schema = files_of(folder), str(folder / "schema.sql")
    for source, target in ((files, files[1:]), (files[1:], files), (files, files[:-1])):
        compiled, readable = by_both(source, target, schema=schema, target_schema=schema)
        assert compiled == readable
    assert decided == [True] * 3


@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_rules_for_tables_are_judged_alike(decided, folder):
    source, target = files_of(folder), [str(folder / "replica-bin.000001")]
    whole = verify(VerifyRequest(source=tuple(source), target=tuple(target)))
    table = whole.tables[0].source
    for rules in (
        Rules(ignored=frozenset([table])),
        Rules(ignored=frozenset([table]), filtered=frozenset([table])),
        Rules(keys={table: ("id",)}),
    ):
        compiled, readable = by_both(source, target, rules=rules)
        assert compiled == readable
    assert decided == [True, True, True, False]


def test_seeded_faults_are_judged_alike(decided, tmp_path):
    """The compiled engine decides all appliers whose states are prefixes, and no other."""
    wanted = []
    for number, case in enumerate(cases()):
        source = run(source_of(case), tmp_path / f"{number}-source", START)
        target = run(case.target, tmp_path / f"{number}-target", START)
        compiled, readable = by_both([source], [target], by_content=True)
        assert compiled == readable, case.name
        wanted.append(case.level >= Level.BATCHES)
    assert decided == wanted


@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_compressed_logs_are_judged_as_plain_ones(decided, folder, tmp_path):
    def packed(file, name):
        log = compress(ForgedLog.read(Path(file)), Random(5), frames=(1,))
        return str(log.save(tmp_path / name))

    source, target = files_of(folder), [str(folder / "replica-bin.000001")]
    small = [packed(source[0], "source.000001")], [packed(target[0], "target.000001")]
    for by_content in (False, True):
        compiled, readable = by_both(*small, by_content=by_content)
        assert compiled == readable
        plain, _ = by_both(source, target, by_content=by_content)
        assert (compiled.level, compiled.states) == (plain.level, plain.states)
    assert decided == [True] * 4
