"""The campaign report as an HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from paraply.campaigning.files import Filed
from paraply.campaigning.result import (
    SystemResult,
    discovery_curve,
    overall,
    unexpected_breaches,
)
from paraply.mining.campaign import Progress
from paraply.reporting.mining_text import DIFFERENT, summary
from paraply.reporting.pictures.discovery import discovery_picture
from paraply.reporting.sortable import Cell, Table, columns, number, verdict_cell
from paraply.reporting.table_page import Section, table_page
from paraply.vocabulary.moments import FLAGS
from paraply.vocabulary.verdict import Verdict, combine

NAMES_SHOWN_MAX = 3
SMALLEST_SHOWN_MAX = 8
_VERDICTS = (Verdict.HOLDS, Verdict.UNKNOWN, Verdict.VIOLATED)


def campaign_html(
    progress: Progress,
    results: Sequence[SystemResult],
    filed: Sequence[Filed],
    pages: Mapping[str, str],
    *,
    command: str = "",
) -> str:
    """Return the page.

    ``pages`` has each counterexample's page by name; ``command`` prints the same as text.
    """
    plan = progress.plan
    found, sought = progress.found
    reached, reachable = progress.reached
    seconds = sum(progress.seconds_per_system)
    events = sum(counts.events for counts in progress.per_system)
    smallest = _smallest(filed)
    sections = [next_steps(progress, results, smallest, pages), campaign_matrix(results)]
    if filed:
        sections.append(_smallest_few(filed, pages))
    sections.append(_discovery(progress))
    if any(not result.system.mutant for result in results):
        sections.append(_subjects(results))
    if any(result.system.mutant for result in results):
        sections.append(_mutants(results, smallest, pages))
    if filed:
        sections.append(_counterexamples(filed, pages))
    sections += [_situations(results), _moments(results), _actions(results)]
    return table_page(
        f"Campaign of seed {plan.seed}",
        summary(progress, results),
        overall(progress, results),
        sections,
        figures=[
            ("histories", f"{progress.histories:,}"),
            ("events", f"{events:,}"),
            ("histories per worker second", f"{progress.histories / max(seconds, 1e-9):,.0f}"),
            (f"of {sought:,} breaches found", f"{found:,}"),
            (f"of {reachable:,} situations reached", f"{reached:,}"),
            (f"of {plan.batches:,} batches run", f"{progress.batches:,}"),
        ],
        command=command,
    )


def next_steps(
    progress: Progress,
    results: Sequence[SystemResult],
    smallest: Mapping[tuple[str, str], Filed],
    pages: Mapping[str, str],
) -> Section:
    """Return what a reader can do, the gravest first."""
    steps: list[tuple[str, str]] = []
    violated = [result for result in results if result.verdict is Verdict.VIOLATED]
    unexpected = [one for one in violated if unexpected_breaches(one.system, one.counts)]
    for one in unexpected[:NAMES_SHOWN_MAX]:
        entries = [entry for (name, _), entry in smallest.items() if name == one.system.name]
        first = min(entries, key=lambda entry: (entry.transactions, entry.events), default=None)
        href = "" if first is None else pages.get(first.name, "")
        broken, *more = unexpected_breaches(one.system, one.counts)
        others = f" and {len(more):,} more" if more else ""
        steps.append((f"Step through a breach: {one.system.name} breaks {broken}{others}.", href))
    if len(unexpected) > NAMES_SHOWN_MAX:
        rest = len(unexpected) - NAMES_SHOWN_MAX
        steps.append((f"{rest:,} more systems break a property unexpectedly.", "#counterexamples"))
    known = [one for one in violated if one not in unexpected]
    if known:
        text = (
            f"{_names(known)}: only the breaches that the dialect is known for. "
            "Accept them with --allow-expected."
        )
        steps.append((text, "#subjects"))
    if not progress.is_complete:
        steps.append(("The campaign is not complete: continue it with paraply mine --resume.", ""))
    uncaught = [one for one in results if one.system.goals and one.verdict is Verdict.UNKNOWN]
    if uncaught:
        text = f"Run more histories: not caught yet: {_names(uncaught)}."
        steps.append((text, "#mutants"))
    undecided = [one for one in results if one.verdict is Verdict.UNKNOWN and not one.system.mutant]
    if undecided:
        text = f"Run more histories: situations or known breaches are missing: {_names(undecided)}."
        steps.append((text, "#subjects"))
    if not steps:
        steps.append(("Nothing: every subject holds, and every sought breach was found.", ""))
    return Section(title="What to do next", name="next", steps=steps)


def campaign_matrix(results: Sequence[SystemResult]) -> Section:
    """Return the number of systems by subject and verdict."""
    subjects = list(dict.fromkeys(result.system.subject for result in results))
    rows = []
    for subject in subjects:
        own = [result for result in results if result.system.subject == subject]
        kinds = [
            Counter(one.verdict for one in own if bool(one.system.mutant) is is_mutant)
            for is_mutant in (False, True)
        ]
        gravest = combine(one.verdict for one in own)
        counts = [number(kind[verdict]) for kind in kinds for verdict in _VERDICTS]
        rows.append([Cell(subject), verdict_cell(gravest.word), *counts])
    table = Table(
        id="matrix",
        caption="Number of dialects by verdict, then of mutants: caught, not caught, and caught "
        "although equivalent.",
        columns=columns(
            "subject",
            "verdict",
            "#hold",
            "#unknown",
            "#violated",
            "#mutants caught",
            "#not caught",
            "#not equivalent",
        ),
        rows=rows,
    )
    return Section(title="Matrix", table=table)


def _names(results: Sequence[SystemResult]) -> str:
    names = [result.system.name for result in results[:NAMES_SHOWN_MAX]]
    more = len(results) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _discovery(progress: Progress) -> Section:
    curve = discovery_curve(progress)
    sought, reachable = progress.found[1], progress.reached[1]
    table = Table(
        id="discovery",
        caption="What was known after so many histories of each system.",
        columns=columns(
            "#histories of each", f"#breaches of {sought:,}", f"#situations of {reachable:,}"
        ),
        rows=[
            [number(point.histories), number(point.found), number(point.reached)] for point in curve
        ],
    )
    if curve[-1].histories == 0:
        return Section(title="Discovery", table=table, text=["No batch is finished yet."])
    return Section(
        title="Discovery",
        table=table,
        is_folded=True,
        picture=discovery_picture(
            [
                (
                    name,
                    [(point.histories, share) for point, share in zip(curve, shares, strict=True)],
                )
                for name, shares in (
                    ("breaches", [point.found / max(sought, 1) for point in curve]),
                    ("situations", [point.reached / max(reachable, 1) for point in curve]),
                )
            ]
        ),
        legend="Shares of the breaches that are sought, and of the situations that can be reached, "
        "that were found after so many histories of each system.",
    )


def _subjects(results: Sequence[SystemResult]) -> Section:
    table = Table(
        id="subjects",
        caption="Every subject, in the dialects that were run.",
        columns=columns(
            "subject",
            "verdict",
            "#histories",
            f"#{DIFFERENT}",
            "#per worker second",
            "#features",
            "remark",
        ),
        rows=[
            [
                Cell(result.system.name),
                verdict_cell(result.verdict.word),
                number(result.counts.histories),
                number(result.counts.different),
                number(_rate(result)),
                number(len(result.counts.features)),
                Cell(result.note),
            ]
            for result in results
            if not result.system.mutant
        ],
    )
    return Section(title="Subjects", table=table, is_folded=True)


def _mutants(
    results: Sequence[SystemResult],
    smallest: Mapping[tuple[str, str], Filed],
    pages: Mapping[str, str],
) -> Section:
    rows = []
    for result in results:
        if not result.system.mutant:
            continue
        goal = next(iter(result.system.goals), "")
        entry = smallest.get((result.system.name, goal))
        rows.append(
            [
                Cell(result.system.name),
                verdict_cell(result.verdict.word),
                number(result.first_found),
                number(None if result.seconds_to_find is None else result.seconds_to_find * 1000),
                number(sum(result.counts.violated[name] for name in result.system.goals)),
                number(result.counts.histories),
                Cell("-", key="9e99")
                if entry is None
                else Cell(
                    f"{entry.events} events", href=pages.get(entry.name, ""), key=str(entry.events)
                ),
                Cell(result.note),
            ]
        )
    table = Table(
        id="mutants",
        caption="Every seeded fault: after how many histories the property that must catch it did.",
        columns=columns(
            "mutant",
            "verdict",
            "#found at history",
            "#ms",
            "#histories that break it",
            "#of",
            "smallest",
            "remark",
        ),
        rows=rows,
    )
    return Section(title="Mutation table", table=table, is_folded=True)


def _counterexample_table(
    name: str, caption: str, filed: Sequence[Filed], pages: Mapping[str, str]
) -> Table:
    return Table(
        id=name,
        caption=caption,
        columns=columns(
            "counterexample",
            "property",
            "#like it",
            "#transactions",
            "#events",
            "#choices",
            "sort",
            "replayed",
        ),
        rows=[
            [
                Cell(entry.name, href=pages.get(entry.name, "")),
                Cell(entry.prop),
                number(entry.count),
                number(entry.transactions),
                number(entry.events),
                number(entry.choices),
                Cell(entry.signature.partition(" | ")[2]),
                Cell("the same again" if entry.is_confirmed else "NOT CONFIRMED"),
            ]
            for entry in filed
        ],
    )


def _counterexamples(filed: Sequence[Filed], pages: Mapping[str, str]) -> Section:
    caption = "The smallest of every sort of breach."
    table = _counterexample_table("counterexamples", caption, filed, pages)
    return Section(title="All counterexamples", table=table, is_folded=True)


def _smallest_few(filed: Sequence[Filed], pages: Mapping[str, str]) -> Section:
    """Return the smallest ones: of subjects first, each property once."""
    order = sorted(
        filed, key=lambda one: (bool(one.mutant), one.transactions, one.events, one.name)
    )
    by_property: dict[str, Filed] = {}
    for entry in order:
        by_property.setdefault(entry.prop, entry)
    few = list(by_property.values())[:SMALLEST_SHOWN_MAX]
    caption = f"The smallest of {len(filed):,}, each property once, those of subjects first."
    rows = [
        [
            Cell(entry.prop, href=pages.get(entry.name, "")),
            Cell(entry.mutant or f"{entry.subject}:{entry.dialect}"),
            number(entry.transactions),
            number(entry.events),
            Cell("the same again" if entry.is_confirmed else "NOT CONFIRMED"),
        ]
        for entry in few
    ]
    head = columns("broken property", "system", "#transactions", "#events", "replayed")
    table = Table(id="smallest", caption=caption, columns=head, rows=rows)
    return Section(title="Smallest counterexamples", table=table)


def _situations(results: Sequence[SystemResult]) -> Section:
    rows = []
    for result in results:
        counts = result.counts
        for name in sorted(result.system.situations):
            met = counts.reached[name] + counts.violated[name]
            rows.append(
                [
                    Cell(name),
                    Cell(result.system.name),
                    number(met),
                    number(100 * met / max(counts.histories, 1), 1),
                    number(counts.relevant[name]),
                    number(counts.decided[name]),
                ]
            )
    table = Table(
        id="situations",
        caption="In how many histories the situations occurred that the properties are about, how "
        "often, and how many of them the recorded events decide.",
        columns=columns(
            "situation", "system", "#histories", "#percent", "#situations", "#decidable"
        ),
        rows=rows,
    )
    return Section(
        title="Situations",
        table=table,
        is_folded=True,
        text=[
            "A property that was never put to the test holds nothing: where a situation was not "
            "reached, the verdict of its system is unknown."
        ],
    )


def _actions(results: Sequence[SystemResult]) -> Section:
    actions: Counter[tuple[str, str]] = Counter()
    judged: Counter[str] = Counter()
    for result in results:
        subject = result.system.subject
        for action, count in result.counts.actions.items():
            actions[subject, action] += count
            judged[subject] += count
    table = Table(
        id="actions",
        caption="What was done, and how it ended, in all histories that the reference ran.",
        columns=columns("action", "subject", "#times", "#percent of the subject's"),
        rows=[
            [
                Cell(action),
                Cell(subject),
                number(count),
                number(100 * count / judged[subject], 1),
            ]
            for (subject, action), count in sorted(actions.items())
        ],
    )
    return Section(title="Actions", table=table, is_folded=True)


def _moments(results: Sequence[SystemResult]) -> Section:
    """Return the matrix of states: which were true together, and what occurred in them."""
    rows = []
    for result in results:
        if result.system.mutant:
            continue
        for moment, count in sorted(result.counts.moments.items()):
            event, _, states = moment.partition(": ")
            held = states.split(", ")
            rows.append(
                [
                    Cell(result.system.name),
                    Cell(event),
                    *(Cell("yes" if flag in held else "") for flag in FLAGS),
                    number(count),
                    number(100 * count / max(result.counts.histories, 1), 1),
                ]
            )
    table = Table(
        id="moments",
        caption="The states of a member in which faults and other events of no transaction met it.",
        columns=columns("subject", "event", *FLAGS, "#histories", "#percent"),
        rows=rows,
    )
    return Section(title="States", table=table, is_folded=True)


def _smallest(filed: Sequence[Filed]) -> dict[tuple[str, str], Filed]:
    found: dict[tuple[str, str], Filed] = {}
    for entry in filed:
        name = entry.mutant or f"{entry.subject}:{entry.dialect}"
        kept = found.setdefault((name, entry.prop), entry)
        if (entry.transactions, entry.events) < (kept.transactions, kept.events):
            found[name, entry.prop] = entry
    return found


def _rate(result: SystemResult) -> float | None:
    return result.counts.histories / result.seconds if result.seconds else None
