"""The same question over a schema that calls something by another name.

A thing that the question names as the schema does ("student") becomes another thing ("vendor") in
both, so that nothing is learnt by heart of which words go with which database.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from training.embedded.questions.augment import replace_table

from sqlwright.english.as_trained import STOP_WORDS, phrase_matches, split_name, split_words, stem
from sqlwright.schema import Column, Schema, Table
from sqlwright.sql.declared_types import type_feature
from sqlwright.types import Question, ValueMatch

KEPT = frozenset("id name first last number date year time code type".split())
"""Words whose meaning a query's shape often depends on."""


@dataclass(frozen=True)
class NamePool:
    """Names seen in many schemas, by what they name: 'table' or a type feature."""

    by_kind: Mapping[str, Sequence[tuple[str, ...]]]

    @classmethod
    def collect(cls, schemas: Iterable[Schema]) -> NamePool:
        """Readable names of one to three words of all tables and columns."""
        found: dict[str, dict[tuple[str, ...], None]] = defaultdict(dict)
        for schema in schemas:
            for table in schema.tables:
                found["table"][tuple(_words(table))] = None
                for column in table.columns:
                    found[type_feature(column.type)][tuple(_words(column))] = None
        return cls(
            {
                kind: [
                    words
                    for words in names
                    if len(words) <= 3
                    and all(word.isalpha() and len(word) > 2 for word in words)
                    and not KEPT.intersection(words)
                ]
                for kind, names in found.items()
            }
        )


def _words(item: Table | Column) -> list[str]:
    return split_name(item.label) if item.label else split_name(item.name)


@dataclass(frozen=True)
class NamedExample:
    """A question, a schema and the question's values that belong together."""

    question: Question
    schema: Schema
    values: Sequence[ValueMatch]


def rename(shown: NamedExample, names: NamePool, rng: random.Random, most: int = 2) -> NamedExample:
    """Give up to `most` things that the question names another name in question and schema."""
    for _ in range(rng.randint(1, most)):
        shown = _rename_one(shown, names, rng)
    return shown


def _rename_one(shown: NamedExample, names: NamePool, rng: random.Random) -> NamedExample:
    words = split_words(shown.question.text)
    stems = [stem(word.text) for word in words]
    taken = {stem(word) for item in _items(shown.schema) for word in _words(item)}
    taken.update(stems)
    options: dict[tuple[str, ...], str] = {}
    for item in _items(shown.schema):
        own = tuple(stem(word) for word in _words(item))
        if len(own) > 2 or KEPT.intersection(own) or STOP_WORDS.intersection(own):
            continue
        if phrase_matches(stems, own):
            options.setdefault(own, "table" if isinstance(item, Table) else type_feature(item.type))
    if not options:
        return shown
    old = rng.choice(sorted(options))
    pool = names.by_kind.get(options[old], ())
    fresh = [name for name in rng.sample(pool, min(8, len(pool)))
             if not taken.intersection(map(stem, name))]  # fmt: skip
    if not fresh:
        return shown
    edits = []
    for span in phrase_matches(stems, old):
        first, last = words[span.start], words[span.stop - 1]
        if any(m.span and m.span[0] < last.end and first.start < m.span[1] for m in shown.values):
            return shown
        edits.append((first.start, last.end, _inflected(fresh[0], last.text)))
    return NamedExample(
        Question(_edited(shown.question.text, edits), shown.question.evidence),
        _renamed_schema(shown.schema, old, fresh[0]),
        [_moved(match, edits) for match in shown.values],
    )


def _items(schema: Schema) -> Iterable[Table | Column]:
    for table in schema.tables:
        yield table
        yield from table.columns


def _inflected(name: Sequence[str], like: str) -> str:
    """A name in the plural where the word it replaces was."""
    text = " ".join(name)
    plural = like.lower().endswith("s") and stem(like) != like.lower()
    if not plural or text.endswith("s"):
        return text
    return text[:-1] + "ies" if text.endswith("y") else text + "s"


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _moved(match: ValueMatch, edits: Sequence[tuple[int, int, str]]) -> ValueMatch:
    if match.span is None:
        return match
    by = sum(len(new) - (end - start) for start, end, new in edits if end <= match.span[0])
    return replace(match, span=(match.span[0] + by, match.span[1] + by))


def _renamed_schema(schema: Schema, old: tuple[str, ...], new: tuple[str, ...]) -> Schema:
    tables = []
    for table in schema.tables:
        columns = tuple(
            replace(column, label=_renamed_label(column, old, new)) for column in table.columns
        )
        tables.append(replace_table(table, columns, _renamed_label(table, old, new)))
    return Schema(schema.name, tuple(tables), schema.foreign_keys, schema.dialect)


def _renamed_label(item: Table | Column, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    words = _words(item)
    stems = [stem(word) for word in words]
    found = phrase_matches(stems, old)
    if not found:
        return item.label
    at = found[0]
    return " ".join([*words[: at.start], *new, *words[at.stop :]])
