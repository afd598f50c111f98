"""Lays the parser's input out: nodes in order, their word pieces, features and relations (RAT-SQL,
Wang et al. 2020, section 3).

Each pair of nodes has one relation, of row to column. Where several hold, the one that is set last
stays; so the order of the steps in `build` and in each of them belongs to what the weights learnt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sqlwright.english.as_trained import NUMBER_WORDS, Word
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
    Encoded,
    Node,
    TableNode,
    ValueNode,
)
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.types import Question


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
