"""What subjects say of themselves is true: dialects, options, known breaches, what they reach."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import pytest

from paraply.counterexamples.hunt import properties_of, system_of
from paraply.mining.drawing import Drawing, drawn_schedules
from paraply.properties.campaign import run_campaign
from paraply.properties.search import random_schedules, search
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.certification.subject import CERTIFIER
from paraply.reference_impl.group.subject import GROUP
from paraply.reference_impl.subject import Option, Workload
from paraply.registries import property_named, registered_subjects, subject_named
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schedule import RecordedSchedule, SeededSchedule

SUBJECTS = registered_subjects()
OF_A_SUBJECT = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
RUNS = 60
RUNS_MAX = 3_000
RUNS_PER_VALUE = 5


def test_every_module_that_registers_a_subject_is_imported(repository):
    registers = re.compile(r"^(?!def )[^#\n]*\bregister_subject\(", re.MULTILINE)
    registering = {
        ".".join(path.relative_to(repository).with_suffix("").parts)
        for path in (repository / "paraply" / "reference_impl").rglob("*.py")
        if registers.search(path.read_text(encoding="utf-8"))
    }
    assert len(registering) == len(SUBJECTS)
    assert registering <= set(sys.modules)


@OF_A_SUBJECT
def test_subject_names_properties_that_exist(subject):
    assert set(subject.breaks) <= set(subject.dialects)
    assert set(subject.unreachable) <= {"", *subject.dialects}
    known = (known.breaks for known in (*subject.breaks_where, *subject.follows))
    lists = (*subject.unreachable.values(), *subject.breaks.values(), subject.causes, *known)
    assert all(property_named(name).name == name for names in lists for name in names)


def options_in(where):
    """Return the options that a known breach names, as 'a=1, b>0, c=true'."""
    options = {}
    for part in where.split(", "):
        name, text = re.fullmatch(r"(\w+)(=\w+|>0|>=members)", part).groups()
        value = {">0": "1", ">=members": "2"}.get(text, text.removeprefix("="))
        options[name] = {"true": True, "false": False}.get(
            value, int(value) if value.isdigit() else value
        )
    return options


@pytest.mark.long(quick=6)
@pytest.mark.parametrize(
    ("subject", "known"),
    [
        pytest.param(subject, known, id=f"{subject.name}: {known.where}")
        for subject in SUBJECTS
        for known in subject.breaks_where
    ],
)
def test_subject_breaks_with_options_what_it_is_known_to_break(subject, known):
    assert known.dialects <= set(subject.dialects)
    dialect = next(one for one in subject.dialects if not known.dialects or one in known.dialects)
    options = {**known.scope.options, **options_in(known.where)}
    workload = replace(known.scope, dialect=dialect, options=options)
    assert known.breaks <= subject.known_breaches(workload)
    assert not known.breaks & subject.known_breaches(Workload(dialect=dialect))
    for name in known.breaks:
        found = search(
            system_of(subject, workload), property_named(name), random_schedules(0, RUNS_MAX)
        )
        assert found is not None, name


@pytest.mark.long(quick=8)
@OF_A_SUBJECT
def test_no_single_option_breaks_what_it_is_not_known_to_break(subject):
    judged = [prop for prop in properties_of(subject) if prop.check is not None]
    for place, (name, value) in enumerate(values_beside_defaults(subject)):
        workload = Workload(options={name: value})
        known = subject.known_breaches(workload)
        campaign = run_campaign(
            system_of(subject, workload), judged, random_schedules(100 + place, RUNS_PER_VALUE)
        )
        broken = {tally.prop.name for tally in campaign.tallies if tally.violated}
        assert broken <= known, f"{name}={value}"


def values_beside_defaults(subject):
    """Yield values of each option that are not its default: both ends of a number's low range."""
    for option in subject.options:
        if isinstance(option.default, bool):
            values = [not option.default]
        elif isinstance(option.default, int):
            values = sorted({option.least, option.default + 1})
        else:
            values = option.choices
        for value in values:
            if value != option.default and option.allows(value):
                yield option.name, value


@pytest.mark.long
@OF_A_SUBJECT
def test_subject_never_reaches_what_it_calls_unreachable(subject):
    for dialect in subject.dialects:
        judged = [property_named(name) for name in sorted(subject.unreachable_in(dialect))]
        workload = Workload(transactions=5, members=3, dialect=dialect)
        campaign = run_campaign(system_of(subject, workload), judged, random_schedules(1, RUNS))
        assert [tally.prop.name for tally in campaign.tallies if tally.reached] == []


@pytest.mark.parametrize("subject", [CERTIFIER, GROUP], ids=lambda subject: subject.name)
@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_view_changes_are_out_of_reach_in_exactly_the_dialects_that_log_none(subject, dialect):
    is_unreachable = "a_view_change_is_logged" in subject.unreachable_in(dialect.name)
    assert is_unreachable is not dialect.logs_view_change


@pytest.mark.long(quick=10)
@OF_A_SUBJECT
def test_subject_reaches_something_that_it_is_judged_by(subject):
    campaign = run_campaign(
        system_of(subject, Workload()), properties_of(subject), random_schedules(0, RUNS)
    )
    assert any(tally.reached for tally in campaign.tallies)
    assert campaign.runs == RUNS


@OF_A_SUBJECT
def test_subject_does_the_same_on_the_same_choices(subject):
    schedule = SeededSchedule(5)
    history = subject.run(schedule, Workload())
    replayed = RecordedSchedule(schedule.choices, strict=True)
    again = subject.run(replayed, Workload())
    assert replayed.is_faithful
    assert (again.transactions, again.events) == (history.transactions, history.events)
    assert again.header.program == history.header.program
    assert list(again.faults()) == []


@OF_A_SUBJECT
def test_subject_takes_the_defaults_of_its_options_and_explains_them(subject):
    for option in subject.options:
        assert option.allows(option.default), option.name
        assert option.meaning


def test_number_outside_its_range_is_not_allowed():
    option = Option(name="n", default=2, meaning="", least=1, greatest=3)
    assert [option.allows(value) for value in (0, 1, 3, 4)] == [False, True, True, False]


def test_text_that_is_no_choice_is_not_allowed():
    option = Option(name="t", default="a", meaning="", choices=("a", "b"))
    assert [option.allows(value) for value in ("b", "c")] == [True, False]


def test_truth_value_is_never_out_of_range():
    option = Option(name="b", default=False, meaning="", least=1)
    assert option.allows(False)


@OF_A_SUBJECT
def test_option_of_another_type_is_refused(subject):
    option = next(one for one in subject.options if isinstance(one.default, int))
    with pytest.raises(ParaplyError, match="P406"):
        subject.options_of(Workload(options={option.name: "many"}))


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("name", "dialect", "situation", "least"),
    [
        ("source", "writeset", "a_transaction_mixes_tables_with_and_without_key", 30),
        ("write_sets", "xxh64", "a_null_keeps_two_rows_apart", 8),
        ("write_sets", "xxh64", "an_update_to_or_from_null_meets_a_key", 8),
    ],
)
def test_drawn_runs_have_rows_that_some_key_leaves_out(name, dialect, situation, least):
    drawing = Drawing(subject=subject_named(name), given=Workload(dialect=dialect))
    histories = [drawing.run(schedule) for schedule in drawn_schedules(0, 300)]
    prop = property_named(situation)
    reached = sum(1 for history in histories if prop.evidence(history).decided)
    print(f"{reached} of {len(histories)}")
    assert reached >= least
