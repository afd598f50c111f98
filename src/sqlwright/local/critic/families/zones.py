"""Splits the question into zones and checks that each column is used where its zone asks for it.

The words of a question are divided into what is asked for, whose it is, conditions, groups and
order; a query's columns into what it shows, compares, groups and orders by. Then one is held
against the other in both directions: columns that aren't named where they are used, and words that
no column uses there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import Token, split_name, stem
from sqlwright.local.critic.cues import words
from sqlwright.local.critic.families.shown_and_compared import NUMBER_WORDS, stems
from sqlwright.local.critic.parts import Parts
from sqlwright.local.question.schema import SchemaArrays
from sqlwright.local.question.support import Support
from sqlwright.protocols import FloatArray
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

Features = dict[str, float]
Mask = npt.NDArray[np.bool_]

ASKED, WHOSE, CONDITION, GROUP, ORDER = range(5)

_REQUESTS, _CONDITIONS, _GROUPS, _ORDERS, _EXTREMES, _ENDS, _ASKING = (
    words(f"zones.{kind}")
    for kind in ("requests", "conditions", "groups", "orders", "extremes", "ends", "asking")
)
_UNASKED = FUNCTION_WORDS | words("zones.unasked")
"""Words that no column needs to be named by."""
_COUNTED = re.compile(
    r"\b(?:how many|number of|count(?: the)?(?: number of)?)\s+((?:[\w']+\s*){1,4})", re.IGNORECASE
)

FITS, ENOUGH = 0.6, 0.4
"""Least match, in [0, 1], of the best shown column with the words that ask, and of others;
chosen."""
EXPLAINED = 0.5
"""Least match, in [0, 1], of a word that counts as used; chosen."""
HALF_KNOWN = 0.45
"""Static cosine below which words have little to do with each other; chosen."""
WITHIN = 0.75
"""Match, in [0, 1], of a word that is part of a longer one of a name: date, createdate; chosen."""
SURE = 0.9
"""Least score, in [0, 1], of a value that is held to be meant; chosen."""
BEFORE, AFTER = 6, 3
"""Words before and after a literal among which its column is looked for; chosen."""


def zones(asked: Sequence[Token], text: str) -> tuple[npt.NDArray[np.int64], Mask]:
    """The zone of each word, and whether an extreme or an order is about it."""
    zone, places = ASKED, []
    for place, token in enumerate(asked):
        gap = text[asked[place - 1].end : token.start] if place else ""
        before = asked[place - 1].text if place else ""
        if re.search(r"[?.;]", gap) or (zone == GROUP and "," in gap):
            zone = ASKED
        zone = _next_zone(zone, token.text, before, gap)
        places.append(zone)
    about = np.zeros(len(asked), dtype=np.bool_)
    for place, token in enumerate(asked):
        by = token.text == "by" and place > 0 and asked[place - 1].text in _ORDERS
        if token.text in _EXTREMES or token.text in _ORDERS or by:
            for near in range(place, min(place + 4, len(asked))):
                if near > place and asked[near].text in _ENDS:
                    break
                about[near] = True
    return np.array(places, dtype=np.int64), about


def _next_zone(zone: int, word: str, before: str, gap: str) -> int:
    if word in _GROUPS:
        return GROUP
    if word in _ORDERS:
        return ORDER
    if before and word in _CONDITIONS and not (before in {"and", "or"} and zone == ASKED):
        return CONDITION
    if word in _REQUESTS and (
        not before or (zone in {CONDITION, GROUP, ORDER} and re.search(r"[,.?]", gap))
    ):
        return ASKED
    if word == "of" and zone == ASKED:
        return WHOSE
    if word == "from" and zone in {ASKED, WHOSE}:
        return CONDITION
    if word == "for" and zone in {ASKED, WHOSE}:
        return WHOSE
    return zone


@dataclass(frozen=True, eq=False)
class _Match:
    """The match of each word of a question with each word of names: `words`, (N, V) in [0, 1]."""

    words: FloatArray
    schema: SchemaArrays
    weights: FloatArray
    """(C, NAME_WORDS): rarity of the words that are a column's own."""

    @classmethod
    def of(cls, support: Support, schema: SchemaArrays, columns: Sequence[int]) -> _Match:
        """`columns` are those any candidate can use: only in their names parts of words count."""
        static = support.matches.static
        near = np.where(static > HALF_KNOWN, static * 0.9, static * 0.5)
        words: FloatArray = np.maximum(support.matches.best, near)
        used = np.unique(schema.column_words[list(columns)]) if columns else ()
        names = [(int(place), schema.vocabulary[place]) for place in used
                 if place < len(schema.vocabulary)]  # fmt: skip
        for row, token in enumerate(support.asked.tokens):
            part = token.text.removesuffix("s")
            if len(part) < 4 or token.text in FUNCTION_WORDS:
                continue
            for place, name in names:
                if len(name) > len(part) + 1 and (name.startswith(part) or name.endswith(part)):
                    words[row, place] = max(words[row, place], WITHIN)
        real = schema.column_words < len(schema.vocabulary)
        has_own = np.asarray((schema.own_words > 0).any(axis=1))[:, None]
        own = np.where(has_own, schema.own_words, 1.0) * real
        weights = schema.rarity[schema.column_words] * own
        return cls(np.asarray(words, dtype=np.float32), schema,
                   np.asarray(weights, dtype=np.float32))  # fmt: skip

    def columns(self, mask: Mask, rows: npt.NDArray[np.int64]) -> FloatArray:
        """(len(rows),) how well the masked words name each of the columns, in [0, 1]."""
        if not mask.any() or not len(rows):
            return np.zeros(len(rows), dtype=np.float32)
        best = self.words[mask].max(axis=0)
        weights = self.weights[rows]
        found = (best[self.schema.column_words[rows]] * weights).sum(axis=1)
        return np.asarray(found / np.maximum(weights.sum(axis=1), 1e-6), dtype=np.float32)


class Zones:
    """One question over one schema, against which the columns of its candidates are held."""

    def __init__(
        self,
        text: str,
        support: Support,
        schema: SchemaArrays,
        values: Sequence[ValueMatch],
        columns: Sequence[ColumnRef],
    ) -> None:
        """`columns` are those that the candidates use."""
        self._text, self._schema, self._values = text.casefold(), schema, values
        self._tokens = support.asked.tokens
        self._table_places = {name.casefold(): place for place, name in enumerate(schema.tables)}
        self._columns_of: dict[str, list[ColumnRef]] = {}
        for ref in schema.columns:
            self._columns_of.setdefault(ref.table.casefold(), []).append(ref)
        tables = {ref.table.casefold() for ref in columns}
        near = [schema.place[ref] for name in tables for ref in self._columns_of.get(name, ())]
        self._match = _Match.of(support, schema, near)
        zone, about = zones(self._tokens, text)
        self._masks: dict[int, Mask] = {
            ASKED: (zone == ASKED) & ~about,
            WHOSE: zone == WHOSE,
            CONDITION: zone == CONDITION,
            GROUP: zone == GROUP,
            ORDER: (zone == ORDER) | about,
        }
        self._content = np.array(
            [t.text not in _UNASKED and not t.is_number for t in self._tokens], dtype=np.bool_
        )
        self._joining = np.array([t.text in FUNCTION_WORDS for t in self._tokens], dtype=np.bool_)
        self._in_value = np.zeros(len(self._tokens), dtype=np.float32)
        for match in values:
            if match.span and match.score >= SURE:
                for row, token in enumerate(self._tokens):
                    if token.within(match.span):
                        self._in_value[row] = 1.0

    def features(self, parts: Parts) -> Features:
        """The features of how a query's columns fit where they are asked for."""
        return self._shown(parts) | self._covered(parts) | self._pairs(parts) | self._other(parts)

    def _rows(self, *groups: Sequence[ColumnRef]) -> npt.NDArray[np.int64]:
        places = self._schema.place
        refs = dict.fromkeys(ref for group in groups for ref in group if ref in places)
        return np.array([places[ref] for ref in refs], dtype=np.int64)

    def _shown(self, parts: Parts) -> Features:
        rows = self._rows(parts.shown, parts.worked_out)
        asked = self._match.columns(self._masks[ASKED], rows)
        fits = np.maximum(asked, self._match.columns(self._masks[WHOSE], rows) * 0.8)
        weak = (fits < ENOUGH).sum() if len(rows) > 1 and fits.max() > FITS else 0
        ordered = self._match.columns(self._masks[ORDER], self._rows(parts.ordered))
        return {
            "shown as asked": float(asked.mean()) if len(rows) else 0.5,
            "shown hardly asked": float(min(weak, 3)),
            "ordered as asked": float(ordered.mean()) if len(ordered) else 0.3,
        }

    def _covered(self, parts: Parts) -> Features:
        shown = self._rows(parts.shown, parts.worked_out, parts.counted)
        used = self._rows(parts.shown, parts.worked_out, parts.counted, parts.conditions,
                          parts.grouped, parts.ordered)  # fmt: skip
        ordered = self._rows(parts.ordered, parts.shown, parts.worked_out)
        tables = self._table_words(parts)
        asked, head = self._masks[ASKED], self._masks[ASKED] | self._masks[WHOSE]
        group, condition = self._masks[GROUP], self._masks[CONDITION]
        grouped = self._rows(parts.grouped, parts.shown)
        head_cover, head_left = self._cover(head, shown, tables)
        condition_cover, condition_left = self._cover(
            condition, self._rows(parts.conditions), tables
        )
        group_cover, group_left = self._cover(group, grouped, tables)
        all_cover, all_left = self._cover(self._content, used, tables)
        order_cover, _ = self._cover(self._masks[ORDER], ordered, ())
        wants_order = bool((self._masks[ORDER] & self._content).any())
        return {
            "asked covered": self._cover(asked, shown, tables)[0],
            "asked covered by columns": self._cover(asked, shown, ())[0],
            "head covered": head_cover,
            "head left": head_left,
            "conditions covered": condition_cover,
            "conditions left": condition_left,
            "groups covered": group_cover,
            "groups left": group_left,
            "order covered": order_cover if wants_order else 0.5,
            "question covered": all_cover,
            "question left": all_left,
        }

    def _table_words(self, parts: Parts) -> npt.NDArray[np.int64]:
        places = [self._table_places[name] for name in parts.tables if name in self._table_places]
        return np.unique(self._schema.table_words[places])

    def _cover(
        self, mask: Mask, rows: npt.NDArray[np.int64], more: Sequence[int] | npt.NDArray[np.int64]
    ) -> tuple[float, float]:
        """Mean use, and number, of the masked words that columns, or `more` words, leave unused."""
        mask = mask & self._content
        if not mask.any():
            return 1.0, 0.0
        none = np.array([len(self._schema.vocabulary)], dtype=np.int64)
        words = np.unique(np.concatenate([none, self._schema.column_words[rows].ravel(), more]))
        used = self._match.words[mask][:, words.astype(np.int64)].max(axis=1)
        used = np.maximum(used, self._in_value[mask])
        return float(used.mean()), float(min((used < EXPLAINED).sum(), 4))

    def _pairs(self, parts: Parts) -> Features:
        """Each literal's column against the words around it."""
        fits, others = [], []
        for one in parts.compared:
            mask = self._around(one.literal)
            if mask is None or one.column not in self._schema.place:
                continue
            stored = one.is_text and any(
                match.column == one.column
                and match.value.casefold() == one.literal
                and match.score >= SURE
                for match in self._values
            )
            fit = float(self._match.columns(mask, self._rows([one.column]))[0])
            fits.append(max(fit, 0.8) if stored else fit)
            rivals = [ref for name in parts.tables for ref in self._columns_of.get(name, ())
                      if ref != one.column]  # fmt: skip
            if rivals and not stored:
                best = float(self._match.columns(mask, self._rows(rivals)).max())
                others.append(max(best - fit, 0.0))
        return {
            "pairs fit": min(fits, default=0.6),
            "pairs fit others": max(others, default=0.0),
        }

    def _around(self, literal: str) -> Mask | None:
        """The words near a literal, up to another number or a conjunction; None when the question
        doesn't hold it."""
        span = self._said_at(literal)
        if span is None:
            return None
        inside = [
            row
            for row, token in enumerate(self._tokens)
            if token.start < span[1] and token.end > span[0]
        ]
        if not inside:
            return None
        first, last = inside[0], inside[-1]
        mask = np.zeros(len(self._tokens), dtype=np.bool_)
        for row in range(first - 1, max(first - BEFORE, 0) - 1, -1):
            # A conjunction before a literal may join it to another: above 3 or 5.
            if self._breaks(row) and (row < first - 1 or self._tokens[row].is_number):
                break
            mask[row] = True
        for row in range(last + 1, min(last + AFTER + 1, len(self._tokens))):
            if self._breaks(row):
                break
            mask[row] = True
        return np.asarray(mask & ~self._joining, dtype=np.bool_)

    def _breaks(self, row: int) -> bool:
        token = self._tokens[row]
        return token.is_number or token.text in {"and", "or"}

    def _said_at(self, literal: str) -> tuple[int, int] | None:
        """First character and end of a literal in the question: a word, part of one, or a number in
        letters; None where it isn't said."""
        if not literal:
            return None
        whole = rf"(?<!\w){re.escape(literal)}(?!\w)"
        letters = [rf"\b{word}\b" for word, number in NUMBER_WORDS.items() if number == literal]
        for pattern in (whole, re.escape(literal), *letters):
            if found := re.search(pattern, self._text):
                return found.span()
        return None

    def _other(self, parts: Parts) -> Features:
        """Literals of a letter or two that abbreviate a word; tables named as what to count."""
        letters = [
            one.literal
            for one in parts.compared
            if one.is_text and len(one.literal) < 3 and one.literal.isalpha()
        ]
        words = [token.text for token in self._tokens]
        short = sum(
            letter not in words
            and any(
                word.startswith(letter)
                and len(word) > 2
                and word not in FUNCTION_WORDS
                and word not in _ASKING
                for word in words
            )
            for letter in letters
        )
        return {
            "initial of a word": float(min(short, 2)),
            "counts what is named": float(
                parts.facts.calls("count") and bool(self._counted_tables & parts.tables)
            ),
        }

    @cached_property
    def _counted_tables(self) -> set[str]:
        """Folded names of tables that “how many …” goes on with."""
        found = _COUNTED.search(self._text)
        head: set[str] = set()
        for word in re.findall(r"\w+", found.group(1)) if found else ():
            if word in FUNCTION_WORDS:
                if head:
                    break
                continue
            head.add(stem(word))
        tables = self._schema.schema.tables
        return {one.name.casefold() for one in tables if stems(split_name(one.own_name)) <= head}
