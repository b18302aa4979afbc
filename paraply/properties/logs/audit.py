"""The audit of one log: every judge in one pass, and the verdict.

:meth:`Auditor.observe` requires log order. The reader adds files and schema sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from paraply.properties.logs.conflict_index import ConflictIndex, Horizon
from paraply.properties.logs.dependency_safety import VIOLATIONS_MAX, DependencySafety, get_touches
from paraply.properties.logs.log_lint import LINT_MAX, LogLint
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, LOGICAL_CLOCK, RULES
from paraply.properties.logs.parallelism import ParallelismJudge
from paraply.properties.logs.replay_state import ROWS_MAX
from paraply.properties.logs.row_replay import FINDINGS_MAX, RowReplay
from paraply.properties.logs.table_census import TableCensus
from paraply.vocabulary.audit_result import AuditResult, LintFinding, Reason
from paraply.vocabulary.counting import counted
from paraply.vocabulary.keys import RowKeys
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.verdict import Verdict, combine

DEFAULT_WORKERS = (1, 2, 4, 8, 16, 32)
SAFETY = "conflicting_transactions_are_ordered"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What to judge, and memory limits."""

    appliers: tuple[str, ...] = (LOGICAL_CLOCK, COMMIT_GROUP)
    """Judged appliers, if the log has their metadata."""
    workers: tuple[int, ...] = DEFAULT_WORKERS
    horizon: Horizon = field(default_factory=Horizon)
    replay_rows_max: int = ROWS_MAX
    violations_max: int = VIOLATIONS_MAX
    lint_max: int = LINT_MAX
    replay_findings_max: int = FINDINGS_MAX


class Auditor:
    """Runs every judge over one log."""

    def __init__(self, row_keys: RowKeys, options: AuditOptions | None = None) -> None:
        self.options = options or AuditOptions()
        unknown = [name for name in self.options.appliers if name not in RULES]
        if unknown:
            raise ValueError(f"no such applier: {', '.join(unknown)}; known: {', '.join(RULES)}")
        self._index = ConflictIndex(self.options.horizon)
        self._appliers = tuple(dict.fromkeys(self.options.appliers))
        self._safety = DependencySafety(
            [RULES[name]() for name in self._appliers],
            self._index,
            violations_max=self.options.violations_max,
        )
        self._lint = LogLint(self.options.lint_max)
        self._replay = RowReplay(
            row_keys, self.options.replay_rows_max, self.options.replay_findings_max
        )
        self._parallelism = ParallelismJudge(self._index, self.options.workers)
        self._tables = TableCensus(row_keys)
        self._transactions = 0
        self._row_changes = 0
        self._kinds: Counter[str] = Counter()
        self._has = dict.fromkeys(RULES, False)
        self._uncertain_keys = 0
        self._incomplete = 0

    def observe(self, txn: LoggedTransaction) -> None:
        """Judge the next transaction."""
        self._transactions += 1
        self._row_changes += len(txn.rows)
        self._kinds[txn.kind.value] += 1
        self._has[LOGICAL_CLOCK] |= bool(txn.sequence_number)
        self._has[COMMIT_GROUP] |= txn.domain is not None or txn.commit_id is not None
        self._lint.observe(txn)
        if not txn.complete:
            # Servers do not apply half a transaction, so nothing is concluded from it.
            self._incomplete += 1
            return
        self._tables.observe(txn)
        self._uncertain_keys += len(txn.uncertain_keys)
        touches = get_touches(txn)
        seen = self._safety.place(txn, touches)
        self._safety.observe(seen, touches)
        self._parallelism.observe(txn, seen, touches)
        self._safety.remember(seen, touches)
        self._replay.observe(txn)

    def lose_rows(self) -> None:
        """Forget the rows, which what was not read may have changed."""
        self._replay.lose_all()

    def settle(self) -> None:
        """Store the counts for :mod:`paraply.properties.logs.parts`."""

    def has_forgotten(self) -> tuple[bool, bool]:
        """Return whether the horizon dropped key writers, and readers."""
        return bool(self._index.writes._forgotten), bool(self._index.reads._forgotten)

    def has_reads(self) -> bool:
        """Return whether a remembered transaction requires a key unchanged."""
        return bool(len(self._index.reads))

    def left_rows(self) -> Counter[str]:
        """Return by table the changed rows that a compiled engine left to readable code."""
        return Counter()

    def forget_counts(self) -> None:
        """Drop counts unknown to :mod:`paraply.properties.logs.parts`."""

    def result(self) -> AuditResult:
        """Return findings so far and verdict."""
        path = self._parallelism.path.trace()
        by_applier = {
            name: self._safety_verdict(rule)
            for rule, name in enumerate(self._appliers)
            if self._has[name]
        }
        result = AuditResult(
            unknown_because=self._reasons(),
            transactions=self._transactions,
            row_changes=self._row_changes,
            kinds=dict(sorted(self._kinds.items())),
            tables=self._tables.summaries(),
            commit_group_sizes=self._lint.groups.sizes(),
            pairs_allowed_to_overlap=sum(
                self._safety.evidence[rule].pairs_allowed for rule in self._judged()
            ),
            pairs_in_doubt=sum(
                self._safety.evidence[rule].pairs_in_doubt for rule in self._judged()
            ),
            conflicting_pairs_ordered=sum(
                self._safety.evidence[rule].conflicts_ordered for rule in self._judged()
            ),
            may_wait=sum(self._safety.evidence[rule].may_wait for rule in self._judged()),
            lint=[*self._lint.results(), *self._barrier_notes()],
            lint_dropped=self._lint.findings.dropped,
            violations=[
                violation for violation in self._safety.violations if self._has[violation.applier]
            ],
            violations_dropped=self._safety.violations_dropped(),
            replay=self._replay.result(),
            parallelism=self._parallelism.results(by_applier),
            clock_distance=dict(sorted(self._parallelism.clock_distance.items())),
            width_over_time=self._parallelism.width.slices(),
            blockers=list(path.blockers),
            critical_path=list(path.links),
            assumptions=self._assumptions(path.whole),
        )
        result.verdict = self._verdict(result, by_applier.values())
        return result

    def _judged(self) -> list[int]:
        return [rule for rule, name in enumerate(self._appliers) if self._has[name]]

    def _safety_verdict(self, rule: int) -> Verdict:
        evidence = self._safety.evidence[rule]
        if evidence.violations_certain:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if evidence.reasons() else Verdict.HOLDS

    def _verdict(self, result: AuditResult, safety: Iterable[Verdict]) -> Verdict:
        verdicts = list(safety)
        if self._lint.violations:
            verdicts.append(Verdict.VIOLATED)
        replay = self._replay.verdict()
        if replay is not None:
            verdicts.append(replay)
        if result.unknown_because or not self._judged():
            verdicts.append(Verdict.UNKNOWN)
        return combine(verdicts)

    def _reasons(self) -> list[Reason]:
        found = []
        if not self._transactions:
            found.append(
                Reason(
                    property=SAFETY,
                    reason="the input holds no transactions",
                    remedy="name binary logs that were written to",
                )
            )
        elif not self._judged():
            found.append(
                Reason(
                    property=SAFETY,
                    reason="the log has no parallelisation metadata for "
                    + " or ".join(self._appliers),
                    remedy="audit a log of MySQL 5.7 or later, or of MariaDB 10.0 or later, and "
                    "name the applier that is meant to read it with --appliers",
                )
            )
        for rule in self._judged():
            found.extend(self._safety.evidence[rule].reasons(self._tables.schemas))
        found.extend(self._lint.reasons())
        found.extend(self._replay.reasons(self._tables.schemas))
        return found

    def _barrier_notes(self) -> list[LintFinding]:
        return [
            LintFinding(
                rule="definitions_change_alone",
                severity="note",
                message=f"{counted(evidence.ddl_overlapping, 'transaction')} may overlap DDL that "
                f"changes none of their tables under {self._appliers[rule]}: legal, as the source "
                "ran them side by side",
                file="",
                offset=0,
            )
            for rule in self._judged()
            if (evidence := self._safety.evidence[rule]).ddl_overlapping
        ]

    def _assumptions(self, path_whole: bool) -> list[str]:
        horizon = self.options.horizon
        found = []
        if self._has[LOGICAL_CLOCK] and LOGICAL_CLOCK in self._appliers:
            found.append(
                "logical-clock: a transaction may start once every transaction of its clock run "
                "with sequence_number <= last_committed has committed; where MySQL's scheduler "
                "would also drain its workers (gaps, last_committed=0) it is not relied on"
            )
            found.append(
                "logical-clock: transactions of different files, on either side of (0, 0) or of "
                "a timestamp that contradicts itself do not overlap, since the applier drains there"
            )
        if self._has[COMMIT_GROUP] and COMMIT_GROUP in self._appliers:
            found.append(
                "commit-group: transactions overlap only with neighbours of the same commit id in "
                "their domain (conservative mode); DDL runs alone; optimistic modes "
                "overlap more and roll back on conflict"
            )
        if self._uncertain_keys:
            found.append(
                f"{counted(self._uncertain_keys, 'key rests', 'keys rest')} on an assumption "
                "about a collation, a prefix or a foreign key; a conflict that only they show is "
                "reported as uncertain"
            )
        if self._incomplete:
            half = counted(self._incomplete, "incomplete transaction is", "incomplete ones are")
            found.append(f"{half} never applied")
        found.append(
            f"conflicts are looked for among the last {horizon.transactions:,} transactions and "
            f"{horizon.keys:,} key touches; a dependency that reaches further makes the verdict "
            "unknown"
        )
        replay = self._replay.result()
        if replay.rows_forgotten:
            found.append(
                f"the replay holds {self.options.replay_rows_max:,} rows; "
                f"{replay.rows_forgotten:,} were forgotten and count as never seen"
            )
        found.append("work: a transaction costs one step, and one more per changed row")
        if not path_whole:
            found.append("the critical path is described by its last part; its length is exact")
        return found
