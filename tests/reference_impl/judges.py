"""The properties that judge a subject: those that apply to some of its runs."""

from __future__ import annotations

from paraply.counterexamples.hunt import properties_of
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload


def judges_of(subject, runs=30):
    """Return them by name."""
    histories = [
        subject.run(schedule, Workload(dialect=dialect))
        for dialect in subject.dialects
        for schedule in random_schedules(0, runs)
    ]
    return {
        prop.name: prop
        for prop in properties_of(subject)
        if any(prop.applies_to(history) for history in histories)
    }
