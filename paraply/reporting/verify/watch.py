"""The views of ``paraply watch``: terminal, summary and Prometheus metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from paraply.reporting.escape import visible
from paraply.verifying.watch.findings import Finding
from paraply.verifying.watch.pair import PairSnapshot
from paraply.verifying.watch.source import SourceSnapshot
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict

_STYLES = {Verdict.HOLDS: "green", Verdict.UNKNOWN: "yellow", Verdict.VIOLATED: "bold red"}
_COUNTED = (
    "missing", "late", "errant", "twice", "changed", "inverted", "not_prefix", "doubts",
)  # fmt: skip


def watch_view(
    pairs: Sequence[PairSnapshot],
    rates: Mapping[str, float],
    held: Mapping[str, str],
    findings: Sequence[Finding],
    seconds: float,
    source: SourceSnapshot | None = None,
) -> RenderableType:
    """Return the present screen; ``rates`` are transactions per second."""
    table = Table(expand=True, box=None, header_style="bold")
    for column, is_right in (
        ("target", False), ("verdict", False), ("judged", True), ("per s", True),
        ("behind", True), ("seconds", True), ("gaps", True), ("findings", True),
    ):  # fmt: skip
        table.add_column(column, justify="right" if is_right else "left", no_wrap=True)
    notes: list[Text] = []
    for pair in pairs:
        table.add_row(
            visible(pair.name),
            Text(pair.verdict.name.lower(), style=_STYLES[pair.verdict]),
            f"{pair.counts.matched:,}",
            f"{rates.get(pair.name, 0.0):,.0f}",
            f"{pair.behind:,}",
            f"{pair.behind_s:,.1f}",
            f"{pair.gaps:,}",
            Text(f"{pair.findings:,}", style="bold red" if pair.findings else ""),
        )
        notes += [Text(f"  {pair.name}: {visible(line)}", style="dim") for line in _notes(pair)]
        if held.get(pair.name):
            notes.append(
                Text(f"  {pair.name} waits for {visible(held[pair.name])}", style="yellow")
            )
    if source is not None:
        table.add_row(
            f"source {visible(source.name)}",
            _source_verdict(source),
            f"{source.counts.transactions:,}",
            "", "", "", "",
            Text(f"{source.findings:,}", style="bold red" if source.findings else ""),
        )  # fmt: skip
        if source.status.problem:
            notes.append(Text(f"  source: {visible(source.status.problem)}", style="dim"))
    last = [
        Text(visible(f"  {each.kind} {each.gtid} {each.text}"), style="red")
        for each in list(findings)[-5:]
    ]
    minutes, rest = divmod(int(seconds), 60)
    title = f"paraply watch  {minutes // 60}:{minutes % 60:02}:{rest:02}"
    return Panel(Group(table, *notes, *last), title=title, subtitle="Ctrl-C ends it")


def _source_verdict(source: SourceSnapshot) -> Text:
    if source.verdict is None:
        return Text("nothing overlaps", style="dim")
    return Text(source.verdict.name.lower(), style=_STYLES[source.verdict])


def _notes(pair: PairSnapshot) -> list[str]:
    found = []
    for side, status in (("source", pair.source), ("target", pair.target)):
        if status.problem:
            found.append(f"{side}: {status.problem}")
        elif not status.is_connected and not pair.failure:
            found.append(f"{side}: connecting")
    if pair.is_paused:
        found.append("the source is too far ahead: it is read on when the target has come closer")
    if pair.failure:
        found.append(pair.failure)
    return found


def finding_text(finding: Finding) -> str:
    """Return a finding as one line."""
    where = f" ({finding.target_place or finding.source_place})" if finding.gtid else ""
    more = f" to {finding.other}, {finding.commits:,} commits" if finding.commits else ""
    return visible(
        f"{finding.target}: {finding.kind} {finding.gtid}{more}{where}: {finding.text}"
    ).replace("  ", " ")


def watch_summary(
    pairs: Sequence[PairSnapshot],
    reasons: Mapping[str, Sequence[str]],
    verdict: Verdict,
    source: SourceSnapshot | None = None,
) -> str:
    """Return the text at the end."""
    lines = []
    for pair in pairs:
        counts = pair.counts
        lines.append(f"{visible(pair.name)}: {pair.verdict.name.lower()}")
        lines.append(
            f"  judged       {counted(counts.matched, 'transaction')}, "
            f"{counted(counts.rows_matched, 'row change')}"
        )
        lines.append(
            f"  missing      {counts.missing:,}   errant {counts.errant:,}   "
            f"twice {counts.twice:,}   changed {counts.changed:,}   late {counts.late:,}"
        )
        lines.append(
            f"  order        {counts.not_prefix:,} states were no state of the source; "
            f"{counts.inverted:,} with common rows in the wrong order"
        )
        lines.append(
            f"  behind       {counted(pair.behind, 'transaction')}"
            + (f", the oldest for {pair.behind_s:,.0f} s" if pair.behind else "")
        )
        lines += [f"  unknown      {visible(each)}" for each in reasons.get(pair.name, ())]
    if source is not None:
        sums = source.counts
        lines.append(f"metadata of {visible(source.name)}: {_source_verdict(source).plain}")
        lines.append(
            f"  judged       {counted(sums.transactions, 'transaction')}; "
            f"{counted(sums.pairs_allowed, 'pair')} may overlap, "
            f"{counted(sums.conflicts_ordered, 'pair')} with a common row may not"
        )
        lines.append(f"  unsafe       {sums.unsafe:,}   malformed {sums.malformed:,}")
        lines += [f"  unknown      {visible(f'{s}: {why}')}" for s, why in source.doubts.items()]
    lines.append(f"verdict: {verdict.name.lower()}")
    return "\n".join(lines) + "\n"


_METRICS = (
    ("transactions_total", "counter", "Transactions judged."),
    ("row_changes_total", "counter", "Row changes judged."),
    ("findings_total", "counter", "Findings by kind."),
    ("behind_transactions", "gauge", "Source transactions read that have not come."),
    ("behind_seconds", "gauge", "Age of the oldest of them."),
    ("gaps", "gauge", "Transactions overtaken by later ones."),
    ("verdict", "gauge", "0 holds, 1 violated, 2 unknown."),
    ("connected", "gauge", "Whether the log is being read."),
    ("reconnections_total", "counter", "Broken connections."),
    ("log_bytes_total", "counter", "Bytes of the log read."),
    ("kept_bytes", "gauge", "Events kept of transactions that have not come."),
    (
        "source_transactions_total",
        "counter",
        "Transactions of the source whose metadata is judged.",
    ),
    ("source_pairs_total", "counter", "Pairs of them: may overlap, kept apart, unsafe."),
    ("source_malformed_total", "counter", "Malformed metadata."),
    ("source_verdict", "gauge", "0 holds, 1 violated, 2 unknown; absent while nothing overlaps."),
)


def watch_metrics(pairs: Sequence[PairSnapshot], source: SourceSnapshot | None = None) -> str:
    """Return metrics in the text format of Prometheus."""
    samples: dict[str, list[str]] = {name: [] for name, _, _ in _METRICS}

    def add(name: str, value: float, **labels: str) -> None:
        shown = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels.items())
        samples[name].append(f"paraply_watch_{name}{{{shown}}} {value:g}")

    for pair in pairs:
        target = pair.name
        add("transactions_total", pair.counts.matched, target=target)
        add("row_changes_total", pair.counts.rows_matched, target=target)
        for kind in _COUNTED:
            add("findings_total", getattr(pair.counts, kind), target=target, kind=kind)
        add("behind_transactions", pair.behind, target=target)
        add("behind_seconds", pair.behind_s, target=target)
        add("gaps", pair.gaps, target=target)
        add("verdict", pair.verdict.exit_code, target=target)
        add("kept_bytes", pair.kept_bytes, target=target)
        for log, status in (("source", pair.source), ("target", pair.target)):
            add("connected", status.is_connected, target=target, log=log)
            add("reconnections_total", status.reconnections, target=target, log=log)
            add("log_bytes_total", status.bytes_read, target=target, log=log)
    if source is not None:
        sums = source.counts
        add("source_transactions_total", sums.transactions, source=source.name)
        add("source_malformed_total", sums.malformed, source=source.name)
        for state, number in (
            ("may overlap", sums.pairs_allowed),
            ("kept apart", sums.conflicts_ordered),
            ("unsafe", sums.unsafe),
        ):
            add("source_pairs_total", number, source=source.name, state=state)
        if source.verdict is not None:
            add("source_verdict", source.verdict.exit_code, source=source.name)
    lines = []
    for name, kind, text in _METRICS:
        if not samples[name]:
            continue
        lines += [f"# HELP paraply_watch_{name} {text}", f"# TYPE paraply_watch_{name} {kind}"]
        lines += samples[name]
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
