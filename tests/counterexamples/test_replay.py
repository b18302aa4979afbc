"""``paraply replay``: the same run again, compared with the record, and judged again."""

from __future__ import annotations

import json

import pytest

from paraply.cli import main
from paraply.counterexamples.replaying import difference_of, replay
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.programs import encode_program, format_program
from paraply.vocabulary.schedule import SeededSchedule

SUBJECT = subject_named("applier")
WORKLOAD = Workload(transactions=3, options={"crashes": 1})


def recorded(seed=5):
    return SUBJECT.run(SeededSchedule(seed), WORKLOAD)


def file_of(tmp_path, *lines):
    file = tmp_path / "history.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    return str(file)


def test_recorded_history_is_made_again_event_by_event(tmp_path, capsys):
    code = main(["replay", file_of(tmp_path, *write_history(recorded()))])
    out = capsys.readouterr().out
    assert "the run is the one recorded, event by event" in out
    assert "holds    rows_apply_as_logged" in out
    assert code in (0, 2)


def test_property_that_holds_in_the_run_exits_0(tmp_path, capsys):
    file = file_of(tmp_path, *write_history(recorded()))
    assert main(["replay", file, "--property", "rows_apply_as_logged"]) == 0
    assert capsys.readouterr().out.endswith(
        "holds    rows_apply_as_logged: 1 of 1 situations are decidable\n"
    )


def test_situation_that_the_run_does_not_reach_is_unknown(tmp_path, capsys):
    file = file_of(tmp_path, *write_history(recorded()))
    assert main(["replay", file, "--property", "saved_positions_are_executed"]) == 2
    assert "its situation does not occur" in capsys.readouterr().out


def test_history_that_was_changed_is_not_the_run(tmp_path, capsys):
    lines = list(write_history(recorded()))
    place = next(n for n, line in enumerate(lines) if '"engine_committed"' in line)
    lines[place] = lines[place].replace('"engine_committed"', '"prepared"')
    assert main(["replay", file_of(tmp_path, *lines), "--property", "rows_apply_as_logged"]) == 2
    out = capsys.readouterr().out
    assert f"NOT the run recorded: event {place - 3} differs" in out


def test_program_with_choices_left_over_is_not_the_run(capsys):
    text = format_program(encode_program([0] * 400))
    arguments = ["replay", "--subject", "applier", "--program", text]
    assert main([*arguments, "--property", "rows_apply_as_logged"]) == 2
    assert "NOT the run recorded: the program has 400 choices" in capsys.readouterr().out


def test_every_choice_is_listed_with_its_question(capsys):
    main(["replay", "--subject", "certifier", "--program", "AQ", "--choices"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["choice", "option", "of", "question"]
    assert lines[3].split()[:2] == ["1", "1"]
    assert "what happens next" in lines[3]


def test_mutant_is_replayed_with_its_fault(capsys):
    arguments = ["--transactions=3", "--rows=2", "--program=AAAAAAAAAQI"]
    judged = ["--property", "first_certified_wins"]
    assert main(["replay", "--mutant=first_item_decides", *arguments, *judged]) == 1
    assert "with the fault first_item_decides" in capsys.readouterr().out
    assert main(["replay", "--subject=certifier", *arguments, *judged]) == 0


def test_json_has_the_run_the_choices_and_the_verdicts(capsys):
    arguments = ["replay", "--subject", "applier", "--program", "AwAA", "--json", "-"]
    main([*arguments, "--property", "rows_apply_as_logged"])
    (document,) = json.loads(capsys.readouterr().out)["runs"]
    assert document["difference"] == ""
    assert document["properties"][0]["verdict"] == "holds"
    assert [choice["index"] for choice in document["choices"][:3]] == [3, 0, 0]
    assert document["history"][-1]["record"] == "end"


def test_several_histories_of_a_file_are_all_replayed(tmp_path, capsys):
    file = file_of(tmp_path, *write_history(recorded(1)), *write_history(recorded(2)))
    main(["replay", file, "--json", "-"])
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 2


def test_difference_names_the_first_thing_that_differs():
    one, other = recorded(1), recorded(2)
    assert difference_of(one, one) == ""
    assert difference_of(one, other)
    shorter = type(one)(transactions=one.transactions, events=one.events[:-1])
    assert "events were recorded" in difference_of(one, shorter)


def test_replay_of_the_choices_made_asks_the_same_questions():
    schedule = SeededSchedule(8)
    history = SUBJECT.run(schedule, WORKLOAD)
    done = replay(SUBJECT, WORKLOAD, history.header.program, history)
    assert done.difference == ""
    assert [question.index for question in done.questions] == schedule.choices
    assert all(question.count > 1 for question in done.questions)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], "P301"),
        (["--program", "AA"], "P301"),
        (["file.jsonl", "--program", "AA"], "P301"),
        (["--subject", "nosuch", "--program", "AA"], "P403"),
        (["--mutant", "nosuch", "--program", "AA"], "P408"),
        (["--mutant", "m", "--subject", "s", "--program", "AA"], "P301"),
        (["--subject", "applier", "--program", "!!"], "P503"),
        (["--subject", "certifier", "--program", "fw"], "P501"),
        (["no-such-file.jsonl"], "P321"),
    ],
)
def test_wrong_usage_exits_3_with_a_code(arguments, code, capsys):
    assert main(["replay", *arguments]) == 3
    assert f"paraply: {code}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "P321"),
        (b"\xff\xfe", "P321"),
        (b"not json\n", "P505"),
        (b'{"record":"history","subject":"mysql-8.4"}\n', "P403"),
        (b'{"record":"history","subject":"applier","dialect":"x"}\n', "P405"),
        (b'{"record":"history","subject":"applier","options":{"rows":"x"}}\n', "P406"),
        (b'{"record":"history","subject":"applier","options":{"workers":-1}}\n', "P409"),
    ],
)
def test_file_that_cannot_be_replayed_exits_3_with_a_code(tmp_path, content, code, capsys):
    file = tmp_path / "history.jsonl"
    file.write_bytes(content)
    assert main(["replay", str(file)]) == 3
    assert f"paraply: {code}" in capsys.readouterr().err
