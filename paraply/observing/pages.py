"""Pages of a live run: answers and kept rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.counterexamples.showing.document import Shown
from paraply.observing.judging import LiveResult, command_of
from paraply.properties.registry import verdict_of
from paraply.registries import property_named
from paraply.reporting.escape import visible
from paraply.reporting.files import make_folder, write_report
from paraply.reporting.show_html import show_html
from paraply.reporting.sortable import Cell, Table, columns, number, verdict_cell
from paraply.reporting.table_page import Section, table_page
from paraply.vocabulary.history import History
from paraply.vocabulary.verdict import Verdict, combine


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    name: str
    verdict: Verdict
    broken: str
    transactions: int
    events: int


class LivePages:
    """Writes pages as rounds arrive."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_folder(str(folder))
        self._rounds: list[_Round] = []

    def add(self, name: str, history: History, asked: Sequence[str]) -> None:
        """Write one judged round's page."""
        judges = [property_named(one) for one in asked]
        verdicts = {prop.name: verdict_of(history, prop) for prop in judges}
        broken = [prop for prop in judges if verdicts[prop.name] is Verdict.VIOLATED]
        verdict = combine(verdicts.values())
        shown = Shown(history=history, broken=broken)
        write_report(str(self.folder / f"{name}.html"), show_html(shown, verdict=verdict))
        self._rounds.append(
            _Round(
                name=name,
                verdict=verdict,
                broken=", ".join(prop.name for prop in broken),
                transactions=len(history.transactions),
                events=len(history.events),
            )
        )

    def write_index(self, results: Sequence[LiveResult]) -> None:
        """Write the page of all answers."""
        rounds = sum(result.rounds for result in results)
        transactions = sum(result.transactions for result in results)
        broken = sum(bool(one.broken) for one in self._rounds)
        page = table_page(
            "Live: " + (", ".join(sorted({result.target for result in results})) or "nothing"),
            f"{rounds:,} rounds; {broken:,} of the {len(self._rounds):,} shown break something.",
            combine(result.verdict() for result in results),
            [_answers(results), self._shown(), _evidence(results)],
            figures=[
                ("transactions", f"{transactions:,}"),
                ("rounds", f"{rounds:,}"),
                ("modes and faults", f"{len(results):,}"),
            ],
            command="\n".join(command_of(result) for result in results),
        )
        write_report(str(self.folder / "index.html"), page)

    def _shown(self) -> Section:
        table = Table(
            id="rounds",
            caption="The first round of each mode and fault, and every one that breaks something.",
            columns=columns("round", "verdict", "broken", "#transactions", "#events"),
            rows=[
                [
                    Cell(one.name, href=f"{one.name}.html"),
                    verdict_cell(one.verdict.word),
                    Cell(one.broken),
                    number(one.transactions),
                    number(one.events),
                ]
                for one in self._rounds
            ],
        )
        return Section(title="Rounds", table=table)


def _answers(results: Sequence[LiveResult]) -> Section:
    rows = []
    for result in results:
        for answer in result.answers.values():
            why = answer.why()
            if answer.broken and answer.is_documented:
                why = f"as documented for this fault: {why}"
            rows.append(
                [
                    Cell(answer.name),
                    Cell(result.request.mode),
                    Cell(result.request.fault),
                    verdict_cell(answer.verdict.word),
                    number(answer.held),
                    number(answer.broken),
                    Cell(answer.situations),
                    Cell(visible(why)),
                ]
            )
    table = Table(
        id="answers",
        caption="Every property that was asked, in every mode and under every fault.",
        columns=columns(
            "property",
            "mode",
            "fault",
            "verdict",
            "#rounds held",
            "#broken",
            "decidable",
            "evidence",
        ),
        rows=rows,
    )
    return Section(title="Answers", table=table)


def _evidence(results: Sequence[LiveResult]) -> Section:
    rows = []
    for result in results:
        named = [*result.evidence.items(), *(("note", note) for note in result.notes)]
        for name, value in named:
            value_cell = number(value) if isinstance(value, int) else Cell(visible(value))
            rows.append(
                [
                    Cell(name.replace("_", " ")),
                    Cell(result.request.mode),
                    Cell(result.request.fault),
                    value_cell,
                ]
            )
    table = Table(
        id="evidence",
        caption="What was observed.",
        columns=columns("observed", "mode", "fault", "what"),
        rows=rows,
    )
    return Section(title="Evidence", table=table)
