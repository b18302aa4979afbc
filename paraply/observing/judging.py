"""Judge live rounds of one mode and fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from paraply.adapters.live.target import HEALTHY, LiveRequest, LiveRound, LiveTarget
from paraply.observing import conformance as live_conformance
from paraply.observing import model_traces
from paraply.observing.live_monitors import LIVE_MONITORS, monitor_round
from paraply.properties.registry import NO_EVIDENCE, Evidence, Violation
from paraply.registries import property_named
from paraply.version import VERSION
from paraply.vocabulary.group_trace import GroupTrace
from paraply.vocabulary.history import History
from paraply.vocabulary.secrets import dsn_without_password
from paraply.vocabulary.verdict import Verdict, combine

NOT_REACHED = "its situation did not occur"
EXAMPLES_MAX = 3


@dataclass(slots=True, kw_only=True)
class Answer:
    """All rounds' verdict on one property."""

    name: str
    meaning: str
    is_documented: bool = False
    """Whether the fault is its documented positive control."""
    is_rare: bool = False
    """Whether the breach depends on luck."""
    held: int = 0
    """Rounds with its situation, unbroken."""
    evidence: Evidence = NO_EVIDENCE
    """Situations of all rounds; none where a model or a monitor answers."""
    broken: int = 0
    reason: str = NOT_REACHED
    is_out_of_reach: bool = False
    """Whether no observation can answer it."""
    said: str = ""
    """By a monitor of the last round that it holds for."""
    examples: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Return VIOLATED, HOLDS (with a witness, and all decided) or UNKNOWN."""
        if self.broken:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.held and self.is_decided else Verdict.UNKNOWN

    @property
    def is_decided(self) -> bool:
        """Return whether no situation of any round is undecided."""
        return self.evidence.decided == self.evidence.relevant

    @property
    def decides(self) -> bool:
        """Return whether the exit code counts it."""
        return not (self.verdict is Verdict.UNKNOWN and self.is_out_of_reach)

    @property
    def situations(self) -> str:
        """Return how many situations are decidable; empty where a model or a monitor answers."""
        return str(self.evidence) if self.evidence.relevant else ""

    def why(self) -> str:
        """Return the verdict's basis."""
        if self.broken:
            return self.examples[0]
        if not self.is_decided:
            return self.evidence.reason
        if self.held:
            rounds = f"{self.held} round{'s' if self.held > 1 else ''}"
            return f"{rounds}: {self.said}" if self.said else rounds
        return self.reason


@dataclass(slots=True, kw_only=True)
class LiveResult:
    """The answers for one mode and fault."""

    target: str
    request: LiveRequest
    answers: dict[str, Answer]
    rounds: int = 0
    evidence: dict[str, int | str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rounds_unlike_reference: list[int] = field(default_factory=list)
    """Rounds where the reference certifier differs."""
    findings: list[str] = field(default_factory=list)
    """Files with breaking histories."""

    @property
    def transactions(self) -> int:
        """Return the transactions of all rounds."""
        return int(self.evidence.get("transactions", 0))

    def verdict(self, *, allow_documented: bool = False) -> Verdict:
        """Return the gravest answerable verdict.

        ``allow_documented`` leaves out positive controls' breaches.
        """
        return combine(
            answer.verdict
            for answer in self.answers.values()
            if answer.decides and not (allow_documented and answer.is_documented and answer.broken)
        )

    @property
    def silent_controls(self) -> list[str]:
        """Return documented breaches that no round showed."""
        return [
            answer.name
            for answer in self.answers.values()
            if answer.is_documented and not answer.is_rare and not answer.broken
        ]


def new_result(target: LiveTarget, request: LiveRequest) -> LiveResult:
    """Return a result without rounds."""
    documented = target.documented.get(f"{request.mode}/{request.fault}", ())
    return LiveResult(
        target=target.name,
        request=request,
        answers={
            name: Answer(
                name=name,
                meaning=property_named(name).meaning,
                is_documented=name in documented,
                is_rare=request.fault in target.rare,
            )
            for name in target.properties
        },
    )


def take_round(result: LiveResult, one: LiveRound) -> Mapping[str, Sequence[Violation]]:
    """Add a round; return its breaches by property."""
    result.rounds += 1
    add_evidence(result.evidence, one.evidence)
    result.notes += [note for note in one.notes if note not in result.notes]
    if one.trace is not None:
        _compare(result, one.number, one.trace)
    _follow(result, one.history)
    _monitor(result, one)
    broken: dict[str, Sequence[Violation]] = {}
    for name, answer in result.answers.items():
        if name in (live_conformance.NAME, *model_traces.NAMES.values(), *LIVE_MONITORS):
            continue
        violations = judge(answer, one.history, one.unknown.get(name))
        if violations:
            broken[name] = violations
    return broken


def _compare(result: LiveResult, number: int, trace: GroupTrace) -> None:
    answer = result.answers.setdefault(
        live_conformance.NAME,
        Answer(name=live_conformance.NAME, meaning=live_conformance.MEANING),
    )
    differences, counts = live_conformance.compare(trace)
    add_evidence(result.evidence, counts)
    if differences:
        answer.broken += 1
        result.rounds_unlike_reference.append(number)
        answer.examples += differences[: max(0, EXAMPLES_MAX - len(answer.examples))]
    else:
        answer.held += counts["remote_decisions_compared"] > 0


def _follow(result: LiveResult, history: History) -> None:
    """Follow a round by the models, if it records starts and engine commits."""
    is_documented = any(one.is_documented for one in result.answers.values())
    for model, traced in model_traces.follow_live(history).items():
        if not traced.segments + traced.undecided:
            continue
        counts = {
            f"segments_followed_by_{model}": traced.segments,
            f"steps_followed_by_{model}": traced.steps,
            f"segments_refused_by_{model}": len(traced.refused),
            f"segments_undecided_by_{model}": traced.undecided,
        }
        add_evidence(result.evidence, counts)
        if is_documented:
            continue  # Outside of what the models assume: refusals are counted, and are no finding.
        name = model_traces.NAMES[model]
        answer = result.answers.setdefault(
            name, Answer(name=name, meaning=model_traces.MEANINGS[model])
        )
        answer.broken += bool(traced.refused)
        answer.examples += traced.refused[: max(0, EXAMPLES_MAX - len(answer.examples))]
        if traced.undecided:
            answer.is_out_of_reach = True
            answer.reason = (
                f"{traced.undecided} of {traced.segments + traced.undecided} segments of a round"
                f" fit more worlds of the model than are followed"
            )
        else:
            answer.held += not traced.refused


def _monitor(result: LiveResult, one: LiveRound) -> None:
    """Add what monitors of theorems say, unless the fault is outside of what models assume."""
    if any(answer.is_documented for answer in result.answers.values()):
        return
    for found in monitor_round(one.history, one.trace, result.answers):
        answer = result.answers.setdefault(
            found.theorem, Answer(name=found.theorem, meaning=found.claim)
        )
        if found.verdict is Verdict.UNKNOWN:
            answer.reason, answer.is_out_of_reach = found.said, True
        elif found.verdict is Verdict.VIOLATED:
            answer.broken += 1
            answer.examples += [found.said][: max(0, EXAMPLES_MAX - len(answer.examples))]
        else:
            answer.held, answer.said = answer.held + 1, found.said


def judge(answer: Answer, history: History, out_of_reach: str | None) -> Sequence[Violation]:
    """Add a history's verdict; return the breaches."""
    prop = property_named(answer.name)
    violations = prop.violations(history)
    evidence = prop.evidence(history, violations)
    verdict = Verdict.VIOLATED if violations else evidence.verdict
    answer.evidence += evidence
    answer.held += verdict is Verdict.HOLDS
    if verdict is Verdict.UNKNOWN and out_of_reach is not None:
        answer.reason, answer.is_out_of_reach = out_of_reach, True
    if verdict is not Verdict.VIOLATED:
        return ()
    answer.broken += 1
    room = EXAMPLES_MAX - len(answer.examples)
    answer.examples += [str(violation) for violation in violations[: max(0, room)]]
    return violations


def add_evidence(total: dict[str, int | str], more: Mapping[str, int | str]) -> None:
    """Add a round's counts; replace words."""
    for name, value in more.items():
        before = total.get(name, 0)
        if isinstance(value, int) and isinstance(before, int):
            total[name] = before + value
        else:
            total[name] = value


def command_of(result: LiveResult) -> str:
    """Return the repeating command, up to interleaving."""
    return " ".join(command_words(result.target, result.request))


def command_words(target: str, request: LiveRequest) -> list[str]:
    """Return the command of a request, word by word."""
    words = ["paraply", "live", target, "--mode", request.mode]
    if request.fault != HEALTHY:
        words += ["--fault", request.fault]
    if request.nemeses:
        words += ["--nemesis", ",".join(request.nemeses)]
    for option, value in (
        ("workload", request.workload), ("workers", request.workers),
        ("replicas", request.replicas), ("domains", request.domains),
        ("clients", request.clients), ("transactions", request.transactions),
        ("rounds", request.rounds), ("seed", request.seed),
    ):  # fmt: skip
        if value != getattr(_DEFAULTS, option):
            words += [f"--{option}", str(value)]
    if request.duration_s != _DEFAULTS.duration_s:
        words += ["--duration", f"{request.duration_s:g}"]
    if request.basedir is not None:
        words += ["--basedir", str(request.basedir)]
    if request.servers:
        # The account, never the password.
        words += ["--dsn", *(dsn_without_password(one) for one in request.servers)]
    return words


def history_to_keep(result: LiveResult, one: LiveRound) -> History:
    """Return the history with command and recorder."""
    request = replace(result.request, rounds=1, seed=one.seed)
    header = one.history.header
    return replace(
        one.history,
        header=replace(
            header,
            options={**header.options, "command": command_of(replace(result, request=request))},
            recorded_by=f"paraply live {VERSION}",
        ),
    )


_DEFAULTS = LiveRequest(mode="")
