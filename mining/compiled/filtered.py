"""A subject that first asks the kernels whether a run can be of interest.

A minimiser tries thousands of runs and keeps a few dozen. Here those of which the kernels say
that they keep the property are answered by an empty history, which breaks nothing; the others are
made by the reference. So it finds what it finds without kernels, in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from mining.compiled import columns as C
from mining.compiled.applier import Ints, Scratch, settings_of
from mining.systems import System
from reference_impl.recorder import Recorder
from reference_impl.subject import Subject, Workload
from vocabulary.history import History, OptionValue
from vocabulary.schedule import RecordedSchedule, Schedule, SeededSchedule

FRACTIONS = 256
"""Random numbers drawn for a run of a seed; a run that asks for more is left to the reference."""

NOTHING = History()

_DESCRIBED = (
    "name", "meaning", "source", "dialects", "options", "breaks", "schema", "areas", "unreachable",
)  # fmt: skip


class FilteredSubject(Subject):
    """The runner of a system, for runs that matter only where they break one property."""

    def __init__(self, system: System, prop: str) -> None:
        self._system = system
        self._runner = system.runner
        # Whoever asks about dialects and options gets the answers of the runner.
        vars(self).update({name: getattr(self._runner, name) for name in _DESCRIBED})
        self._bit = 1 << C.JUDGED.index(prop)
        self._settings: dict[str, Ints | None] = {}
        self._scratch = Scratch()

    def run(self, schedule: Schedule, workload: Workload) -> History:
        """Return the run, or an empty history if it cannot break the property."""
        settings = self._settings_for(workload)
        if settings is None or self._may_break(settings, schedule):
            return self._runner.run(schedule, workload)
        return NOTHING

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run as the reference does."""
        return self._runner.simulate(schedule, workload, dialect, options, recorder)

    def _settings_for(self, workload: Workload) -> Ints | None:
        described = repr(workload)
        if described not in self._settings:
            self._settings[described] = settings_of(replace(self._system, workload=workload))
        return self._settings[described]

    def _may_break(self, settings: Ints, schedule: Schedule) -> bool:
        if isinstance(schedule, RecordedSchedule):
            program = schedule.program
            if len(program) > C.CHOICES_MAX:
                return True
            verdict = self._scratch.run(settings, program)
        elif isinstance(schedule, SeededSchedule):
            draw = Random(schedule.seed).random
            fractions = [int(draw() * (1 << C.FRACTION_BITS)) for _ in range(FRACTIONS)]
            verdict = self._scratch.run(settings, fractions, are_fractions=True)
            if int(self._scratch.outcome[2]) > FRACTIONS:
                return True
        else:
            return True
        return verdict == C.OVERFLOWN or bool(verdict & self._bit)


def filtered(system: System, prop: str) -> Subject:
    """Return the system's runner, behind the kernels where they know it and judge the property."""
    if prop in C.JUDGED and settings_of(system) is not None:
        return FilteredSubject(system, prop)
    return system.runner
