"""The report on a terminal, drawn or as plain text."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from paraply.reporting.audit.outline import audit_outline
from paraply.reporting.audit.summary import LINES_MAX, TIGHTER, summary_outline, tightened
from paraply.reporting.escape import visible
from paraply.reporting.outline import (
    LEAD_WIDTH_MAX,
    TONES,
    Bars,
    Block,
    Curve,
    Facts,
    Line,
    Outline,
    Table,
    Tone,
)
from paraply.reporting.pictures.charts import bar, curve
from paraply.reporting.words import MARKS
from paraply.vocabulary.audit_result import AuditResult

WIDTH_MIN = 40

SCREEN_WIDTH_MIN = 80
"""Narrower reports may be longer than a screen."""

NAME_WIDTH_MIN = 16
"""Shorter names are never broken."""

_STYLES = {
    Tone.GOOD: "green",
    Tone.UNSURE: "yellow",
    Tone.BAD: "red",
    Tone.WARNING: "magenta",
    Tone.QUIET: "bright_black",
    Tone.NEUTRAL: "",
}


def render_terminal(
    result: AuditResult,
    *,
    width: int,
    colour: bool,
    plain: bool = False,
    details: bool = True,
    speed: str = "",
) -> str:
    """Return the report; one screen without ``details``.

    ``colour`` adds ANSI colours; ``plain`` gives ASCII sentences.
    """
    width = max(WIDTH_MIN, width)

    def shown(outline: Outline) -> str:
        return spoken(outline, width) if plain else drawn(outline, width, colour=colour)

    if details:
        return shown(audit_outline(result))
    outline = summary_outline(result, speed=speed)
    text = shown(outline)
    for length in TIGHTER if width >= SCREEN_WIDTH_MIN else ():
        if text.count("\n") <= LINES_MAX:
            break
        text = shown(tightened(outline, length))
    return text


def drawn(outline: Outline, width: int, *, colour: bool) -> str:
    """Return an outline as drawn on a terminal."""
    sink = io.StringIO()
    console = Console(
        file=sink,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    tone = _STYLES[TONES[outline.verdict]]
    badge = f" {MARKS[outline.verdict]} {outline.verdict.name} "
    console.print()
    console.print(
        _hanging(
            Text(badge, style=f"bold reverse {tone}"),
            Text(visible(outline.headline), style="bold"),
            Text(visible(outline.subtitle), style=_STYLES[Tone.QUIET]),
        )
    )
    for section in outline.sections:
        console.print()
        console.rule(Text(visible(section.title), style="bold"), align="left", style="bright_black")
        for position, block in enumerate(_gathered(section.blocks)):
            is_apart = position > 0 and not isinstance(block, Line)
            console.print(Padding(_drawn_block(block, width - 4), (int(is_apart), 0, 0, 2)))
    # Remove cell padding at line ends.
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()) + "\n"


def _gathered(blocks: Sequence[Block]) -> list[Block | list[Line]]:
    gathered: list[Block | list[Line]] = []
    for block in blocks:
        if not isinstance(block, Line) or not block.lead:
            gathered.append(block)
        elif gathered and isinstance(gathered[-1], list):
            gathered[-1].append(block)
        else:
            gathered.append([block])
    return gathered


def _drawn_block(block: Block | list[Line], width: int) -> RenderableType:
    match block:
        case list():
            return _drawn_leads(block)
        case Line():
            return Text(visible(block.text), style=_STYLES[block.tone])
        case Facts():
            return _drawn_facts(block)
        case Table():
            return _drawn_table(block)
        case Bars():
            return _drawn_bars(block, width)
        case Curve():
            return Text.assemble(
                (visible(block.caption), "bold"),
                "\n",
                (curve(block.values, width), "cyan"),
                "\n",
                (visible(block.summary), _STYLES[Tone.QUIET]),
            )


def _hanging(lead: Text, *paragraphs: Text) -> Grid:
    grid = Grid.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for position, paragraph in enumerate(paragraphs):
        grid.add_row(lead if position == 0 else Text(), paragraph)
    return grid


def _drawn_leads(lines: Sequence[Line]) -> Grid:
    grid = Grid.grid(padding=(0, 1))
    grid.add_column(no_wrap=all(len(line.lead) <= LEAD_WIDTH_MAX for line in lines))
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row(
            Text(visible(line.lead), style=f"bold {_STYLES[line.tone]}"), Text(visible(line.text))
        )
    return grid


def _drawn_facts(facts: Facts) -> Grid:
    card = Grid.grid(padding=(0, 1))
    card.add_column(overflow="fold")
    style = _STYLES[facts.tone]
    if facts.title:
        card.add_row(Text(visible(facts.title), style=f"bold {style}"))
    body = Grid.grid(padding=(0, 2))
    body.add_column(style="bright_black", no_wrap=True)
    body.add_column(overflow="fold")
    for label, value in facts.rows:
        body.add_row(Text(visible(label)), Text(visible(value)))
    card.add_row(Padding(body, (0, 0, 0, 3 if facts.title else 0)))
    return card


def _drawn_table(table: Table) -> Grid:
    grid = Grid(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        header_style="bold",
        show_edge=False,
    )
    names = max((len(row[0]) for row in table.rows), default=0)
    for position, title in enumerate(table.columns):
        is_text = position in table.left
        grid.add_column(
            Text(visible(title)),
            justify="left" if is_text else "right",
            overflow="fold",
            no_wrap=not is_text,
            min_width=min(names, NAME_WIDTH_MIN) if position == 0 and is_text else None,
        )
    if table.curves:
        grid.add_column(no_wrap=True)
    top = max((max(values, default=0.0) for values in table.curves), default=0.0)
    for number, row in enumerate(table.rows):
        style = _STYLES[table.tones[number]] if table.tones else ""
        cells = [Text(visible(cell)) for cell in row]
        # Colour only repeats the word in its cell.
        if style and len(cells) > 1:
            cells[1].stylize(style)
        if table.curves:
            values = table.curves[number]
            cells.append(Text(curve(values, len(values), top), style="cyan"))
        grid.add_row(*cells)
    return grid


def _drawn_bars(bars: Bars, width: int) -> Grid:
    grid = Grid.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    top = max((value for _, value in bars.bars), default=0)
    label_width = max((len(label) for label, _ in bars.bars), default=0)
    room = max(10, min(50, width - label_width - 14))
    for label, value in bars.bars:
        grid.add_row(
            Text(visible(label)), Text(_number(value)), Text(bar(value, top, room), style="cyan")
        )
    outer = Grid.grid()
    outer.add_column(overflow="fold")
    outer.add_row(Text(visible(bars.caption), style="bold"))
    outer.add_row(grid)
    return outer


def spoken(outline: Outline, width: int) -> str:
    """Return an outline as ASCII sentences in reading order."""
    lines = [f"Verdict: {outline.verdict.word}.", *_wrapped(outline.headline, width)]
    lines += _wrapped(f"Read: {outline.subtitle}.", width)
    for section in outline.sections:
        lines += ["", *_wrapped(f"{section.title}.".upper(), width)]
        for block in section.blocks:
            for paragraph in _spoken_block(block):
                lines += _wrapped(paragraph, width)
    return "\n".join(lines) + "\n"


def _spoken_block(block: Block) -> Iterator[str]:
    match block:
        case Line():
            # A lead that is a number already ends in a full stop.
            yield (
                f"{block.lead}{'' if block.lead.endswith('.') else ':'} {block.text}"
                if (block.lead)
                else block.text
            )
        case Facts():
            yield f"{block.title}:" if block.title else ""
            for label, value in block.rows:
                yield f"- {label}: {value}"
        case Table():
            for row in block.rows:
                cells = (
                    f"{title}: {cell}"
                    for title, cell in zip(block.columns, row, strict=True)
                    if cell
                )
                yield f"- {'; '.join(cells)}."
        case Bars():
            listed = "; ".join(f"{label}: {_number(value)}" for label, value in block.bars)
            yield f"{block.caption}. {listed}."
        case Curve():
            yield f"{block.caption}: {block.summary}."


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def _wrapped(text: str, width: int) -> list[str]:
    # Spell what ASCII lacks: a screen reader can read "\u00e9".
    spelled = text.replace("−", "-").replace("–", "-").replace("…", "...").replace("≥", ">=")
    ascii_text = visible(spelled).encode("ascii", "backslashreplace").decode("ascii")
    return textwrap.wrap(ascii_text, width, subsequent_indent="  ") or [""]
