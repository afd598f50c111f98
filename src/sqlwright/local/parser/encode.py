"""Encodes a question and a schema as the arrays that the embedded parser reads.

Pieces (word pieces) go through the text encoder; nodes (question words, tables, columns, stored
values) are what the relation layers and the decoder see. Training and inference share this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlwright.english.as_trained import (
    STOP_WORDS,
    akin,
    phrase_matches,
    split_name,
    split_words,
    stem,
)
from sqlwright.local.parser.layout import Item, Layout
from sqlwright.local.parser.nodes import (
    BIT,
    EXACT_SCORE,
    Budget,
    Encoded,
    TableNode,
    ValueNode,
    WordPieces,
)
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.declared_types import type_feature
from sqlwright.types import Question, ValueMatch

DEFAULT_BUDGET = Budget()
VALUES_PER_COLUMN = 2
"""Most values of a column that the question names and that become nodes; as in training."""
VALUE_PIECES = 8
"""Most word pieces of a stored value; as in training."""
NAME_PIECES = 12
"""Most word pieces of a name or of a question word; as in training."""


def encode(
    question: Question,
    schema: Schema,
    values: Sequence[ValueMatch],
    enumerations: Mapping[ColumnRef, Sequence[str]],
    pieces: WordPieces,
    *,
    budget: Budget = DEFAULT_BUDGET,
    priority: Mapping[ColumnRef, float] | None = None,
) -> Encoded:
    """Lay out question, tables, columns and values, and relate all nodes.

    Columns have their labels for names where they carry one. When the schema is too long for the
    budget, the columns with the highest `priority` stay, or without it those that the question
    names or has values of.
    """
    words = split_words(question.text)
    words += split_words(question.evidence, evidence=True)
    stems = [stem(word.text) for word in words]
    # Questions may write a name as it is stored (`unit_price`, `StuID`), in one word.
    compounds = {
        number: tuple(stem(part) for part in split_name(word.text))
        for number, word in enumerate(words)
        if "_" in word.text or not word.text[1:].islower()
    }
    hits = _best_hits(values, set(schema.columns))
    groups = [_table_items(table, schema, hits, enumerations, pieces) for table in schema.tables]
    for group in groups:
        for item in group:
            _match_name(item, stems, compounds)
    word_pieces = [pieces(word.text)[:NAME_PIECES] for word in words]
    groups = _fit(groups, word_pieces, budget, priority)
    return Layout(words, word_pieces, [item for group in groups for item in group], schema).build(
        question
    )


def _best_hits(
    values: Sequence[ValueMatch], known: set[ColumnRef]
) -> dict[ColumnRef, list[ValueMatch]]:
    """At most VALUES_PER_COLUMN values of each of the known columns, the best first."""
    hits: dict[ColumnRef, list[ValueMatch]] = {}
    for match in sorted(values, key=_rank):
        found = hits.setdefault(match.column, [])
        if (
            match.column in known
            and len(found) < VALUES_PER_COLUMN
            and not any(match.value == other.value or _settles(other, match) for other in found)
        ):
            found.append(match)
    return hits


def _rank(match: ValueMatch) -> tuple[float, int, bool]:
    return (-match.score, -len(match.phrase), match.value != match.phrase)


def _settles(best: ValueMatch, other: ValueMatch) -> bool:
    """True if the same words name `best` letter by letter and `other` only nearly."""
    same = best.span is not None and best.span == other.span
    return same and best.value.casefold() == best.phrase.casefold()


def _name_words(name: str, label: str) -> list[str]:
    return split_name(label) if label else split_name(name)


def _table_items(
    table: Table,
    schema: Schema,
    hits: Mapping[ColumnRef, Sequence[ValueMatch]],
    enumerations: Mapping[ColumnRef, Sequence[str]],
    pieces: WordPieces,
) -> list[Item]:
    """The table, then each of its columns followed by that column's values."""
    words = _name_words(table.name, table.label)
    bits = BIT["table"] | (BIT["view"] if table.kind == "view" else 0)
    items = [Item(TableNode(table.name), *_spelled(words, pieces), bits)]
    near = {ref for ref, _ in schema.key_pairs}
    far = {ref for _, ref in schema.key_pairs}
    for column in table.columns:
        ref = ColumnRef(table.name, column.name)
        bits = _column_bits(column, table, ref in near, ref in far)
        found = hits.get(ref, ())
        listed = enumerations.get(ref, ())[:3]
        bits |= BIT["has-hit"] if found else 0
        bits |= BIT["has-enumeration"] if listed else 0
        items.append(Item(ref, *_spelled(_name_words(column.name, column.label), pieces), bits))
        nodes = [ValueNode(ref, match.value, match) for match in found]
        seen = {node.value for node in nodes}
        nodes += [ValueNode(ref, value) for value in listed if value not in seen]
        items += [Item(node, (), pieces(node.value[:60])[:VALUE_PIECES], _value_bits(node))
                  for node in nodes]  # fmt: skip
    return items


def _spelled(words: Sequence[str], pieces: WordPieces) -> tuple[tuple[str, ...], tuple[int, ...]]:
    ids = [piece for word in words for piece in pieces(word)][:NAME_PIECES]
    return tuple(stem(word) for word in words), tuple(ids)


def _column_bits(column: Column, table: Table, near: bool, far: bool) -> int:
    bits = BIT["column"] | BIT[type_feature(column.type)]
    bits |= BIT["primary-key"] if column.name in table.primary_key else 0
    bits |= BIT["foreign-key"] if near else 0
    bits |= BIT["key-target"] if far else 0
    return bits


def _value_bits(node: ValueNode) -> int:
    if node.match is None:
        return BIT["value"] | BIT["unmatched-value"]
    exact = node.match.score >= EXACT_SCORE
    return BIT["value"] | BIT["value-exact" if exact else "value-fuzzy"]


def _match_name(
    item: Item, question: Sequence[str], compounds: Mapping[int, tuple[str, ...]]
) -> None:
    """Note which question words name the item wholly or in part; `compounds` are the stems of
    words such as `unit_price`."""
    if not item.stems:
        return
    kind = "table" if isinstance(item.node, TableNode) else "column"
    exact = {at for found in phrase_matches(question, item.stems) for at in found}
    exact |= {at for at, stems in compounds.items() if stems == item.stems}
    partial = {
        at
        for at, word in enumerate(question)
        if at not in exact
        and word not in STOP_WORDS
        and len(word) > 1
        and any(akin(word, own) for own in item.stems)
    }
    item.exact, item.partial = sorted(exact), sorted(partial)
    item.features |= BIT[f"{kind}-exact"] if exact else BIT[f"{kind}-partial"] if partial else 0
    item.features |= BIT["long-name"] if len(item.stems) > 1 else 0


def _fit(
    groups: list[list[Item]],
    words: Sequence[Sequence[int]],
    budget: Budget,
    priority: Mapping[ColumnRef, float] | None,
) -> list[list[Item]]:
    """Leave out the least promising columns (with their values) until the input fits.

    A table goes with its last column. The points of a promise are chosen, and so that a column of
    the linker's view (`priority`) comes before all others.
    """
    # Besides words and items: the opening piece, a separator before each table, one before the
    # evidence and one at the end.
    room = budget.pieces - 3 - sum(len(word) for word in words) - len(groups)
    places = budget.nodes - len(words)
    items = [item for group in groups for item in group]
    if sum(len(item.pieces) for item in items) <= room and len(items) <= places:
        return groups

    def promise(item: Item) -> float:
        ref = item.node if isinstance(item.node, ColumnRef) else None
        score = priority.get(ref, 0.0) * 100 if priority and ref else 0.0
        score += 8 if item.features & BIT["has-hit"] else 0
        score += 6 if item.exact else 0
        score += 3 if item.partial else 0
        score += 2 if item.features & (BIT["primary-key"] | BIT["foreign-key"]) else 0
        return score

    blocks = []  # (promise, group number, items): a column with its values
    for number, group in enumerate(groups):
        lift = 4 if group[0].exact else 2 if group[0].partial else 0
        for item in group[1:]:
            if isinstance(item.node, ColumnRef):
                blocks.append((promise(item) + lift, number, [item]))
            else:
                blocks[-1][2].append(item)
    kept: list[list[Item]] = [[] for _ in groups]
    for _, number, block in sorted(blocks, key=lambda entry: -entry[0]):
        # The first column of a table brings the table along.
        heads = [] if kept[number] else groups[number][:1]
        cost = sum(len(item.pieces) for item in heads + block)
        if cost > room or len(heads + block) > places:
            continue
        room, places = room - cost, places - len(heads + block)
        kept[number] += block
    # In the schema's order again: the model saw columns so.
    order = {id(item): place for place, item in enumerate(items)}
    return [
        groups[number][:1] + sorted(block, key=lambda item: order[id(item)])
        for number, block in enumerate(kept)
        if block
    ]
