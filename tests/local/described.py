"""What the linker and the parser are shown of a question, as names and numbers for cases.

    python -m tests.local.described

writes what is found into the cases of tests/cases/local, also into new ones that hold nothing but
the question. Read the difference before you keep it.
"""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from tokenizers import Tokenizer

from sqlwright.english.as_trained import Word
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import KEYWORDS, linearize
from sqlwright.local.linker.features import phrase_features, value_features, word_features
from sqlwright.local.linker.linker import Linker, evidence
from sqlwright.local.models import WEIGHTS, EmbeddedModels
from sqlwright.local.parser.encode import encode
from sqlwright.local.parser.nodes import (
    DEFAULT_RELATIONS,
    FEATURES,
    RELATIONS,
    Budget,
    Node,
    TableNode,
    ValueNode,
    WordPieces,
)
from sqlwright.local.parser.parser import Parser
from sqlwright.local.parser.pointers import to_tokens
from sqlwright.local.question.arrays import encode_question, match_words
from sqlwright.local.question.schema import FLAGS, encode_schema
from sqlwright.local.question.support import Support, senses, support
from sqlwright.protocols import FloatArray, Run
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, SchemaView, Table
from sqlwright.types import Question, ValueMatch
from tests.form.notation import CASES, cases
from tests.indexes.values_data import LetterEmbedder
from tests.local.linker.test_groups import CROWD
from tests.local.linker.test_linker import MUSIC
from tests.local.parser.test_dating import SALES
from tests.local.singers import MALE, SINGERS
from tests.local.test_critic import candidate, described, state

BUSINESS = Schema(
    "business",
    (
        Table(
            "customer",
            (
                Column("customer_id", "INTEGER"),
                Column("full_name", "TEXT"),
                Column("birth_dt", "DATE", description="the day on which somebody was born"),
                Column("active", "BOOLEAN"),
            ),
            ("customer_id",),
        ),
        Table(
            "sale",
            (
                Column("id", "INTEGER"),
                Column("customer_id", "INTEGER"),
                Column("qty", "INTEGER"),
                Column("unit_price", "REAL"),
                Column("A7", "TEXT", label="shipping country"),
            ),
            ("id",),
        ),
        Table("city_view", (Column("Name", ""),), (), "view"),
    ),
    (ForeignKey("sale", ("customer_id",), "customer", ("customer_id",)),),
)

WORDS = ("all", "exact", "spelling", "short", "cue", "static")
COLUMN_WORDS = (
    *(f"{name} {how}" for name in WORDS for how in ("mean", "low")),
    *("own", "own low", "own static", "has own", "spread", "count", "words", "named", "literal"),
    *("table", "own and table", "rank", "same name", "exact share", "rank in table", "rarest"),
)
TABLE_WORDS = (
    *("mean", "exact", "exact low", "static", "rank", "size", "neighbours", "named", "words"),
)
COLUMN_VALUES = ("best", "many", "long", "shared", "not a name", "literal", "table", "table shared")
COLUMN_PHRASES = (
    *("name", "context", "description", "phrase name", "phrase context", "phrase description"),
    *("standard context", "standard phrase", "rank context", "rank phrase"),
    *("won", "won most", "explained", "table", "phrase table"),
)
TABLE_PHRASES = ("table", "phrase table", "standard", "rank")


def ref(name: str) -> ColumnRef:
    return ColumnRef(*name.split("."))


def found_values(question: str, listed: list[list[Any]]) -> list[ValueMatch]:
    """Stored values as cases list them: the words of the question, the column, the text, the
    score."""
    values = []
    for said, column, text, score in listed:
        start = question.index(said)
        values.append(ValueMatch(said, ref(column), text, score, 1, (start, start + len(said))))
    return values


def rounded(names: tuple[str, ...], values: FloatArray) -> dict[str, float]:
    """The values that aren't zero, by name."""
    assert len(names) == len(values)
    pairs = zip(names, values.tolist(), strict=True)
    return {name: round(value, 3) for name, value in pairs if round(value, 3)}


def link_features(case: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The linker's features of the columns and tables that a case names."""
    embedder = LetterEmbedder()
    schema = encode_schema(BUSINESS, embedder, embedder)
    question = Question(case["asked"], evidence=case.get("evidence", ""))
    asked = encode_question(question, embedder, embedder)
    matches = match_words(asked, schema)
    values = found_values(case["asked"], case.get("values", []))
    rows = np.arange(len(schema.columns))
    columns, tables = word_features(asked, schema, matches)
    by_value, tables_by_value = value_features(asked, schema, values)
    evident = matches.best[:, schema.column_words].max(axis=2)
    by_phrase, tables_by_phrase = phrase_features(asked, schema, rows, evident)
    found = {}
    for name in case["features"]:
        if "." in name:
            at = schema.columns.index(ref(name))
            parts = (
                rounded(COLUMN_WORDS, columns[at]),
                rounded(COLUMN_VALUES, by_value[at]),
                rounded(COLUMN_PHRASES, by_phrase[at]),
            )
        else:
            at = schema.tables.index(name)
            parts = (
                rounded(TABLE_WORDS, tables[at]),
                rounded(("best", "shared"), tables_by_value[at]),
                rounded(TABLE_PHRASES, tables_by_phrase[at]),
            )
        prefixes = ("word", "value", "phrase")
        found[name] = {
            f"{prefix}: {key}": value
            for prefix, part in zip(prefixes, parts, strict=True)
            for key, value in part.items()
        }
    speaks = evidence(asked, schema, matches, rows, values)
    for name in case["features"]:
        if name in schema.schema.by_group:
            at = schema.members.leaders.index(name)
            for part in ("explained", "named", "asked"):
                found[name][f"group: {part}"] = round(float(getattr(speaks, part)[at]), 3)
    return found


def schema_facts() -> dict[str, Any]:
    """What the linker knows of each column whatever is asked."""
    embedder = LetterEmbedder()
    schema = encode_schema(BUSINESS, embedder, embedder)
    words = (*schema.vocabulary, "-")
    texts = schema.vectors.texts
    columns = {}
    for at, column in enumerate(schema.columns):
        columns[str(column)] = {
            "words": [words[place] for place in schema.column_words[at] if place < len(words) - 1],
            "own": schema.own_words[at].astype(int).tolist(),
            "flags": [FLAGS[slot] for slot in np.flatnonzero(schema.flags[at])],
            "rarity": [round(float(schema.rarity[place]), 3) for place in schema.column_words[at]],
            "same name": round(float(schema.same_name[at]), 3),
            "texts": [
                texts[number[at]]
                for number in (schema.name_texts, schema.context_texts, schema.description_texts)
            ],
        }
    tables = {
        name: {
            "words": [words[place] for place in schema.table_words[at] if place < len(words) - 1],
            "text": texts[schema.table_texts[at]],
            "neighbours": [schema.tables[other] for other in np.flatnonzero(schema.neighbours[at])],
        }
        for at, name in enumerate(schema.tables)
    }
    keys = [[str(schema.columns[at]) for at in pair] for pair in schema.key_places]
    return {"columns": columns, "tables": tables, "keys": keys}


def supported(case: dict[str, Any]) -> tuple[Support, dict[str, Any]]:
    """What explains the words of a question."""
    embedder = LetterEmbedder()
    schema = encode_schema(BUSINESS, embedder, embedder)
    values = found_values(case["asked"], case.get("values", []))
    found = support(Question(case["asked"]), schema, values, embedder)
    alike = senses(found, schema, schema.columns, schema.tables)
    words: dict[str, Any] = {}
    for at, token in enumerate(found.tokens):
        parts = {
            "name": found.by_name[at],
            "value": found.by_value[at],
            "meant value": found.by_meant_value[at],
            "cue": found.by_cue[at],
            "meaning": found.by_meaning[at],
            "sense": alike.best[at],
            "sense of sale": alike.among(["sale", ref("sale.qty")])[at],
        }
        words[token.text] = {
            name: round(float(value), 2) for name, value in parts.items() if round(float(value), 2)
        }
    return found, {
        "words": words,
        "unexplained": list(found.unexplained(alike)),
        "untold": list(found.unexplained(alike, {"weather"})),
        "missing": list(found.missing(alike)),
        "missing words": list(found.missing()),
        "names missing": found.names_missing,
    }


def shown_to_parser(case: dict[str, Any], pieces: WordPieces) -> dict[str, Any]:
    """The nodes of the parser's input with their features, and the relations that say something."""
    question = Question(case["asked"], evidence=case.get("evidence", ""))
    values = found_values(case["asked"], case.get("values", []))
    enumerations = {ref(name): texts for name, texts in case.get("enumerations", {}).items()}
    budget = Budget(**case["budget"]) if "budget" in case else Budget()
    encoded = encode(question, BUSINESS, values, enumerations, pieces, budget=budget)
    names = [_named(node) for node in encoded.nodes]
    nodes = {
        name: " ".join(one for bit, one in enumerate(FEATURES) if features & (1 << bit))
        for name, features in zip(names, encoded.node_features.tolist(), strict=True)
    }
    kinds = encoded.node_kinds
    plain = DEFAULT_RELATIONS[kinds[:, None], kinds[None, :]]
    relations: dict[str, list[str]] = {}
    for row, column in np.argwhere(encoded.relations != plain).tolist():
        name = RELATIONS[encoded.relations[row, column]]
        if not name.startswith("word+") and not name.startswith("word-3"):
            relations.setdefault(name, []).append(f"{names[row]} > {names[column]}")
    layout = [
        "|" if owner < 0 else names[owner] + (" *" if bits & (1 << FEATURES.index("start")) else "")
        for owner, bits in zip(encoded.node_of_piece, encoded.features.tolist(), strict=True)
    ]
    return {
        "nodes": nodes,
        "relations": {name: relations[name] for name in sorted(relations)},
        "pieces": " ".join(layout),
    }


def pointed_at(case: dict[str, Any], pieces: WordPieces) -> list[str] | None:
    """What the decoder would have to point at to write the query of a case."""
    question = Question(case["asked"])
    values = found_values(case["asked"], case.get("values", []))
    encoded = encode(question, BUSINESS, values, {}, pieces)
    symbols = linearize(read_sql(case["sql"], BUSINESS))
    tokens = to_tokens(symbols, encoded, question)
    if tokens is None:
        return None
    names = [*KEYWORDS, "", *map(_named, encoded.nodes)]
    return [" ".join(names[one] for one in token) for token in tokens]


def _named(node: Node) -> str:
    if isinstance(node, Word):
        return node.text if not node.evidence else f"({node.text})"
    if isinstance(node, TableNode):
        return node.table
    return f"{node.column}={node.value}" if isinstance(node, ValueNode) else str(node)


def judged(case: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The critic's features of each query of a case; what is zero is left out."""
    static = StaticEmbedder.load(Path(WEIGHTS))
    values = found_values(case["asked"], case.get("values", []))
    queries = list(case["queries"])
    pool = [candidate(sql, ("x",), score=-1.0 - place) for place, sql in enumerate(queries)]
    features = described(state(case["asked"], *values), pool, static)
    return {
        sql: {name: round(value, 3) for name, value in sorted(own.items()) if round(value, 3)}
        for sql, own in zip(queries, features, strict=True)
    }


ASKED_FOR = (
    *("count", "most", "least", "average", "total", "when", "who", "id", "each", "not"),
    "more or less",
)


def kinds_asked(text: str) -> list[str]:
    """The kinds of things that a question asks for."""
    embedder = LetterEmbedder()
    asks = encode_question(Question(text), embedder, embedder).asks
    assert asks[len(ASKED_FOR)] == any(letter.isdigit() for letter in text)
    assert asks[-1] == 0.0
    return [name for name, asked in zip(ASKED_FOR, asks, strict=False) if asked]


@cache
def models() -> EmbeddedModels:
    return EmbeddedModels()


def linked(case: dict[str, Any]) -> dict[str, Any]:
    """What the linker says of a question over the music schema or a crowd of groups of tables."""
    # One of its own: what texts are embedded together with changes their vectors a little.
    linker = Linker.load(Path(WEIGHTS), embedder=models()["embedder"])
    question = Question(case["asked"], evidence=case.get("evidence", ""))
    values = found_values(case["asked"], case.get("values", []))
    if case.get("crowd"):
        links = linker.link_by_group(question, CROWD, values)
        return {
            "groups": {link.leader: round(link.score, 2) for link in links.groups[:5]},
            "columns": {str(link.column): round(link.score, 2) for link in links.columns[:5]},
            "tables": {link.table: round(link.score, 2) for link in links.tables[:3]},
        }
    links = linker.link(question, MUSIC, values)
    return {
        "columns": {str(link.column): round(link.score, 2) for link in links.columns[:6]},
        "tables": {link.table: round(link.score, 2) for link in links.tables},
    }


def parsed(case: dict[str, Any]) -> dict[str, Any]:
    """What the parser writes for a question over the singers or the sales."""
    parser: Parser = models()["parser"]
    run = Run(today=date(2024, 5, 15))
    values = found_values(case["asked"], case.get("values", []))
    schema = SALES if case.get("schema") == "sales" else SINGERS
    enumerations = {MALE: ("T", "F")}
    found = parser.parse(
        Question(case["asked"]), SchemaView(schema), values, enumerations=enumerations, run=run
    )
    best = found[0]
    return {
        "sql": best.sql,
        "columns": [str(column) for column in best.columns],
        "tables": list(best.tables),
        "values": [f"{value.column}={value.value}" for value in best.values],
        "score": round(best.score, 1),
        "queries": len(found),
    }


FOUND = {
    "links": ("found", linked),
    "parsed": ("found", parsed),
    "linker": ("features", link_features),
    "support": ("found", lambda case: supported(case)[1]),
    "critic": ("queries", judged),
}
"""What is written into each file of cases, and what gives it."""


def main() -> None:
    """Write what is found into the cases, also into new ones. Read the difference."""
    tokenizer = Tokenizer.from_file(str(Path(WEIGHTS) / "tokenizer.json"))
    pieces = WordPieces(tokenizer)
    made = FOUND | {"parser_input": ("shown", lambda case: shown_to_parser(case, pieces))}
    for name, (key, found) in made.items():
        listed = cases(f"local/{name}.yaml")
        _write(name, [{**case, key: found(case)} for case in listed])
    _write("schema", schema_facts())


def _write(name: str, content: object) -> None:
    path = CASES / "local" / f"{name}.yaml"
    head = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
    text = yaml.safe_dump(
        content, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None
    )
    path.write_text("\n".join([*head, text]), encoding="utf-8")


if __name__ == "__main__":
    main()
