"""Encodes a question and a schema as the arrays that the embedded parser reads.

Pieces (word pieces) go through the text encoder; nodes (question words, tables, columns, stored
values) are what the relation layers and the decoder see. Training and inference share this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sqlwright.english.as_trained import (
    NUMBER_WORDS,
    STOP_WORDS,
    Word,
    akin,
    phrase_matches,
    split_name,
    split_words,
    stem,
)
from sqlwright.local.parser.nodes import (
    BIT,
    CLS,
    COLUMN,
    DEFAULT_RELATIONS,
    EXACT_SCORE,
    RELATION,
    SEP,
    TABLE,
    VALUE,
    WORD,
    Budget,
    Encoded,
    Node,
    TableNode,
    ValueNode,
    WordPieces,
)
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.sql.declared_types import type_feature
from sqlwright.types import Question, ValueMatch


@dataclass
class Item:
    """A schema item or value on its way into the input."""

    node: TableNode | ColumnRef | ValueNode
    stems: tuple[str, ...]
    pieces: tuple[int, ...]
    features: int
    exact: list[int] = field(default_factory=list)
    """Places of the question words that name it wholly."""
    partial: list[int] = field(default_factory=list)
    """Places of those that name it in part."""
    told: tuple[str, ...] = ()
    """Stems of the words that its description adds to its name."""


class Layout:
    """Nodes in order, with the arrays that describe them."""

    def __init__(
        self,
        words: Sequence[Word],
        word_pieces: Sequence[tuple[int, ...]],
        items: Sequence[Item],
        schema: Schema,
    ) -> None:
        self.words = words
        self.word_pieces = word_pieces
        self.items = items
        self.schema = schema
        first = len(words)
        self.nodes: tuple[Node, ...] = (*words, *(item.node for item in items))
        self.place: dict[Node, int] = {
            item.node: first + number for number, item in enumerate(items)
        }
        self.kinds = np.array([WORD] * first + [_kind(item.node) for item in items], dtype=np.uint8)

    def build(self, question: Question) -> Encoded:
        """The input for a question: its words and pieces, then each table with its columns and
        values, a separator before each table, before the evidence and at the end."""
        relations = DEFAULT_RELATIONS[self.kinds[:, None], self.kinds[None, :]].copy()
        self._relate_words(relations)
        self._relate_schema(relations)
        word_bits = [_word_bits(word, question) for word in self.words]
        self._relate_names(relations, word_bits)
        self._relate_values(relations, word_bits)
        node_features = [*word_bits, *(item.features for item in self.items)]
        ids, bits, owners = [CLS], [0], [-1]
        evidence = False
        for number, (word, own) in enumerate(zip(self.words, self.word_pieces, strict=True)):
            if word.evidence and not evidence:
                evidence = True
                _separate(ids, bits, owners)
            _append(ids, bits, owners, (own, node_features[number], number))
        for number, item in enumerate(self.items, start=len(self.words)):
            if isinstance(item.node, TableNode):
                _separate(ids, bits, owners)
            _append(ids, bits, owners, (item.pieces, node_features[number], number))
        _separate(ids, bits, owners)
        return Encoded(
            self.nodes,
            np.array(ids, dtype=np.int32),
            np.array(bits, dtype=np.uint32),
            np.array(owners, dtype=np.int16),
            np.array(node_features, dtype=np.uint32),
            self.kinds,
            relations,
        )

    def _relate_words(self, relations: npt.NDArray[np.uint8]) -> None:
        count = len(self.words)
        # Words further apart than three are as far apart as three.
        offsets = np.arange(count)[None, :] - np.arange(count)[:, None]
        relations[:count, :count] = RELATION["word+0"] + np.clip(offsets, -3, 3)

    def _relate_names(self, relations: npt.NDArray[np.uint8], word_bits: list[int]) -> None:
        for item in self.items:
            at = self.place[item.node]
            kind = "table" if isinstance(item.node, TableNode) else "column"
            for how, places in (("partial", item.partial), ("exact", item.exact)):
                for word in places:
                    relations[word, at] = RELATION[f"word-{kind}:{how}"]
                    relations[at, word] = RELATION[f"{kind}-word:{how}"]
                    word_bits[word] |= BIT[f"{kind}-{how}"]

    def _relate_values(self, relations: npt.NDArray[np.uint8], word_bits: list[int]) -> None:
        exact_name = RELATION["word-column:exact"]
        for item in self.items:
            if not isinstance(item.node, ValueNode):
                continue
            at, column = self.place[item.node], self.place[item.node.column]
            relations[at, column] = RELATION["value-column:own"]
            relations[column, at] = RELATION["column-value:own"]
            match = item.node.match
            if match is None or match.span is None:
                continue
            how = "exact" if match.score >= EXACT_SCORE else "fuzzy"
            for number, word in enumerate(self.words):
                if word.evidence or word.end <= match.span[0] or word.start >= match.span[1]:
                    continue
                relations[number, at] = RELATION[f"word-value:{how}"]
                relations[at, number] = RELATION[f"value-word:{how}"]
                # A word that is the column's name speaks of the column, not of a value in it.
                if relations[number, column] != exact_name:
                    relations[number, column] = RELATION["word-column:value"]
                    relations[column, number] = RELATION["column-word:value"]
                word_bits[number] |= BIT[f"value-{how}"]

    def _relate_schema(self, relations: npt.NDArray[np.uint8]) -> None:
        columns: dict[str, list[int]] = {}
        values: dict[str, list[int]] = {}
        names: dict[str, list[int]] = {}
        by_column: dict[ColumnRef, list[int]] = {}
        for node, place in self.place.items():
            if isinstance(node, ColumnRef):
                columns.setdefault(node.table, []).append(place)
                names.setdefault(node.column.casefold(), []).append(place)
            elif isinstance(node, ValueNode):
                values.setdefault(node.column.table, []).append(place)
                by_column.setdefault(node.column, []).append(place)
        # From the general to the particular, since the last relation stays: namesakes, siblings
        # in a table, keys, and each node with itself.
        for same in names.values():
            if len(same) > 1:
                relations[np.ix_(same, same)] = RELATION["column-column:namesake"]
        for own in by_column.values():
            relations[np.ix_(own, own)] = RELATION["value-value:sibling"]
        for table in self.schema.tables:
            at = self.place.get(TableNode(table.name))
            if at is None:
                continue
            own, found = columns.get(table.name, []), values.get(table.name, [])
            relations[np.ix_(own, own)] = RELATION["column-column:sibling"]
            relations[at, own] = RELATION["table-column:own"]
            relations[own, at] = RELATION["column-table:own"]
            relations[at, found] = RELATION["table-value:own"]
            relations[found, at] = RELATION["value-table:own"]
            for name in table.primary_key:
                primary = self.place.get(ColumnRef(table.name, name))
                if primary is not None:
                    relations[at, primary] = RELATION["table-column:primary"]
                    relations[primary, at] = RELATION["column-table:primary"]
        self._relate_keys(relations, self.schema.foreign_keys)
        for kind, name in ((TABLE, "table"), (COLUMN, "column"), (VALUE, "value")):
            places = np.flatnonzero(self.kinds == kind)
            relations[places, places] = RELATION[f"{name}-{name}:same"]

    def _relate_keys(self, relations: npt.NDArray[np.uint8], keys: Iterable[ForeignKey]) -> None:
        for key in keys:
            left = self.place.get(TableNode(key.table))
            right = self.place.get(TableNode(key.target_table))
            if left is None or right is None:
                continue
            # Two tables may refer to each other.
            both = (RELATION["table-table:from"], RELATION["table-table:both"])
            back = relations[left, right] in both
            relations[left, right] = RELATION["table-table:both" if back else "table-table:to"]
            relations[right, left] = RELATION["table-table:both" if back else "table-table:from"]
            for near, far in key.pairs:
                source, target = self.place.get(near), self.place.get(far)
                if source is not None and target is not None:
                    relations[source, target] = RELATION["column-column:to"]
                    relations[target, source] = RELATION["column-column:from"]


def _append(
    ids: list[int], bits: list[int], owners: list[int], entry: tuple[tuple[int, ...], int, int]
) -> None:
    own, features, number = entry
    for offset, piece in enumerate(own):
        ids.append(piece)
        bits.append(features | (BIT["start"] if offset == 0 else 0))
        owners.append(number)


def _separate(ids: list[int], bits: list[int], owners: list[int]) -> None:
    ids.append(SEP)
    bits.append(0)
    owners.append(-1)


def _kind(node: Node) -> int:
    if isinstance(node, TableNode):
        return TABLE
    return COLUMN if isinstance(node, ColumnRef) else VALUE


def _word_bits(word: Word, question: Question) -> int:
    text = question.evidence if word.evidence else question.text
    """The features of a question word, without those from names and values."""
    bits = BIT["word"] | (BIT["evidence"] if word.evidence else 0)
    if word.text[0].isdigit() or word.text.lower() in NUMBER_WORDS:
        bits |= BIT["number"]
    # The first word of a sentence has a capital whatever it is.
    if word.text[0].isupper() and word.start > 0:
        bits |= BIT["capital"]
    before = text[: word.start]
    if before.count('"') % 2 == 1 or before.rstrip()[-1:] in ("'", "‘", "“"):
        bits |= BIT["quoted"]
    return bits


DEFAULT_BUDGET = Budget()
VALUES_PER_COLUMN = 2
"""Most values of a column that the question names and that become nodes; as in training."""
VALUE_PIECES = 8
"""Most word pieces of a stored value; as in training."""
NAME_PIECES = 12
"""Most word pieces of a name or of a question word; as in training."""
LISTED = 3
"""Most values of a column whose values all become nodes, whether the question names them or not."""
FURTHER = Budget(pieces=96, nodes=40)
"""Room for the values of columns with some more, the most promising columns first; as in
training."""
DESCRIBED = 160
"""Characters of a description that are read; as in training."""
DESCRIPTION_PIECES = 8
"""Most word pieces of a column's description, behind its name; as in training."""


def encode(
    question: Question,
    schema: Schema,
    values: Sequence[ValueMatch],
    enumerations: Mapping[ColumnRef, Sequence[str]],
    pieces: WordPieces,
    *,
    budget: Budget = DEFAULT_BUDGET,
    priority: Mapping[ColumnRef, float] | None = None,
    described: bool = False,
    further: bool = False,
) -> Encoded:
    """Lay out question, tables, columns and values, and relate all nodes.

    Columns have their labels for names where they carry one, and with `described` the words of
    their descriptions behind those; with `further` the values of more columns, as far as there is
    room. When the schema is too long for the
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
    if described:
        for table, group in zip(schema.tables, groups, strict=True):
            _describe(group, table, pieces)
    for group in groups:
        for item in group:
            _match_name(item, stems, compounds)
    word_pieces = [pieces(word.text)[:NAME_PIECES] for word in words]
    groups = _fit(groups, word_pieces, budget, priority)
    if further:
        room = budget.pieces - 3 - len(groups) - sum(map(len, word_pieces))
        room -= sum(len(item.pieces) for group in groups for item in group)
        places = budget.nodes - len(words) - sum(map(len, groups))
        room, places = min(room, FURTHER.pieces), min(places, FURTHER.nodes)
        groups = _with_further(groups, enumerations, pieces, Budget(room, places), priority or {})
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
    words = _name_words(schema.spoken(table.name), table.label)
    bits = BIT["table"] | (BIT["view"] if table.kind == "view" else 0)
    items = [Item(TableNode(table.name), *_spelled(words, pieces), bits)]
    near = {ref for ref, _ in schema.key_pairs}
    far = {ref for _, ref in schema.key_pairs}
    for column in table.columns:
        ref = ColumnRef(table.name, column.name)
        bits = _column_bits(column, table, ref in near, ref in far)
        found = hits.get(ref, ())
        listed = enumerations.get(ref, ())
        listed = listed if len(listed) <= LISTED else ()
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


def _describe(items: Sequence[Item], table: Table, pieces: WordPieces) -> None:
    """Add to each column's item the words of its description that its name doesn't say."""
    for item in items:
        column = table.column(item.node.column) if isinstance(item.node, ColumnRef) else None
        if column is None or not column.description:
            continue
        words = [word.text for word in split_words(column.description[:DESCRIBED])]
        told = [w for w in words if w[0].isalnum() and stem(w) not in (STOP_WORDS | {*item.stems})]
        ids = [piece for word in told for piece in pieces(word)][:DESCRIPTION_PIECES]
        item.pieces = (*item.pieces, *ids)
        item.told = tuple(stem(word) for word in told)


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
        and any(akin(word, own) for own in (*item.stems, *item.told))
    }
    item.exact, item.partial = sorted(exact), sorted(partial)
    item.features |= BIT[f"{kind}-exact"] if exact else BIT[f"{kind}-partial"] if partial else 0
    item.features |= BIT["long-name"] if len(item.stems) > 1 else 0


def _with_further(
    groups: list[list[Item]],
    enumerations: Mapping[ColumnRef, Sequence[str]],
    pieces: WordPieces,
    room: Budget,
    priority: Mapping[ColumnRef, float],
) -> list[list[Item]]:
    """The groups with the values of columns that have more than LISTED, all of a column's or none,
    the most promising columns first, as far as there is room."""
    items = [item for group in groups for item in group]
    told = {(node.column, node.value) for node in (item.node for item in items)
            if isinstance(node, ValueNode)}  # fmt: skip
    columns = [item for item in items if isinstance(item.node, ColumnRef)]
    more: dict[ColumnRef, list[Item]] = {}
    left, places = room.pieces, room.nodes
    for item in sorted(columns, key=lambda item: -_promise(item, priority)):
        ref = item.node
        assert isinstance(ref, ColumnRef)
        values = enumerations.get(ref, ())
        nodes = [ValueNode(ref, value) for value in values
                 if len(values) > LISTED and (ref, value) not in told]  # fmt: skip
        found = [Item(node, (), pieces(node.value[:60])[:VALUE_PIECES], _value_bits(node))
                 for node in nodes]  # fmt: skip
        cost = sum(len(one.pieces) for one in found)
        if found and cost <= left and len(found) <= places:
            more[ref] = found
            item.features |= BIT["has-enumeration"]
            left, places = left - cost, places - len(found)
    return [_extended(group, more) for group in groups]


def _extended(group: Sequence[Item], more: Mapping[ColumnRef, list[Item]]) -> list[Item]:
    """A group with further values behind those of their columns."""
    extended: list[Item] = []
    waiting: list[Item] = []
    for item in group:
        if not isinstance(item.node, ValueNode):
            extended += waiting
            waiting = more.get(item.node, []) if isinstance(item.node, ColumnRef) else []
        extended.append(item)
    return extended + waiting


def _promise(item: Item, priority: Mapping[ColumnRef, float]) -> float:
    """The weight of a column or table where room is short; the numbers are chosen."""
    ref = item.node if isinstance(item.node, ColumnRef) else None
    score = priority.get(ref, 0.0) * 100 if priority and ref else 0.0
    score += 8 if item.features & BIT["has-hit"] else 0
    score += 6 if item.exact else 0
    score += 3 if item.partial else 0
    score += 2 if item.features & (BIT["primary-key"] | BIT["foreign-key"]) else 0
    return score


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

    blocks = []  # (promise, group number, items): a column with its values
    for number, group in enumerate(groups):
        lift = 4 if group[0].exact else 2 if group[0].partial else 0
        for item in group[1:]:
            if isinstance(item.node, ColumnRef):
                blocks.append((_promise(item, priority or {}) + lift, number, [item]))
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
