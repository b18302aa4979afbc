"""The semi-sync cluster of the reference implementation behind the interface of its machine."""

from __future__ import annotations

from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.semi_sync.settings import BY_HAND
from paraply.reference_impl.semi_sync.subject import SEMI_SYNC
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import HistoryHeader

CLIENTS = 12
BUDGETS = {
    "reads": 60, "source_crashes": 3, "replica_crashes": 4, "rotations": 3, "abandons": 3,
    "shutdowns": 2, "loses_source": True, "source_returns": True,
}  # fmt: skip
"""More of them only repeat; without a bound a story could go round in a circle."""


class ReferenceServers:
    """Servers that take a step only when they are told to.

    ``committed`` transactions are there before the story begins.
    """

    def __init__(self, dialect="after_sync", members=3, committed=0, **options):
        workload = Workload(
            transactions=CLIENTS, members=members, dialect=dialect, options={**BUDGETS, **options}
        )
        self.dialect = dialect
        self.options = SEMI_SYNC.options_of(workload)
        self.recorder = Recorder()
        self.cluster = SEMI_SYNC.start(workload, dialect, self.options, self.recorder)
        self.members = ("source", *(replica.name for replica in self.cluster.replicas))
        self.cluster.on_start()
        clients, self.cluster.waiting = self.cluster.waiting, self.cluster.waiting[:committed]
        while steps := list(self.cluster.progress_steps()):
            self.cluster.take(steps[0])
        self.cluster.waiting = clients[committed:]

    def steps(self):
        return [*self.cluster.progress_steps(), *self.cluster.other_steps()]

    def take(self, fits, choice=0):
        """Take one of the possible steps whose labels fit."""
        steps = [step for step in self.steps() if fits(step.label)]
        if steps:
            self.cluster.take(steps[choice % len(steps)])
        return bool(steps)

    def commit(self, clients):
        for _ in range(clients):
            self.take(lambda label: label == "prepare")

    def flush(self):
        self.take(lambda label: label == "flush")

    def move(self, choice):
        given_up = tuple(why.value for why in BY_HAND.values())
        own = ("rotated", "release recovered", "open", "source st")
        self.take(
            lambda label: (
                label.startswith(own)
                or (label.startswith("group") and not label.endswith(given_up))
            ),
            choice,
        )

    def named(self, replica):
        """Return the name of a replica; numbers beyond the last begin again."""
        return f"r{(replica - 1) % (len(self.members) - 1) + 1}"

    def receive(self, replica):
        self.take(lambda label: label == f"{self.named(replica)} receives")

    def hear(self, replica):
        self.take(lambda label: label == f"{self.named(replica)} is heard")

    def apply(self, replica):
        self.take(lambda label: label == f"{self.named(replica)} applies")

    def read(self):
        self.take(lambda label: label == "read")

    def crash_source(self, kept):
        self.keep("source crashes", kept)

    def keep(self, what, kept):
        """Take the step in which so many unsynced transactions survive, or as many as there are."""
        for number in range(kept, -1, -1):
            label = f"{what}, {number} unsynced survive" if number else what
            if self.take(lambda one, label=label: one == label):
                return

    def crash_replica(self, replica, *, is_noticed):
        name = self.named(replica)
        label = f"{name} crashes" if is_noticed else f"{name} loses power"
        self.take(lambda one: one == label)

    def restart_replica(self, replica):
        self.take(lambda label: label == f"{self.named(replica)} restarts")

    def rotate(self):
        self.take(lambda label: label == "rotate")

    def give_up(self, how):
        only = self.options["abandon_by"]
        why = BY_HAND[how if only == "any" else only]
        self.take(lambda label: label.endswith(why.value))

    def shut_down(self):
        self.take(lambda label: label == "shutdown")

    def go_on(self, choice):
        steps = list(self.cluster.progress_steps())
        if steps:
            self.cluster.take(steps[choice % len(steps)])

    def lose_source(self, *, kept):
        if self.take(lambda label: label.startswith("lost")):
            while self.take(lambda label: not label.startswith("source returns")):
                pass
            self.keep("source returns", kept)

    def finish(self):
        while steps := list(self.cluster.progress_steps()):
            self.cluster.take(steps[0])
        self.cluster.on_end()

    def history(self):
        return self.recorder.history(
            HistoryHeader(dialect=self.dialect, options=self.options, members=self.members)
        )
