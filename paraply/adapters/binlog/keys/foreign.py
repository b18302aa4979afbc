"""Keys that foreign keys add, for child and parent.

- *Existence.* A parent row that disappears or changes its referenced columns writes
  ``REFERENCES(columns)``. A child row that appears, disappears or changes its foreign key reads it,
  as does any change that a CASCADE or SET NULL might hit. Shared reads do not conflict (bug
  110071). A parent that appears, by an insert or an update that no child follows, writes ``NEW
  REFERENCES(columns)``, which only children that appear read: one that disappears is an orphan, and
  needs no parent. An update that children follow writes ``MOVED REFERENCES(columns)``, which
  children read that appear or keep their value. One that disappears is found in either order.
- *Repeated checks.* InnoDB checks an equal foreign key again if other bytes ('a', 'A') enter an
  index that begins with it, or the clustered one.
- *The locked parent row.* Inserting a child locks the parent's primary key record. A change of its
  other columns waits; both orders give one result.
- *Cascades.* The log omits them. The existence key covers direct children; ``reached`` names tables
  further down and aspects. Aspects are unique values of deleted child rows, rows that SET NULL
  changed, and deletes from a third table that lost its reference; these may be of a cascade, too.

NO_FOREIGN_KEY_CHECKS: a child does not look at parents, so it does not read ``NEW REFERENCES``; a
parent does not look at children, and writes nothing else. There are no cascades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from paraply.adapters.binlog.keys.parts import KeyPlan
from paraply.adapters.binlog.keys.values import folder_of
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import RELEASED, TAKEN, aspect
from paraply.vocabulary.schema import ForeignKey, TableSchema

LOSES_VALUE = frozenset({"SET NULL", "SET DEFAULT"})
CHANGES_CHILD = LOSES_VALUE | {"CASCADE"}
PRIMARY = "PRIMARY"


def existence_index(columns: tuple[str, ...]) -> str:
    """Return the existence key's name."""
    return f"REFERENCES({','.join(columns).lower()})"


NEW, MOVED = "NEW", "MOVED"


def of_kind(kind: str, key: ConflictKey) -> ConflictKey:
    """Return the key of a parent that appears or moves."""
    index = f"{kind} {key.index}"
    return ConflictKey(table=key.table, index=index, values=key.values, shown=key.shown)


@dataclass(frozen=True, slots=True)
class ChildTie:
    """One foreign key from the child's side.

    Without ``existence`` (unknown parent columns) ``parent`` is reached. ``primary`` is for
    references to the primary key.
    """

    columns: tuple[int, ...]
    parent: str
    existence: KeyPlan | None
    primary: KeyPlan | None
    may_be_changed_below: bool
    loses_value: bool = False
    """Whether SET NULL or SET DEFAULT applies."""
    null_aspect: str = ""
    keeps_deletes: bool = False
    """Whether child rows outlive a deleted parent."""
    always_keeps: bool = False
    """Whether child rows also outlive a changed parent key."""
    may_follow: bool = False
    """Whether this or another child follows the parent's update."""
    is_unique: bool = False
    """Whether no two parents share a value."""
    index_columns: tuple[int, ...] = ()
    """Whose change repeats the check."""
    is_surely_checked_again: bool = False
    """Since MySQL 9.6 the layer above InnoDB checks, and changed columns alone."""


def null_aspect(child: str, key: ForeignKey) -> str:
    """Return the aspect of parentless child rows."""
    return aspect(child, f"rows without a parent by {key.name}")


class Cascade(NamedTuple):
    """The unlogged changes below a parent row.

    Attributes:
        reached: tables and aspects that they may meet.
        aspects: of them: rows that leave a parent whose children forbid it. Another transaction may
            have to take these children first, by a cascade of its own.
    """

    reached: frozenset[str]
    aspects: frozenset[str]


@dataclass(frozen=True, slots=True)
class ParentTie:
    """One set of referenced columns from the parent's side."""

    existence: KeyPlan
    is_unique: bool
    is_followed: bool
    """Whether an update of the columns changes children too."""
    children: frozenset[str]
    of_delete: Cascade
    of_update: Cascade


def tied_tables(registry: SchemaRegistry, name: str) -> set[str]:
    """Return the lower-case names of a table and of all that foreign keys tie to it."""
    return {table.lower() for table in _tied(registry, name)}


def has_cascades(registry: SchemaRegistry, name: str) -> bool:
    """Return whether some change of the tables that are tied to this one is not logged."""
    schemas = map(registry.table, _tied(registry, name))
    keys = (key for schema in schemas if schema is not None for key in schema.foreign_keys)
    return any({key.on_delete, key.on_update} & CHANGES_CHILD for key in keys)


def _tied(registry: SchemaRegistry, name: str) -> set[str]:
    found: set[str] = set()
    pending = [registry.known_name(name)]
    while pending:
        table = pending.pop()
        if table in found:
            continue
        found.add(table)
        schema = registry.table(table)
        parents = () if schema is None else (key.parent for key in schema.foreign_keys)
        children = (child for child, _ in registry.referencing(table))
        pending += map(registry.known_name, (*parents, *children))
    return found


def child_ties(registry: SchemaRegistry, child: TableSchema) -> tuple[ChildTie, ...]:
    """Return a table's ties to its parents."""
    ties = []
    for key in child.foreign_keys:
        parent = registry.table(key.parent)
        positions = parent.columns_referenced_by(key) if parent is not None else None
        actions = {key.on_delete, key.on_update}
        may_be_changed = bool(actions & CHANGES_CHILD)
        loses_value = bool(actions & LOSES_VALUE)
        null_name = null_aspect(child.name, key)
        if parent is None or positions is None or len(positions) != len(key.columns):
            name = parent.name if parent is not None else key.parent
            ties.append(
                ChildTie(key.columns, name, None, None, may_be_changed, loses_value, null_name)
            )
            continue
        # The parent's columns decide what is equal, the child's only how bytes become text.
        folders = tuple(folder_of(parent.columns[position]) for position in positions)
        names = tuple(parent.columns[position].name for position in positions)
        existence = KeyPlan(
            parent.name, existence_index(names), key.columns, folders, certain=not key.assumed
        )
        ties.append(
            ChildTie(
                key.columns,
                parent.name,
                existence,
                _primary_plan(parent, positions, key, folders),
                may_be_changed,
                loses_value,
                null_name,
                keeps_deletes=key.on_delete in LOSES_VALUE,
                always_keeps=key.on_delete in LOSES_VALUE and key.on_update in CHANGES_CHILD,
                may_follow=any(
                    other.on_update in CHANGES_CHILD
                    for _, other in registry.referencing(parent.name)
                ),
                is_unique=_is_unique(parent, positions),
                index_columns=key.index_columns,
                is_surely_checked_again=registry.is_mariadb,
            )
        )
    return tuple(ties)


def _is_unique(parent: TableSchema, positions: tuple[int, ...]) -> bool:
    return any(
        {part.column for part in unique.parts} == set(positions) for unique in parent.unique_keys
    )


def _primary_plan(
    parent: TableSchema,
    positions: tuple[int, ...],
    key: ForeignKey,
    folders: tuple[Callable[[object], tuple[object, bool]], ...],
) -> KeyPlan | None:
    for unique in parent.unique_keys:
        parts = [part.column for part in unique.parts]
        if unique.name != PRIMARY or sorted(parts) != sorted(positions):
            continue
        if any(part.prefix_length for part in unique.parts):
            return None
        order = [positions.index(part) for part in parts]
        return KeyPlan(
            parent.name,
            PRIMARY,
            tuple(key.columns[at] for at in order),
            tuple(folders[at] for at in order),
            certain=not key.assumed,
        )
    return None


def parent_ties(registry: SchemaRegistry, parent: TableSchema) -> tuple[ParentTie, ...]:
    """Return a table's ties, one per referenced columns."""
    referring: dict[tuple[int, ...], list[tuple[str, ForeignKey]]] = {}
    for child, key in registry.referencing(parent.name):
        positions = parent.columns_referenced_by(key)
        if positions is not None:
            referring.setdefault(positions, []).append((child, key))
    ties = []
    for positions, keys in referring.items():
        names = tuple(parent.columns[position].name for position in positions)
        is_unique = _is_unique(parent, positions)
        existence = KeyPlan(
            parent.name,
            existence_index(names),
            positions,
            tuple(folder_of(parent.columns[position]) for position in positions),
            # Two parents that share a referenced value need not exclude each other.
            certain=is_unique and not all(key.assumed for _, key in keys),
        )
        ties.append(
            ParentTie(
                existence,
                is_unique,
                any(key.on_update in CHANGES_CHILD for _, key in keys),
                frozenset(child for child, _ in keys),
                cascade_of(registry, keys, deleted=True),
                cascade_of(registry, keys, deleted=False),
            )
        )
    return tuple(ties)


def cascade_of(
    registry: SchemaRegistry, keys: list[tuple[str, ForeignKey]], *, deleted: bool
) -> Cascade:
    """Return the transitive unlogged changes of a parent row."""
    reached: set[str] = set()
    aspects: set[str] = set()
    visited: set[tuple[str, ForeignKey, bool, bool]] = set()
    pending = [(child, key, deleted, True) for child, key in keys]
    while pending:
        step = pending.pop()
        if step in visited:
            continue
        visited.add(step)
        child, key, parent_deleted, is_direct = step
        action = key.on_delete if parent_deleted else key.on_update
        deletes = parent_deleted and action == "CASCADE"
        # Rows of a direct child carry the parent's value and are met by it, unless the change
        # took it from them: then later changes of the row carry NULL, and share no key with this.
        if not is_direct:
            reached.add(child)
        elif action in LOSES_VALUE:
            whole = _has_generated_key(registry, child)
            reached.add(child if whole else null_aspect(child, key))
        elif action == "CASCADE" and not deletes and _has_generated_key(registry, child):
            reached.add(child)
        elif deletes and _frees_other_values(registry, child, key):
            reached.add(aspect(child, TAKEN))
        if action in CHANGES_CHILD:
            reached.update(_left_parents(registry, child, key, deletes=deletes))
            below = registry.referencing(child)
            if not deletes:
                below = tuple(_that_follow(registry, child, key, below))
            pending += ((name, other, deletes, False) for name, other in below)
            actions = {other.on_delete if deletes else other.on_update for _, other in below}
            if actions - CHANGES_CHILD:
                aspects.add(aspect(child, RELEASED))
    return Cascade(frozenset(reached), frozenset(aspects))


def _has_generated_key(registry: SchemaRegistry, child: str) -> bool:
    schema = registry.table(child)
    return (
        schema is None
        or not schema.keys_complete
        or any(
            schema.columns[part.column].generated
            for unique in schema.unique_keys
            for part in unique.parts
        )
    )


def _left_parents(
    registry: SchemaRegistry, child: str, key: ForeignKey, *, deletes: bool
) -> Iterator[str]:
    schema = registry.table(child)
    if schema is None:
        return
    for other in schema.foreign_keys:
        if other == key or not (deletes or set(other.columns) & set(key.columns)):
            continue
        parent = registry.table(other.parent)
        name = parent.name if parent is not None else other.parent
        yield aspect(name, RELEASED)
        if not deletes:
            yield name  # An updated value may also begin to refer to a row.


def _that_follow(
    registry: SchemaRegistry,
    child: str,
    key: ForeignKey,
    below: tuple[tuple[str, ForeignKey], ...],
) -> Iterator[tuple[str, ForeignKey]]:
    schema = registry.table(child)
    for name, other in below:
        positions = schema.columns_referenced_by(other) if schema is not None else None
        if positions is None or set(positions) & set(key.columns):
            yield name, other


def _frees_other_values(registry: SchemaRegistry, child: str, key: ForeignKey) -> bool:
    schema = registry.table(child)
    if schema is None or not schema.keys_complete:
        return True
    for unique in schema.unique_keys:
        whole = {part.column for part in unique.parts if not part.prefix_length}
        if set(key.columns) <= whole:
            continue
        if len(unique.parts) == 1 and schema.columns[unique.parts[0].column].auto_increment:
            registry.assume(
                f"AUTO_INCREMENT values of {child} that a cascade sets free are not used again"
            )
            continue
        return True
    return False
