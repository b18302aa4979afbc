"""``paraply show``: one page per history, with states, dependencies and other choices."""

import json
import re

import pytest

from paraply.cli import main
from paraply.counterexamples.showing.alternatives import Alternative, Alternatives, alternatives_of
from paraply.counterexamples.showing.dependencies import dependency_edges
from paraply.counterexamples.showing.document import Shown, document_of
from paraply.counterexamples.showing.states import state_differences
from paraply.properties.search import random_schedules, search
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named, property_named, subject_named
from paraply.reporting.show_html import show_html
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.verdict import Verdict

UNORDERED = Workload(dialect="logical_clock_unordered")
ORDER = "engine_commits_follow_the_log"


@pytest.fixture(scope="module")
def unordered():
    subject = subject_named("applier")
    found = search(
        lambda schedule: subject.run(schedule, UNORDERED),
        property_named(ORDER),
        random_schedules(0, 300),
    )
    assert found is not None
    return found


def stepped(differences, count):
    """Return the state after so many events, as nested mappings."""
    state = {}
    for changed in differences[:count]:
        for member, section, key, after, _ in changed:
            entries = state.setdefault((member, section), {})
            if after is None:
                del entries[key]
            else:
                entries[key] = after
    return state


def test_state_can_be_stepped_back_to_nothing(unordered):
    differences = state_differences(unordered.history)
    state = stepped(differences, len(differences))
    assert state
    for changed in reversed(differences):
        for member, section, key, after, before in reversed(changed):
            entries = state[member, section]
            assert entries.get(key) == after
            if before is None:
                del entries[key]
            else:
                entries[key] = before
    assert not any(state.values())


@pytest.mark.parametrize("name", ["applier", "group", "certifier", "semi_sync", "source"])
def test_every_subject_has_a_state_beside_its_events(name):
    history = subject_named(name).run(SeededSchedule(5), Workload())
    differences = state_differences(history)
    assert len(differences) == len(history.events)
    assert any(differences)


def test_locks_are_held_until_the_engine_commits(unordered):
    history = unordered.history
    differences = state_differences(history)
    kinds = [event.kind.value for event in history.events]
    row = kinds.index("row_applied")
    mine = history.events[row].transaction
    end = next(
        index
        for index, event in enumerate(history.events)
        if event.kind.value == "engine_committed" and event.transaction == mine
    )
    held = stepped(differences, row + 1)["r1", "row locks"]
    assert f"T{mine}" in held.values()
    after = stepped(differences, end + 1)
    assert f"T{mine}" not in after["r1", "row locks"].values()
    assert f"T{mine}" in after["r1", "row versions"].values()


def test_conflict_without_a_wait_is_told_with_its_numbers():
    history = parse_history("T1{a} 1<0 | T2{b} 2<0 | T3{a} 3<0 | begun T1@w1")
    (edge,) = [one for one in dependency_edges(history) if one.kind == "conflict"]
    assert edge.broken.startswith("T3 has LC=0, but T1 wrote a and has SN=1")


def test_conflict_with_a_wait_is_not_broken():
    history = parse_history("T1{a} 1<0 | T2{a} 2<1 | begun T1@w1")
    assert [(one.kind, one.broken) for one in dependency_edges(history)] == [("conflict", "")]


def test_nearest_passing_run_passes_and_takes_one_choice_otherwise(unordered):
    subject, prop = subject_named("applier"), property_named(ORDER)

    def system(schedule):
        return subject.run(schedule, UNORDERED)

    found = alternatives_of(system, prop, unordered.choices, seconds_max=120)
    assert found.is_complete
    nearest = found.nearest_passing
    assert nearest is not None
    assert prop.violations(nearest.history) == ()
    assert nearest.option != found.choices[nearest.position]
    verdicts = {one.verdict for one in found.found}
    assert Verdict.VIOLATED in verdicts  # some choices do not matter
    for one in found.found[:20]:
        assert one.history.events[: one.first] == unordered.history.events[: one.first]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("begun T1@w2", "worker 2 instead of worker 1: begin T1"),
        ("engine_committed T1@w1", "worker 1: engine commit T1 instead of begin T1"),
        ("begun T2@w2", "worker 2: begin T2 instead of worker 1: begin T1"),
        ("", "the run ends instead of worker 1: begin T1"),
    ],
)
def test_alternative_is_told_in_words(other, said):
    first = "begun T2@w2 ; " if other == "engine_committed T1@w1" else ""
    run, changed = (
        parse_history(f"T1{{a}} 1<0 | T2{{b}} 2<0 | {first}{events}")
        for events in ("begun T1@w1", other)
    )
    one = Alternative(
        position=0, label="", taken=0, option=1, first=bool(first), history=changed,
        verdict=Verdict.HOLDS, changed=1,
    )  # fmt: skip
    found = Alternatives(choices=(0,), found=(one,), is_complete=True)
    document = document_of(Shown(history=run, broken=[], alternatives=found))
    assert document["alternatives"][0]["words"] == said


def test_document_marks_the_two_moments(unordered):
    prop = property_named(ORDER)
    document = document_of(Shown(history=unordered.history, broken=[prop]))
    (breach,) = document["breaches"]
    first, last = breach["moments"]
    assert first < last
    assert document["events"][last][2].startswith("engine commit")
    assert document["events"][first][3] != document["events"][last][3]


def test_page_stands_alone_and_nothing_in_a_history_acts(unordered):
    hostile = parse_history('T1{a} 1<0 session="</script><script>alert(1)</script>" | begun T1@w1')
    page = show_html(Shown(history=hostile))
    assert "<script>alert" not in page
    assert not re.search(r'(src|href)="https?:', page)
    assert "default-src 'none'" in page
    text = page.split('id="document">')[1].split("</script>")[0]
    assert json.loads(text)["transactions"][0]["session"]


def save(history, file):
    file.write_text("".join(f"{line}\n" for line in write_history(history)), encoding="utf-8")


def show(*arguments):
    return main(["show", *map(str, arguments)])


def test_command_writes_one_page_beside_the_file(tmp_path, unordered, capsys):
    file = tmp_path / "run.jsonl"
    save(unordered.history, file)
    assert show(file, "--property", ORDER) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'run.html'}\n"
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "The nearest run that passes" in page
    assert f"test_{ORDER}" in page
    assert "paraply replay" in page


def test_test_to_copy_fails_as_the_run_does(tmp_path, unordered):
    file = tmp_path / "run.jsonl"
    save(unordered.history, file)
    assert show(file, "--property", ORDER, "--no-alternatives") == 0
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    document = json.loads(page.split('id="document">')[1].split("</script>")[0])
    space = {}
    exec(document["test"], space)
    with pytest.raises(AssertionError):
        space[f"test_{ORDER}"]()


def test_folder_becomes_pages_with_an_index(tmp_path, unordered, capsys):
    for name in ("a", "b"):
        save(unordered.history, tmp_path / f"{name}.jsonl")
    out = tmp_path / "pages"
    assert show(tmp_path, "--out", out, "--no-alternatives") == 0
    index = (out / "index.html").read_text(encoding="utf-8")
    assert 'href="a.html"' in index
    assert 'href="b.html"' in index
    assert "2 of 2 break something" in index


def test_history_of_a_mutant_is_run_again_with_its_fault(tmp_path):
    mutant = mutant_named("first_item_decides")
    prop = property_named(mutant.caught_by)
    found = search(
        lambda schedule: mutant.subject.run(schedule, Workload()), prop, random_schedules(0, 2000)
    )
    assert found is not None
    file = tmp_path / "m.jsonl"
    save(found.history, file)
    assert show(file, "--mutant", mutant.name, "--property", prop.name) == 0
    assert "What if" in (tmp_path / "m.html").read_text(encoding="utf-8")


def test_folder_without_histories_is_refused(tmp_path, capsys):
    for path, reason in ((tmp_path, "it holds no history"), (tmp_path / "no", "no such file")):
        assert show(path) == 3
        said = capsys.readouterr().err
        assert "P350" in said
        assert reason in said


def test_file_that_is_no_history_is_refused_with_its_line(tmp_path, capsys):
    file = tmp_path / "x.jsonl"
    file.write_text('{"record": "nonsense"}\n', encoding="utf-8")
    assert show(file) == 3
    assert f"{file}" in capsys.readouterr().err
