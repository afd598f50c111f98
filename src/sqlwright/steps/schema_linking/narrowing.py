"""Narrowing a view: what is kept besides what was chosen, and what a model may be shown of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlwright.english.vocabulary import NAMING_WORDS
from sqlwright.english.words import singular, split_name, stem, tokens
from sqlwright.schema import ColumnRef, Schema
from sqlwright.types import State

_NAMING = frozenset(NAMING_WORDS)


def narrowed(state: State, chosen: Iterable[ColumnRef]) -> State:
    """The state with a view of the chosen columns and the keys of their tables.

    Keys are kept whatever was chosen (CHESS, appendix A.3): a query joins by them even when the
    question doesn't speak of them, and a key into a table that wasn't chosen says that it is there.
    What was hidden before stays hidden.
    """
    schema = state.view.visible_schema()
    kept = set(chosen)
    tables = {ref.table for ref in kept}
    kept |= keys_between(schema, tables) | keys_of(schema, tables)
    kept.intersection_update(schema.columns)
    if len(kept) == schema.column_count:
        return state
    return state.evolve(view=state.view.narrowed(kept))


def naming_columns(schema: Schema, tables: Collection[str]) -> set[ColumnRef]:
    """The columns that hold names or titles of what stands in `tables`, by a word of their own
    name."""
    return {
        ref
        for ref in schema.columns
        if ref.table in tables and not _NAMING.isdisjoint(map(singular, split_name(ref.column)))
    }


def is_small(schema: Schema, *, columns: int, per_table: float) -> bool:
    """True for a schema of which all may be told: so few columns in all, and to a table on
    average."""
    count = schema.column_count
    return count <= columns and count <= per_table * len(schema.tables)


def named_tables(state: State) -> set[str]:
    """The tables of the view that the question names: all words of their name are among its."""
    said = {stem(token.text.casefold()) for token in tokens(state.question.text)}
    return {
        table.name
        for table in state.view.visible_schema().tables
        if (words := {stem(word.casefold()) for word in split_name(table.own_name)})
        and words <= said
    }


def found(state: State) -> set[ColumnRef]:
    """Columns that retrieval found by a stored value or by their name."""
    return {match.column for match in state.values} | {
        link.column for link in state.similar_columns
    }


def keys_of(schema: Schema, tables: set[str]) -> set[ColumnRef]:
    """The primary keys of tables and the columns by which they refer to any other, declared or
    inferred from names and data."""
    own = {
        ColumnRef(table.name, name)
        for table in schema.tables
        if table.name in tables
        for name in table.primary_key
    }
    return own | {ref for ref in schema.foreign_key_columns if ref.table in tables}


def keys_between(schema: Schema, tables: set[str], longest: int | None = None) -> set[ColumnRef]:
    """The keys that join `tables`, those of tables in between included, and primary keys.

    Each table is connected to those before it by a shortest path over the foreign keys, of at most
    `longest` keys if that is given; tables that can't be reached stay apart. Of the tables reached,
    every key among them is kept.
    """
    neighbours: dict[str, list[str]] = {}
    for key in schema.foreign_keys:
        neighbours.setdefault(key.table, []).append(key.target_table)
        neighbours.setdefault(key.target_table, []).append(key.table)
    ordered = [table.name for table in schema.tables if table.name in tables]
    reached: set[str] = set(ordered[:1])
    for name in ordered[1:]:
        reached |= {name, *_shortest(neighbours, name, reached, longest)}
    kept = {
        ref
        for key in schema.foreign_keys
        if key.table in reached and key.target_table in reached
        for pair in key.pairs
        for ref in pair
    }
    for table in schema.tables:
        if table.name in reached:
            kept |= {ColumnRef(table.name, column) for column in table.primary_key}
    return kept


def _shortest(
    neighbours: dict[str, list[str]], start: str, goals: set[str], longest: int | None
) -> list[str]:
    """The tables on a shortest way from `start` to any goal; none without a way of at most
    `longest` keys."""
    came: dict[str, str] = {start: ""}
    keys = {start: 0}
    waiting = [start]
    for table in waiting:
        if table in goals:
            path = [table]
            while came[path[-1]]:
                path.append(came[path[-1]])
            return path
        if keys[table] == longest:
            return []
        for other in neighbours.get(table, []):
            if other not in came:
                came[other] = table
                keys[other] = keys[table] + 1
                waiting.append(other)
    return []
