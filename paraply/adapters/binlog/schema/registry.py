"""Table definitions at each moment of a log.

Statements and dumps contain every key, a table map at most the primary. Its columns are right: on
contradiction the registry drops the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from paraply.adapters.binlog.keys.collation_names import (
    charset_of,
    mariadb_collation,
    settled_collation,
)
from paraply.adapters.binlog.schema.changes import alter, created, may_result
from paraply.adapters.binlog.schema.ddl import (
    AlterTable,
    ChangeColumn,
    ChangeDefault,
    CharacterOptions,
    CreateTable,
    DropDatabase,
    DropTables,
    RenameTables,
    SchemaStatement,
    SetDatabase,
    Unreadable,
    UseDatabase,
)
from paraply.adapters.binlog.schema.ddl_parser import parse_statement
from paraply.adapters.binlog.schema.match import adopt_metadata, mismatch, same_definition, shows
from paraply.adapters.binlog.schema.tables import (
    Contradiction,
    DatedTable,
    TableDraft,
    draft_of,
)
from paraply.vocabulary.schema import ForeignKey, SchemaSource, TableSchema

_TOLD_BY_STATEMENT = frozenset({SchemaSource.LOGGED_DDL, SchemaSource.DUMP, SchemaSource.LIVE})


@dataclass(slots=True)
class SchemaDoubts:
    """A log's contradictions of its dump."""

    newer: str = ""
    """Why the dump is newer than the log's beginning."""
    changed: set[str] = field(default_factory=set)
    """Dumped tables changed by logged statements."""
    wrong: set[str] = field(default_factory=set)
    """Dumped tables contradicted, or of unclear age."""

    @property
    def distrusted(self) -> set[str]:
        """Return tables whose dump may be wrong."""
        return self.wrong | (self.changed if self.newer else set())

    def add(self, other: SchemaDoubts) -> None:
        """Add another part's doubts."""
        self.newer = self.newer or other.newer
        self.changed |= other.changed
        self.wrong |= other.wrong


class SchemaRegistry:
    """Schemas from table maps and statements in log order.

    ``version`` grows with every change.
    """

    def __init__(self) -> None:
        self.version = 0
        self.is_mariadb = False
        self._drafts: dict[str, TableDraft] = {}
        self._frozen: dict[str, TableSchema] = {}
        self._databases: dict[str, CharacterOptions] = {}
        self._seen_maps: dict[str, dict[str, TableSchema]] = {}
        """By lower-case name, since statements may spell it otherwise."""
        self._folded_names: dict[str, str] = {}
        self._assumptions: dict[str, None] = {}
        self._referencing: dict[str, list[tuple[str, ForeignKey]]] | None = None
        self._absent: set[str] = set()
        """Absent or empty tables and schemas, lower case; drafts override."""
        self._recreated: dict[str, TableDraft] = {}
        """Dumped tables, since dropped by the log."""
        self.doubts = SchemaDoubts()
        self._dumped: dict[str, TableDraft] = {}
        """Dumped tables as they were dumped, once the log taught more."""
        self._renamed: dict[str, str] = {}
        """Dump names by renamed name."""
        self._dated: dict[str, tuple[list[TableDraft | None], str]] = {}
        """Definitions after the coming ALTERs of dated tables, and why one is unknown."""

    # Queries

    def table(self, name: str) -> TableSchema | None:
        """Return the current schema of ``schema.table``."""
        key = self._name_in_use(name)
        if key is None:
            return None
        frozen = self._frozen.get(key)
        if frozen is None:
            frozen = self._drafts[key].freeze()
            if self.is_mariadb:
                frozen = replace(
                    frozen,
                    columns=tuple(
                        replace(column, collation=mariadb_collation(column.collation))
                        for column in frozen.columns
                    ),
                )
            self._frozen[key] = frozen
        return frozen

    def tables(self) -> tuple[TableSchema, ...]:
        """Return every known table, ordered by name."""
        found = (self.table(name) for name in sorted(self._drafts))
        return tuple(table for table in found if table is not None)

    def referencing(self, parent: str) -> tuple[tuple[str, ForeignKey], ...]:
        """Return (child table, foreign key) references to ``parent``."""
        if self._referencing is None:
            self._referencing = {}
            for table in self.tables():
                for key in table.foreign_keys:
                    name = self._name_in_use(key.parent) or key.parent
                    self._referencing.setdefault(name, []).append((table.name, key))
        return tuple(self._referencing.get(self._name_in_use(parent) or parent, ()))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return the distinct assumptions, in order."""
        return tuple(self._assumptions)

    def assume(self, text: str) -> None:
        """Note an assumption for the report."""
        self._assumptions[text] = None

    @contextmanager
    def assuming_nothing(self) -> Iterator[list[str]]:
        """Look at tables without noting assumptions for the report; they are listed at the end."""
        noted, self._assumptions = self._assumptions, {}
        found: list[str] = []
        yield found
        found += self._assumptions
        self._assumptions = noted

    # Log observations

    def note_mariadb(self) -> None:
        """Give collation names the meaning that they have in MariaDB."""
        if not self.is_mariadb:
            self.is_mariadb = True
            self._frozen.clear()
            self.version += bool(self._drafts)

    def observe_table_map(self, metadata: TableSchema) -> None:
        """Apply a table map before its rows."""
        # Each statement repeats its map; only new ones matter.
        seen = self._seen_maps.get(metadata.name.lower())
        if seen is None or seen.get(metadata.name) != metadata:
            self._learn(metadata)

    def _learn(self, metadata: TableSchema) -> None:
        key = self._name_in_use(metadata.name)
        known = self._drafts.get(key) if key is not None else None
        if known is None or not known.sources & _TOLD_BY_STATEMENT:
            draft = draft_of(metadata)
            if known is not None and known.unknown_because:
                draft.unknown_because = known.unknown_because
            self._keep(metadata.name, draft)
        else:
            assert key is not None
            reason = mismatch(known.freeze(), metadata)
            if reason:
                if SchemaSource.DUMP in known.sources:
                    self._contradict(f"{known.name}: {reason}", known.name)
                self._forget_keys(known, reason, metadata)
            else:
                if SchemaSource.DUMP in known.sources:
                    self._as_dumped(key, known)
                if adopt_metadata(known, metadata):
                    self._changed(key)
        self._seen_maps.setdefault(metadata.name.lower(), {})[metadata.name] = metadata

    def observe_statement(
        self,
        sql: str,
        default_schema: str = "",
        *,
        where: str = "",
        source: SchemaSource = SchemaSource.LOGGED_DDL,
    ) -> SchemaStatement:
        """Apply a statement in log order; return its parsed form.

        ``where`` appears in reasons.
        """
        statement = parse_statement(sql)
        place = f" at {where}" if where else ""
        if isinstance(statement, CreateTable):
            self._create(statement, default_schema, source, place)
        elif isinstance(statement, AlterTable):
            self._alter(statement, default_schema, source, place)
        elif isinstance(statement, RenameTables):
            self._note_swap(statement, default_schema)
            for old, new in statement.pairs:
                self._rename(old.within(default_schema), new.within(default_schema), place)
        elif isinstance(statement, DropTables):
            for table in statement.tables:
                name = table.within(default_schema)
                self._drop(name)
                self._absent.add(name.lower())
        elif isinstance(statement, DropDatabase):
            self._databases.pop(statement.name, None)
            self._absent.add(statement.name.lower())
            for name in [n for n in self._drafts if n.partition(".")[0] == statement.name]:
                self._drop(name)
        elif isinstance(statement, SetDatabase):
            self._set_database(statement, default_schema)
        elif isinstance(statement, Unreadable):
            self._doubt(statement, default_schema, place)
        return statement

    def creates_nothing(self, sql: str, default_schema: str) -> bool:
        """Return whether ``sql`` creates, if it is missing, what the log shows to exist."""
        statement = parse_statement(sql)
        if isinstance(statement, CreateTable) and statement.if_not_exists:
            draft = self._drafts.get(statement.table.within(default_schema))
            found = [draft] if draft is not None else []
        elif isinstance(statement, SetDatabase) and statement.if_not_exists:
            found = [d for name, d in self._drafts.items() if name.startswith(f"{statement.name}.")]
        else:
            return False
        return any(draft.sources != {SchemaSource.DUMP} for draft in found)

    # Changes

    def _create(
        self, statement: CreateTable, default_schema: str, source: SchemaSource, place: str
    ) -> None:
        name = statement.table.within(default_schema)
        key = self._name_in_use(name)
        known = self.table(name)
        if source is SchemaSource.LOGGED_DDL:
            if statement.if_not_exists:
                if key is not None and known is not None:
                    return
                if not self._is_absent(name):
                    reason = (
                        f"CREATE TABLE IF NOT EXISTS{place} may have met a table that was there, "
                        "with another definition"
                    )
                    self._keep(name, TableDraft(name=name, unknown_because=reason))
                    return
            elif known is not None and not statement.or_replace and _is_dumped(known):
                # None of its rows is older, so the dump does no harm.
                self._contradict(f"CREATE TABLE {name}{place} creates a table that it has")
        options = self._databases.get(name.partition(".")[0], CharacterOptions())
        like = None
        if statement.like is not None:
            like = self._drafts.get(self._name_in_use(statement.like.within(default_schema)) or "")
        draft = created(statement, name, options, like, source, place, is_mariadb=self.is_mariadb)
        if source is SchemaSource.DUMP:
            for collation in sorted(draft.settle_dumped_collations()):
                self.assume(
                    f"{charset_of(collation)} without a collation in a dump means {collation}: "
                    "servers with another default print the collation"
                )
        self._keep(name, draft)
        dumped = self._recreated.pop(name, None)
        if dumped is not None and same_definition(dumped, draft):
            self.doubts.wrong.add(self._dumped_name(name))

    def _dumped_name(self, name: str) -> str:
        return self._renamed.get(name, name)

    def _note_swap(self, statement: RenameTables, default_schema: str) -> None:
        given = {new.within(default_schema) for _, new in statement.pairs}
        taken = {old.within(default_schema) for old, _ in statement.pairs}
        for name in given & taken:
            draft = self._drafts.get(name)
            if draft is not None and SchemaSource.DUMP in draft.sources:
                self.doubts.wrong.add(self._dumped_name(name))

    def distrust(self, name: str, reason: str) -> None:
        """Forget a dumped table."""
        if name in self._drafts:
            self._forget_keys(self._drafts[name], reason, None)

    def date(self, table: DatedTable, reason: str) -> None:
        """Give a dumped table its definitions by time; ``reason`` is why one is unknown."""
        if table.name in self._drafts:
            self._dated[table.name] = (list(table.states), reason)
            self._become_next(table.name)

    def _become_next(self, name: str) -> None:
        states, reason = self._dated[name]
        state = states.pop(0)
        if state is None:
            self._forget_keys(self._drafts[name], reason, None)
        else:
            self._keep(name, state.copy())

    def draft(self, name: str) -> TableDraft | None:
        """Return a copy of a table under change."""
        key = self._name_in_use(name)
        return None if key is None else self._drafts[key].copy()

    def known_name(self, name: str) -> str:
        """Return the name under which a table is known, or ``name``."""
        return self._name_in_use(name) or name

    def _contradict(self, reason: str, *wrong: str) -> None:
        self.doubts.newer = self.doubts.newer or reason
        self.doubts.wrong.update(map(self._dumped_name, wrong))

    def _is_absent(self, name: str) -> bool:
        folded = name.lower()
        return self._name_in_use(name) is None and bool(
            {folded, folded.partition(".")[0]} & self._absent
        )

    def _alter(
        self, statement: AlterTable, default_schema: str, source: SchemaSource, place: str
    ) -> None:
        key = self._name_in_use(statement.table.within(default_schema))
        if key is None:
            return
        known = self._drafts[key]
        if self._dated.get(key, ([], ""))[0]:
            self._become_next(key)
            return
        if not known.sources & _TOLD_BY_STATEMENT:
            # The next table map repeats this metadata.
            self._keep(key, TableDraft(name=key, unknown_because=known.unknown_because))
            return
        is_first = self._dumped_name(key) not in self.doubts.changed
        if source is SchemaSource.LOGGED_DDL and SchemaSource.DUMP in known.sources:
            self.doubts.changed.add(self._dumped_name(key))
        changed = known.copy()
        changed.sources.add(source)
        try:
            renamed_columns, new_name = alter(changed, statement, default_schema)
        except Contradiction as contradiction:
            reason = f"ALTER TABLE{place} does not fit what was known: {contradiction}"
            if SchemaSource.DUMP in known.sources:
                reason += "; is the schema newer than the log?"
                self._contradict(f"{key}: {reason}", key)
            self._forget_keys(known, reason, None)
            return
        if source is SchemaSource.LOGGED_DDL and SchemaSource.DUMP in known.sources:
            dumped = self._as_dumped(key, known)
            is_shown = is_first and self._is_shown(key, dumped, statement)
            if may_result(dumped, statement) and not is_shown:
                self.doubts.wrong.add(self._dumped_name(key))
        self._drafts[key] = changed
        self._changed(key)
        self._seen_maps.pop(key.lower(), None)
        for old, new in renamed_columns.items():
            self._rename_parent_column(key, old, new)
        if new_name is not None:
            self._rename(key, new_name, place)

    def _as_dumped(self, key: str, known: TableDraft) -> TableDraft:
        """Return a dumped table before what the log taught."""
        name = self._dumped_name(key)
        if name not in self._dumped:
            self._dumped[name] = known.copy()
            self._dumped[name].name = name
        return self._dumped[name]

    def _is_shown(self, key: str, dumped: TableDraft, statement: AlterTable) -> bool:
        """Return whether the dump is true of before an ALTER that may have made it, too.

        Rows before show columns as dumped, and no default is used. Rows before an earlier ALTER
        show nothing of it.
        """
        seen = self._seen_maps.get(key.lower(), {}).get(key)
        columns = zip(dumped.freeze().columns, seen.columns if seen else (), strict=False)
        shown = {
            ours.name.lower()
            for ours, theirs in columns
            if shows(ours, theirs) and not ours.omitted_is_null and ours.omitted_value is None
        }
        return all(
            not one.is_null and one.value is None
            if isinstance(one, ChangeDefault)
            else isinstance(one, ChangeColumn)
            and one.after is None
            and one.old_name.lower() in shown
            for one in statement.actions
        )

    def _rename(self, old: str, new: str, place: str) -> None:
        target = self._drafts.get(new)
        if target is not None and SchemaSource.DUMP in target.sources and old != new:
            self._contradict(f"{old} becomes {new}{place}, which it has already", old, new)
        key = self._name_in_use(old)
        self._absent.add(old.lower())
        if key is None:
            reason = f"it was {old} until {place.removeprefix(' at ')}, which was not known"
            self._keep(new, TableDraft(name=new, unknown_because=reason))
            return
        draft = self._drafts[key]
        self._drop(key)
        self._renamed[new] = self._renamed.pop(key, key)
        draft.rename(new)
        self._keep(new, draft)
        for child in self._drafts.values():
            for foreign_key in child.foreign_keys:
                if foreign_key.parent == key:
                    foreign_key.parent = new
                    self._changed(child.name)

    def _rename_parent_column(self, parent: str, old: str, new: str) -> None:
        for child in self._drafts.values():
            for foreign_key in child.foreign_keys:
                if self._name_in_use(foreign_key.parent) == parent:
                    foreign_key.parent_columns = tuple(
                        new if name.lower() == old.lower() else name
                        for name in foreign_key.parent_columns
                    )
                    self._changed(child.name)

    def _set_database(self, statement: SetDatabase, default_schema: str) -> None:
        name = statement.name or default_schema
        if statement.create and not statement.if_not_exists:
            self._absent.add(name.lower())
        is_new = statement.create and (not statement.if_not_exists or name.lower() in self._absent)
        if statement.if_not_exists and not is_new:
            return
        known = CharacterOptions() if is_new else self._databases.get(name)
        charset, collation = settled_collation(statement.options, known or CharacterOptions())
        self._databases[name] = CharacterOptions(charset=charset, collation=collation)

    def _doubt(self, statement: Unreadable, default_schema: str, place: str) -> None:
        reason = f"a statement{place} was not understood: {statement.reason}"
        names = [table.within(default_schema) for table in statement.tables]
        if not names:
            self._absent.clear()
        for name in names or list(self._drafts):
            key = self._name_in_use(name)
            if key is not None:
                self._forget_keys(self._drafts[key], reason, None)
            elif names:
                self._keep(name, TableDraft(name=name, unknown_because=reason))

    def _forget_keys(self, known: TableDraft, reason: str, metadata: TableSchema | None) -> None:
        draft = TableDraft(name=known.name) if metadata is None else draft_of(metadata)
        # Children keep pointing here, so the foreign keys of the table are worth keeping only
        # while its columns are known.
        draft.unknown_because = reason
        self._keep(known.name, draft)

    def _drop(self, name: str) -> None:
        key = self._name_in_use(name)
        if key is not None:
            known = self._drafts[key]
            if SchemaSource.DUMP in known.sources:
                self.doubts.changed.add(self._dumped_name(key))
                self._recreated[key] = known
            del self._drafts[key]
            self._folded_names.pop(key.lower(), None)
            self._changed(key)
        self._seen_maps.pop(name.lower(), None)

    def _keep(self, name: str, draft: TableDraft) -> None:
        self._drafts[name] = draft
        self._folded_names.setdefault(name.lower(), name)
        self._seen_maps.pop(name.lower(), None)
        self._changed(name)

    def _changed(self, name: str) -> None:
        self.version += 1
        self._frozen.pop(name, None)
        self._referencing = None

    def _name_in_use(self, name: str) -> str | None:
        """lower_case_table_names folds logged rows, not statements."""
        if name in self._drafts:
            return name
        other = self._folded_names.get(name.lower())
        if other is None or other not in self._drafts:
            return None
        self.assume(f"{name} and {other} were taken to be one table (lower_case_table_names)")
        return other


def _is_dumped(table: TableSchema) -> bool:
    return SchemaSource.DUMP in table.sources


def follows_use(statement: SchemaStatement, default_schema: str) -> str:
    """Return the default schema after a statement."""
    return statement.name if isinstance(statement, UseDatabase) else default_schema
