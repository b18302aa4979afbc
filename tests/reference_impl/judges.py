"""The properties that judge a subject: those that apply to some of its runs."""

from __future__ import annotations

from paraply.counterexamples.hunt import properties_of
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload


def judges_of(subject, runs=30, settings=({},)):
    """Return them by name; ``settings`` are the options to run with, one after the other."""
    histories = [
        subject.run(schedule, Workload(dialect=dialect, options=options))
        for dialect in subject.dialects
        for options in settings
        for schedule in random_schedules(0, runs)
    ]
    return {
        prop.name: prop
        for prop in properties_of(subject)
        if any(prop.applies_to(history) for history in histories)
    }
