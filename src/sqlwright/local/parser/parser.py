"""The embedded parser: turns a question and a schema into ranked queries, without a language model.

An encoder reads the question, the names and the values as nodes and attends over them by the
relation of each pair (RAT-SQL, Wang et al. 2020, section 3); a decoder points at keywords and
nodes, one a step.

Numbers that spans of time are compared with are given the units that the question names. The parser
points at “30” where a question says “late by more than 30 minutes”. Of a column of
minutes that is right; a column of intervals compares with an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sqlwright.english.as_trained import Word
from sqlwright.english.bounds import spans_of_time
from sqlwright.english.dates import Moment, moments
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.embedder.onnx import LOWER, TextFront, WordTable
from sqlwright.local.form import nodes as f
from sqlwright.local.form.facts import form_facts
from sqlwright.local.form.nodes import Column, Query
from sqlwright.local.form.sequence.grammar import delinearize
from sqlwright.local.form.sequence.symbols import KEYWORDS, TableSymbol
from sqlwright.local.form.walking import changed, inside
from sqlwright.local.form.write.kinds import Kinds, kind_of_type
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.form.written import WrittenForm, query_in
from sqlwright.local.numerics import sigmoid
from sqlwright.local.parser.constants import Grounding
from sqlwright.local.parser.dating import Dating
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.local.parser.dressing.moments import as_meant
from sqlwright.local.parser.dressing.undress import undress
from sqlwright.local.parser.encode import encode
from sqlwright.local.parser.grouping import Grouping, unit_of
from sqlwright.local.parser.nodes import FEATURES, Budget, Encoded, ValueNode, WordPieces
from sqlwright.local.parser.plausible import is_senseless, mixes_types, works_out_nonsense
from sqlwright.local.parser.pointers import BEGIN, FIRST_NODE
from sqlwright.local.parser.search import Floats, Hypothesis, Search
from sqlwright.local.question.retelling import Retelling, untold
from sqlwright.local.runtime import open_session
from sqlwright.protocols import Parsed, Run
from sqlwright.schema import ColumnRef, Detail, Schema, SchemaView
from sqlwright.sql.declared_types import type_feature
from sqlwright.sql.facts import QueryFacts
from sqlwright.types import Question, ValueMatch
from sqlwright.types.stored import Formats

if TYPE_CHECKING:
    import onnxruntime


@dataclass(frozen=True)
class Memory:
    """The encoder's outputs for an input, for the decoder. N nodes."""

    inputs: Floats
    """(1, N, 384)"""
    keys: Floats
    """(1, N, 384)"""
    memory: Floats
    """(1, N, 2 · layers · 384)"""


class Decoder:
    """An exported decoder. Raises ValueError where it knows more keywords than there are."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self.session = session
        shapes = {given.name: given.shape for given in session.get_inputs()}
        layers, _, heads, _, size = shapes["past"]
        self._nothing = np.zeros((layers, 1, heads, 0, size), dtype=np.float32)
        self.known = self._count()
        if self.known > len(KEYWORDS):
            raise ValueError(f"the parser's weights know {self.known} keywords of {len(KEYWORDS)}")

    def _count(self) -> int:
        """The number of keywords that it gives a logit, beside the start and the one node."""
        shapes = {given.name: given.shape for given in self.session.get_inputs()}
        width, inner = shapes["inputs"][-1], shapes["memory"][-1]
        one = Memory(*(np.zeros((1, 1, size), dtype=np.float32) for size in (width, width, inner)))
        logits, _ = self.step(one, np.zeros(1, dtype=np.int64), self._nothing)
        return int(logits.shape[1]) - 2

    def step(
        self, reading: Memory, tokens: npt.NDArray[np.int64], past: Floats
    ) -> tuple[Floats, Floats]:
        """Logits in the weights' own numbers, and what to remember."""
        feeds = {
            "inputs": reading.inputs,
            "keys": reading.keys,
            "memory": reading.memory,
            "tokens": tokens,
            "past": np.ascontiguousarray(past),
        }
        logits, present = self.session.run(["logits", "present"], feeds)
        return np.asarray(logits, dtype=np.float32), present

    def search(self, reading: Memory) -> Decoding:
        """A decoder that remembers one search."""
        return Decoding(self, reading, self._nothing)


class Decoding:
    """The decoder's memory of the live hypotheses of one search."""

    def __init__(self, decoder: Decoder, reading: Memory, past: Floats) -> None:
        self._decoder = decoder
        self._reading = reading
        # (layers · 2, hypotheses, heads, steps, size)
        self._past = past

    def __call__(self, tokens: Sequence[int], parents: Sequence[int]) -> Floats:
        """See `search.Steps`. The keys and values of earlier steps are kept, by parent."""
        known = self._decoder.known
        own = np.array(tokens, dtype=np.int64)
        own[own >= BEGIN] -= BEGIN - known
        logits, self._past = self._decoder.step(self._reading, own, self._past[:, list(parents)])
        if known == len(KEYWORDS):
            return logits
        width = FIRST_NODE + logits.shape[1] - known - 1
        widened = np.full((len(logits), width), -np.inf, dtype=np.float32)
        widened[:, :known] = logits[:, :known]
        widened[:, BEGIN:] = logits[:, known:]
        return widened


def with_units(form: f.Query, schema: Schema, question: str) -> f.Query:
    """The form with “30 minutes” in place of 30, wherever an interval is compared with it."""
    named = spans_of_time(question)
    columns = (one for table in schema.tables for one in table.columns)
    if not named or not any(kind_of_type(one.type) == "span" for one in columns):
        return form
    kinds = Kinds(schema)

    def spanning(node: object) -> object:
        match node:
            case f.Comparison(operator, left, right):
                if _is_span(left, kinds):
                    return f.Comparison(operator, left, _lasting(right, named))
                if _is_span(right, kinds):
                    return f.Comparison(operator, _lasting(left, named), right)
            case f.Between(operand, low, high, negated) if _is_span(operand, kinds):
                return f.Between(operand, _lasting(low, named), _lasting(high, named), negated)
        return node

    return changed(form, spanning)


def _is_span(node: f.Expression, kinds: Kinds) -> bool:
    # Columns of derived tables have no kind outside their query.
    is_own = isinstance(node, f.Column) or (
        isinstance(node, f.Aggregate) and isinstance(node.operand, f.Column)
    )
    return is_own and kinds.of(node) == "span"


def _lasting(node: f.Expression, named: dict[float, str]) -> f.Expression:
    if not isinstance(node, f.Literal):
        return node
    try:
        said = named.get(float(node.value))
    except ValueError:
        return node
    return node if said is None else f.Literal(said)


FILES = (
    "parser_encoder.onnx",
    "parser_decoder.onnx",
    LOWER,
    "word_embeddings.npy",
    "word_scales.npy",
    "tokenizer.json",
)
"""The files that `Parser.load` reads from the weights folder."""

BUDGET = Budget(pieces=352, nodes=176)
"""Most word pieces and nodes of an input, as in training; larger schemas keep their most promising
columns."""


@dataclass(frozen=True)
class EncodedReading:
    """An encoded input with the encoder's outputs. N nodes."""

    encoded: Encoded
    links: Floats
    """(N,) probability that the query needs a node."""
    memory: Memory


@dataclass(frozen=True)
class _Request:
    """The arguments of one call of `Parser.parse`, but for the question."""

    view: SchemaView
    values: Sequence[ValueMatch]
    enumerations: Mapping[ColumnRef, Sequence[str]]
    dates: Mapping[ColumnRef, bool]
    formats: Formats
    beam: int
    run: Run | None

    def is_time(self, column: Column) -> bool:
        """True of a column of dates or times, by its values or else as declared."""
        if column.ref in self.formats:
            return self.formats[column.ref].is_date
        found = self.view.schema.column(column.ref)
        declared = found is not None and type_feature(found.type) == "time-type"
        return self.dates.get(column.ref, declared)


class Parser:
    """Holds no state between questions; one parser serves many threads."""

    def __init__(
        self,
        front: TextFront,
        encoder: onnxruntime.InferenceSession,
        decoder: onnxruntime.InferenceSession,
    ) -> None:
        self.front = front
        self._encoder = encoder
        self._decoder = Decoder(decoder)
        self._pieces = WordPieces(front.tokenizer)

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        words: WordTable | None = None,
        front: TextFront | None = None,
    ) -> Parser:
        """Read the files named in FILES; a loaded word table or front is shared if given.

        Raises ModelUnavailable when a file is missing or damaged.
        """
        encoder = open_session(folder / FILES[0])
        decoder = open_session(folder / FILES[1], small=True)
        front = front or TextFront.load(folder, words=words)
        return cls(front, encoder, decoder)

    def parse(
        self,
        question: Question,
        view: SchemaView,
        values: Sequence[ValueMatch],
        *,
        enumerations: Mapping[ColumnRef, Sequence[str]] | None = None,
        dates: Mapping[ColumnRef, bool] | None = None,
        formats: Formats | None = None,
        beam: int = 8,
        run: Run | None = None,
    ) -> list[Parsed]:
        """At most `beam` different queries, best first; empty when nothing can be said. “Last
        month” is reckoned from the run's day, today's without one. `dates` says which columns hold
        dates, the declaration of those not in it; `formats`, which have to be converted first.

        Raises Cancelled when the run is.
        """
        if not question.text.strip():
            return []
        today = date.today() if run is None else run.today
        named = untold(moments(question.text, today), values)
        request = _Request(view, values, enumerations or {}, dates or {}, formats or {}, beam, run)
        queries = self._parse(question, named, request)
        if not named:
            return queries
        texts = {text for query in queries for text in _facts(query, request).texts}
        is_dated = any(request.is_time(Column(ref)) for ref in view.visible)
        if not is_dated and not any(moment.is_among(texts) for moment in named):
            # Not a date of this database's, or written otherwise there.
            return self._parse(question, (), request)
        return queries

    def _parse(
        self, question: Question, named: Sequence[Moment], request: _Request
    ) -> list[Parsed]:
        """The queries for the question with these moments replaced by years."""
        view, run = request.view, request.run
        retold = Retelling(question, named, request.values)
        reading = self.read(
            retold.question,
            view,
            retold.values,
            enumerations=request.enumerations,
            formats=request.formats,
            dates=request.dates,
        )
        words = [node for node in reading.encoded.nodes if isinstance(node, Word)]
        formats = request.formats
        schema = as_meant(view.visible_schema(), formats, request.dates)
        grounding = Grounding(retold.question, words, schema, retold.values, request.enumerations)

        def likeliest(tables: Set[str]) -> ColumnRef | None:
            """The column of dates in some tables that the question needs most probably."""
            likely = zip(reading.links, reading.encoded.nodes, strict=True)
            refs = ((link, node) for link, node in likely if isinstance(node, ColumnRef))
            found = [
                one for one in refs if one[1].table in tables and request.is_time(Column(one[1]))
            ]
            return max(found, default=(0.0, None))[1]

        dating = Dating(question.text, named, request.is_time)
        grouping = Grouping(question.text, request.is_time, likeliest)

        def within(groups: Mapping[str, str] | None) -> list[Parsed]:
            """The queries over tables of one group each; over any tables without groups."""
            search = Search(reading.encoded, grounding, request.beam, groups=groups)
            hypotheses = search.run(self._decoder.search(reading.memory), run)

            def written(*, added: bool) -> list[Parsed]:
                def timed(form: Query) -> Query:
                    return grouping.query(dating.query(form), added=added)

                return _written(hypotheses, question.text, timed, request)

            queries = written(added=False)
            if grouping.is_of_each and not any(_by_time(_facts(one, request)) for one in queries):
                return written(added=True)
            return queries

        groups = view.schema.group_of
        queries = within(groups if view.schema.has_many_groups else None)
        if not queries and not view.schema.has_many_groups and len(set(groups.values())) > 1:
            # Tables without a key to others are rarely asked about together with them: only where
            # nothing else can be written is each group of tables a database of its own.
            queries = within(groups)
        by_time = bool(unit_of(question.text))
        queries = _using_most_dates(queries, named, request, by_time=by_time)
        return [
            replace(query, values=tuple(map(retold.original, query.values))) for query in queries
        ]

    def read(
        self,
        question: Question,
        view: SchemaView,
        values: Sequence[ValueMatch],
        *,
        enumerations: Mapping[ColumnRef, Sequence[str]] | None = None,
        formats: Formats | None = None,
        dates: Mapping[ColumnRef, bool] | None = None,
    ) -> EncodedReading:
        """Run the encoder alone, for the columns, tables and values that the question needs."""
        priority = {ref: 1.0 for ref in view.visible if view.detail(ref) is Detail.FULL}
        encoded = encode(
            question,
            as_meant(view.visible_schema(), formats or {}, dates or {}),
            values,
            enumerations or {},
            self._pieces,
            budget=BUDGET,
            priority=priority,
            described=True,
            further=True,
        )
        link, inputs, keys, memory = self._encoder.run(
            ["link", "inputs", "keys", "memory"], self._feeds(encoded)
        )
        return EncodedReading(encoded, sigmoid(link[0]), Memory(inputs, keys, memory))

    def _feeds(self, encoded: Encoded) -> dict[str, npt.NDArray[Any]]:
        """The encoder's inputs, as a batch of one. `pool` (1, N, T) averages a node's pieces."""
        length, nodes = len(encoded.pieces), len(encoded.nodes)
        pool = np.zeros((nodes, length), dtype=np.float32)
        owned = np.flatnonzero(encoded.node_of_piece >= 0)
        pool[encoded.node_of_piece[owned], owned] = 1.0
        pool /= np.maximum(pool.sum(axis=1, keepdims=True), 1.0)
        return {
            "lower": self.front.lower(
                self.front.words.look_up(encoded.pieces)[None],
                np.ones((1, length), dtype=np.float32),
            ),
            "features": feature_flags(encoded.features)[None],
            "pool": pool[None],
            "node_features": feature_flags(encoded.node_features)[None],
            "relations": encoded.relations.astype(np.int64)[None],
        }


def feature_flags(bits: npt.NDArray[np.uint32]) -> Floats:
    """Bits of FEATURES as 0 and 1, shape (*bits.shape, len(FEATURES))."""
    places = np.arange(len(FEATURES), dtype=np.uint32)
    return ((bits[..., None] >> places) & 1).astype(np.float32)


def _using_most_dates(
    queries: Sequence[Parsed], named: Sequence[Moment], request: _Request, *, by_time: bool
) -> list[Parsed]:
    """The queries that use the most of the question's dates. With `by_time`, where the question
    wants something for each day or year, grouping by a date counts as one more."""
    if not named and not by_time:
        return list(queries)
    counts = [
        sum(moment.is_among(facts.texts) for moment in named) + (by_time and _by_time(facts))
        for facts in (_facts(query, request) for query in queries)
    ]
    return [query for query, count in zip(queries, counts, strict=True) if count == max(counts)]


def _by_time(facts: QueryFacts) -> bool:
    return any(key.dates for select in facts.selects for key in select.grouping)


def _written(
    hypotheses: Sequence[Hypothesis],
    question: str,
    timed: Callable[[Query], Query],
    request: _Request,
) -> list[Parsed]:
    """The different queries that are plausible and can be written, in order; `timed` gives a query
    the times that the question names."""
    forms, view = [], request.view
    meant = as_meant(view.schema, request.formats, request.dates)
    for hypothesis in hypotheses:
        try:
            form = timed(delinearize(hypothesis.symbols))
            form = with_units(form, view.schema, question)
        except UnsupportedQuery:
            continue
        if is_senseless(form) or mixes_types(form, meant):
            continue
        if not works_out_nonsense(form, meant):
            forms.append((dress(form, request.formats), hypothesis))
    # A join may lead through tables that the view hides; but in a wide schema keys lead from
    # anywhere to anywhere, and a query that needs no hidden table is more probably meant.
    return _written_over(forms, view.visible_schema()) or _written_over(forms, view.schema)


def _written_over(forms: Sequence[tuple[Query, Hypothesis]], schema: Schema) -> list[Parsed]:
    """The different queries that can be written over a schema."""
    queries: dict[str, Parsed] = {}
    for form, hypothesis in forms:
        try:
            sql = write_sql(form, schema)
        except UnsupportedQuery:
            continue
        queries.setdefault(sql, _parsed(sql, form, hypothesis))
    return list(queries.values())


def _parsed(sql: str, form: Query, hypothesis: Hypothesis) -> Parsed:
    columns = [symbol for symbol in hypothesis.symbols if isinstance(symbol, ColumnRef)]
    columns += [column.ref for column in inside(form, Column)]
    tables = [column.table for column in columns]
    tables += [s.name for s in hypothesis.symbols if isinstance(s, TableSymbol)]
    return Parsed(
        sql,
        hypothesis.score,
        tuple(dict.fromkeys(columns)),
        tuple(dict.fromkeys(tables)),
        tuple(dict.fromkeys(_match(value) for value in hypothesis.values)),
        WrittenForm(form),
    )


def _facts(parsed: Parsed, request: _Request) -> QueryFacts:
    """The meaning of a query, but for what its columns' formats need."""
    return form_facts(undress(query_in(parsed.form), request.formats), request.view.schema)


def _match(node: ValueNode) -> ValueMatch:
    return node.match or ValueMatch(node.value, node.column, node.value, 0.0)
