"""Maps source tables and columns to the target's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paraply.verifying.errors import MALFORMED_MAP, MALFORMED_MAP_FILE, NO_COMMON_TABLE
from paraply.verifying.recording import Layout, Recording, names_defining
from paraply.verifying.values import CASTS, incomparable
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.input_documents import read_toml

_TABLE = re.compile(r"[^.=:\s]+\.[^.=:\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRule:
    """A rule for a table, or ``schema.*``.

    ``columns`` (source to target) limits the comparison; empty compares equal names.
    """

    source: str
    target: str
    columns: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Source to target column."""
    leave_out: frozenset[str] = frozenset()
    key: tuple[str, ...] = ()
    """Source columns that replace the key."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """Source column to cast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The user's rules for all tables."""

    tables: tuple[TableRule, ...] = ()
    filtered: frozenset[str] = frozenset()
    """Source tables omitted on purpose."""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Key columns by source table; table rules win."""
    ignored: frozenset[str] = frozenset()
    """Target tables unrelated to the source, whatever their name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPair:
    """A compared column."""

    source: str
    target: str
    cast: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePair:
    """A judged table; ``key`` has positions, empty for whole rows."""

    source: str
    target: str
    columns: tuple[ColumnPair, ...]
    key: tuple[int, ...]
    epochs: int
    """Epochs in both logs."""
    part: str = ""
    """Columns that only some layouts have: their rows are judged beside those of the table."""

    @property
    def name(self) -> str:
        """Return the source table, with the columns of a part."""
        return f"{self.source} ({self.part})" if self.part else self.source


@dataclass(slots=True, kw_only=True)
class Plan:
    """Judged tables, and reasons for the others."""

    pairs: list[TablePair] = field(default_factory=list)
    bookkeeping: list[str] = field(default_factory=list)
    """Tables of the target only."""
    filtered: list[str] = field(default_factory=list)
    """Tables of the source only, confirmed."""
    notes: list[str] = field(default_factory=list)
    unknown: list[tuple[str, str, str]] = field(default_factory=list)
    """(subject, reason, remedy)"""
    replaced: list[tuple[str, list[int], list[int]]] = field(default_factory=list)
    """Tables whose rows were replaced more often in one log, with its transactions in both."""

    def defined_by(self, *, is_target: bool) -> frozenset[str]:
        """Return names of which one is in a statement that may define a judged table."""
        return names_defining(pair.target if is_target else pair.source for pair in self.pairs)


def parse_rule(text: str) -> TableRule:
    """Parse ``source.table=target.table[:column,column=other,...]``.

    Raises ``ParaplyError`` P370.
    """
    tables, _, columns = text.partition(":")
    source, _, target = tables.partition("=")
    for name in (source, target):
        if not _TABLE.fullmatch(name):
            reason = f"'{name}' is not schema.table"
            raise ParaplyError(MALFORMED_MAP, text=text, reason=reason)
    if source.endswith(".*") != target.endswith(".*"):
        raise ParaplyError(MALFORMED_MAP, text=text, reason="both sides need .* or neither")
    chosen: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in columns.split(","))):
        mine, _, theirs = part.lower().partition("=")
        chosen[mine] = theirs or mine
    if columns and not chosen:
        raise ParaplyError(MALFORMED_MAP, text=text, reason="there is no column after the colon")
    return TableRule(source=source, target=target, columns=chosen)


def parse_key(text: str) -> tuple[str, tuple[str, ...]]:
    """Parse ``schema.table=column,column``; raises ``ParaplyError`` P370."""
    table, _, columns = text.partition("=")
    names = tuple(name.strip().lower() for name in columns.split(",") if name.strip())
    if not (_TABLE.fullmatch(table) and names):
        raise ParaplyError(MALFORMED_MAP, text=text, reason="a key is written as shop.orders=id")
    return table, names


def load_rules(file: str) -> Rules:
    """Read a TOML mapping; raises ``ParaplyError`` P371."""
    try:
        document = read_toml(file)
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise ParaplyError(MALFORMED_MAP_FILE, where=file, reason=reason) from None
    try:
        return _rules_of(document)
    except (TypeError, ValueError) as fault:
        raise ParaplyError(MALFORMED_MAP_FILE, where=file, reason=str(fault)) from None


def _rules_of(document: dict[str, Any]) -> Rules:
    _require_names(document, {"table", "filtered", "ignored"}, "the file")
    tables = []
    for entry in document.get("table", []):
        _require_names(
            entry,
            {"source", "target", "columns", "renamed", "leave_out", "key", "cast"},
            "[[table]]",
        )
        for side in ("source", "target"):
            if not _TABLE.fullmatch(str(entry.get(side, ""))):
                raise ValueError(f"[[table]] needs {side} = 'schema.table'")
        casts = {str(k).lower(): str(v) for k, v in dict(entry.get("cast", {})).items()}
        for cast in casts.values():
            if cast not in CASTS:
                raise ValueError(f"there is no cast '{cast}'; there are {', '.join(CASTS)}")
        columns = entry.get("columns", {})
        if isinstance(columns, list):
            columns = {name: name for name in columns}
        tables.append(
            TableRule(
                source=entry["source"],
                target=entry["target"],
                columns={str(k).lower(): str(v).lower() for k, v in columns.items()},
                renamed={
                    str(k).lower(): str(v).lower() for k, v in entry.get("renamed", {}).items()
                },
                leave_out=frozenset(str(name).lower() for name in entry.get("leave_out", [])),
                key=tuple(str(name).lower() for name in entry.get("key", [])),
                casts=casts,
            )
        )
    return Rules(
        tables=tuple(tables),
        filtered=frozenset(map(str, document.get("filtered", []))),
        ignored=frozenset(map(str, document.get("ignored", []))),
    )


def _require_names(entry: Mapping[str, object], known: set[str], where: str) -> None:
    unknown = sorted(entry.keys() - known)
    if unknown:
        raise ValueError(f"{where} has no '{unknown[0]}'; it has {', '.join(sorted(known))}")


def plan(source: Recording, target: Recording, rules: Rules, *, same_log: bool) -> Plan:
    """Return the comparison; ``same_log`` limits it to mapped tables.

    Raises ``ParaplyError`` P372 without a common table.
    """
    made = Plan()
    mine, theirs = _by_table(source), _by_table(target)
    rule_of = _expanded(rules, mine)
    taken = set()
    for table in sorted(mine):
        rule = rule_of.get(table)
        if rule is None and (same_log or _is_named(rules, table)):
            continue
        rule = rule or TableRule(source=table, target=table)
        if table in rules.keys and not rule.key:
            rule = replace(rule, key=rules.keys[table])
        name = rule.target
        if name not in theirs or name in rules.ignored:
            _note_absent(made, table, rule, rules)
            continue
        taken.add(name)
        replaced = source.epochs.get(table, []), target.epochs.get(name, [])
        if len(replaced[0]) != len(replaced[1]) and not same_log:
            made.replaced.append((table, *replaced))
        pair = _pair(made, rule, mine[table], theirs[name])
        blocked = table in source.undecoded or name in target.undecoded
        if blocked:
            made.unknown.append((table, "some of its rows cannot be decoded", "see the files"))
        elif pair is not None:
            made.pairs.append(pair)
            made.pairs += _parts(made, rule, pair, mine[table], theirs[name])
    if not same_log:
        made.bookkeeping = sorted(theirs.keys() - taken)
    if not taken:
        raise ParaplyError(
            NO_COMMON_TABLE,
            source=", ".join(sorted(mine)[:8]) or "none",
            target=", ".join(sorted(theirs)[:8]) or "none",
        )
    return made


def _is_named(rules: Rules, table: str) -> bool:
    return any(rule.target == table for rule in rules.tables)


def _by_table(recording: Recording) -> dict[str, list[Layout]]:
    tables: dict[str, list[Layout]] = {}
    for layout in recording.layouts:
        if layout.rows:
            tables.setdefault(layout.table, []).append(layout)
    return tables


def _expanded(rules: Rules, tables: Mapping[str, object]) -> dict[str, TableRule]:
    found: dict[str, TableRule] = {}
    for rule in sorted(rules.tables, key=lambda rule: not rule.source.endswith(".*")):
        if not rule.source.endswith(".*"):
            found[rule.source] = rule
            continue
        schema, to = rule.source[:-1], rule.target[:-1]
        for table in tables:
            if table.startswith(schema):
                found[table] = TableRule(source=table, target=to + table[len(schema) :])
    return found


def _note_absent(made: Plan, table: str, rule: TableRule, rules: Rules) -> None:
    if table in rules.filtered:
        made.filtered.append(table)
        return
    made.unknown.append(
        (
            table,
            f"the target's log has no row of {rule.target}: filtered on purpose, or lost",
            f"confirm with --filtered {table}, or name its target with --map",
        )
    )


def _pair(
    made: Plan,
    rule: TableRule,
    mine: Sequence[Layout],
    theirs: Sequence[Layout],
) -> TablePair | None:
    common = min(1 + max(layout.epoch for layout in layouts) for layouts in (mine, theirs))
    mine = [layout for layout in mine if layout.epoch < common]
    theirs = [layout for layout in theirs if layout.epoch < common]
    columns = _columns(made, rule, mine, theirs)
    if not columns:
        made.unknown.append(
            (
                rule.source,
                f"it has no column in common with {rule.target}",
                "name the columns with --map, or log their names (binlog_row_metadata=FULL)",
            )
        )
        return None
    key = _key(made, rule, columns, mine, theirs)
    return TablePair(
        source=rule.source, target=rule.target, columns=tuple(columns), key=key, epochs=common
    )


def _columns(
    made: Plan, rule: TableRule, mine: Sequence[Layout], theirs: Sequence[Layout]
) -> list[ColumnPair]:
    in_all = [frozenset.intersection(*(frozenset(each.columns) for each in side))
              for side in (mine, theirs)]  # fmt: skip
    named = [any(not name.startswith("@") for name in each) for each in in_all]
    if named[0] != named[1] and len(mine[0].columns) == len(theirs[0].columns):
        # Without names in one log, match by position.
        by_position = dict(zip(mine[0].columns, theirs[0].columns, strict=True))
        made.notes.append(f"{rule.source}: one log has no column names; compared by position")
    else:
        by_position = {}
    columns = []
    seen = set()
    for name in mine[0].columns:
        if rule.columns and name not in rule.columns:
            continue
        to = rule.columns.get(name) or rule.renamed.get(name) or by_position.get(name) or name
        if name not in in_all[0] or to not in in_all[1] or {name, to} & rule.leave_out:
            continue
        seen.add(name)
        cast = rule.casts.get(name, "")
        reason = _why_left_out(name, to, mine, theirs, cast)
        if reason:
            remedy = "log whole rows" if "row image" in reason else "name a cast, or leave it out"
            made.unknown.append((f"{rule.source}.{name}", reason, remedy))
        else:
            columns.append(ColumnPair(source=name, target=to, cast=cast))
    partly = _partly_common(rule, mine, theirs)
    seen.update(partly)
    left_out = [n for n in mine[0].columns if n not in seen]
    targets = {pair.target for pair in columns} | {rule.renamed.get(n, n) for n in seen}
    added = [n for n in theirs[-1].columns if n not in targets]
    for names, side in ((left_out, "source"), (added, "target")):
        if names and not (by_position or rule.columns):
            made.notes.append(
                f"{rule.source}: not compared, since only the {side} has it in all its layouts: "
                + ", ".join(names)
            )
    return columns


def _partly_common(
    rule: TableRule, mine: Sequence[Layout], theirs: Sequence[Layout]
) -> dict[str, str]:
    """Return the columns that some layouts of both logs have, and others of either lack."""
    if rule.columns:
        return {}
    found = {}
    for name in dict.fromkeys(name for layout in mine for name in layout.columns):
        to = rule.renamed.get(name, name)
        having = [name in layout.columns for layout in mine]
        having_too = [to in layout.columns for layout in theirs]
        is_whole = all(having) and all(having_too)
        if any(having_too) and not is_whole and not {name, to} & rule.leave_out:
            found[name] = to
    return found


def _parts(
    made: Plan, rule: TableRule, pair: TablePair, mine: Sequence[Layout], theirs: Sequence[Layout]
) -> list[TablePair]:
    """Return pairs of the columns that ALTER TABLE adds or drops in both logs at one place.

    A row's values in them have a history of their own, beside the columns that it always has.
    """
    groups: dict[tuple[bool, ...], list[ColumnPair]] = {}
    mine = [layout for layout in mine if layout.epoch < pair.epochs]
    theirs = [layout for layout in theirs if layout.epoch < pair.epochs]
    for name, to in _partly_common(rule, mine, theirs).items():
        sides = (
            [layout for layout in mine if name in layout.columns],
            [layout for layout in theirs if to in layout.columns],
        )
        cast = rule.casts.get(name, "")
        reason = _why_left_out(name, to, *sides, cast)
        if not _change_together(_stretches(mine, name), _stretches(theirs, to)):
            reason = "only some layouts have it, and the logs do not show that both got or lost "
            reason += "it at one place"
        if reason:
            remedy = "verify logs that begin after ALTER TABLE, or leave it out"
            made.unknown.append((f"{rule.source}.{name}", reason, remedy))
        else:
            having = tuple(name in layout.columns for layout in mine)
            groups.setdefault(having, []).append(ColumnPair(source=name, target=to, cast=cast))
    identity = [pair.columns[at] for at in pair.key] or list(pair.columns)
    return [
        replace(
            pair,
            columns=(*identity, *columns),
            key=tuple(range(len(pair.key))),
            part=", ".join(column.source for column in columns),
        )
        for columns in groups.values()
    ]


_Stretches = list[tuple[int, bool, int]]
"""Epoch, whether a column is there, and row changes."""


def _stretches(layouts: Sequence[Layout], name: str) -> _Stretches:
    found: _Stretches = []
    for layout in layouts:
        has, rows = name in layout.columns, layout.rows
        if found and found[-1][:2] == (layout.epoch, has):
            rows += found.pop()[2]
        found.append((layout.epoch, has, rows))
    return found


def _change_together(mine: _Stretches, theirs: _Stretches) -> bool:
    """Return whether as many row changes come before each change; either log may end earlier."""
    return mine[:-1] == theirs[:-1] and mine[-1][:2] == theirs[-1][:2]


def _why_left_out(
    name: str, to: str, mine: Sequence[Layout], theirs: Sequence[Layout], cast: str
) -> str:
    sides = [(layout, layout.columns.index(column))
             for column, side in ((name, mine), (to, theirs)) for layout in side]  # fmt: skip
    if any(at in layout.absent for layout, at in sides):
        return "some row images leave it out (binlog_row_image is not FULL)"
    if cast:
        return ""
    left, right = mine[-1], theirs[-1]
    at, there = left.columns.index(name), right.columns.index(to)
    return incomparable(
        left.types[at], right.types[there], left.samples.get(at, ""), right.samples.get(there, "")
    )


def _key(
    made: Plan,
    rule: TableRule,
    columns: Sequence[ColumnPair],
    mine: Sequence[Layout],
    theirs: Sequence[Layout],
) -> tuple[int, ...]:
    by_source = {pair.source: at for at, pair in enumerate(columns)}
    by_target = {pair.target: at for at, pair in enumerate(columns)}
    wanted: list[tuple[Sequence[str], Mapping[str, int]]] = [(rule.key, by_source)]
    wanted += [(layout.key or (), by_source) for layout in reversed(mine)]
    wanted += [(layout.key or (), by_target) for layout in reversed(theirs)]
    for key, positions in wanted:
        if key and all(name in positions for name in key):
            return tuple(positions[name] for name in key)
    if rule.key or any(layout.key for layout in (*mine, *theirs)):
        made.notes.append(f"{rule.source}: its key is not compared, so rows are matched whole")
    elif any(layout.key is None for layout in (*mine, *theirs)):
        made.notes.append(
            f"{rule.source}: no key is known, so rows are matched whole; --schema names its key"
        )
    else:
        made.notes.append(f"{rule.source}: it has no key, so rows are matched whole")
    return ()
