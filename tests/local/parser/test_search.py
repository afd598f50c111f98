"""Beam search with a scripted scorer in place of the decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from sqlwright.english.as_trained import Word
from sqlwright.errors import Cancelled
from sqlwright.local.form.sequence.grammar import delinearize
from sqlwright.local.form.sequence.symbols import BY_NAME
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.models import WEIGHTS
from sqlwright.local.parser.constants import Grounding
from sqlwright.local.parser.encode import encode
from sqlwright.local.parser.nodes import WORD, Encoded, WordPieces
from sqlwright.local.parser.pointers import FIRST_NODE
from sqlwright.local.parser.search import Floats, Search
from sqlwright.protocols import Run
from sqlwright.schema import Column, ColumnRef, Schema
from sqlwright.types import Question
from tests.local.singers import AGE, COUNTRY, SINGERS, YEAR

QUESTION = Question("ages of singers from New York older than 20")


@pytest.fixture(scope="module")
def encoded() -> Encoded:
    path = Path(WEIGHTS) / "tokenizer.json"
    if not path.exists():
        pytest.skip("the weights aren't there")
    return encode(QUESTION, SINGERS, (), {}, WordPieces(Tokenizer.from_file(str(path))))


class Scripted:
    """Gives each wanted token a high score at its step, and everything else noise."""

    def __init__(self, wanted: Sequence[int], width: int, seed: int = 0, sure: float = 8.0) -> None:
        self.wanted = wanted
        self.sure = sure
        self.width = width
        self.random = np.random.default_rng(seed)
        self.step = 0

    def __call__(self, tokens: Sequence[int], parents: Sequence[int]) -> Floats:
        assert len(tokens) == len(parents)
        logits = self.random.normal(size=(len(tokens), self.width)).astype(np.float32)
        if self.step < len(self.wanted):
            logits[:, self.wanted[self.step]] += self.sure
        self.step += 1
        return logits


def search(encoded: Encoded, width: int) -> Search:
    words = [node for node in encoded.nodes if isinstance(node, Word)]
    return Search(encoded, Grounding(QUESTION, words, SINGERS, (), {}), width)


def script(encoded: Encoded) -> list[int]:
    """select Age where Country = New York and Age > 20 end"""
    texts = [node.text if isinstance(node, Word) else "" for node in encoded.nodes]

    def at(node: object) -> int:
        return FIRST_NODE + encoded.nodes.index(node)  # type: ignore[arg-type]

    def word(text: str) -> int:
        return FIRST_NODE + texts.index(text)

    return [
        BY_NAME["select"].position,
        at(AGE),
        BY_NAME["where"].position,
        at(COUNTRY),
        BY_NAME["="].position,
        word("New"),
        word("York"),
        BY_NAME["and"].position,
        at(AGE),
        BY_NAME[">"].position,
        word("20"),
        word("20"),
        BY_NAME["end"].position,
    ]


def test_the_best_hypothesis_follows_the_scores(encoded: Encoded) -> None:
    width = FIRST_NODE + len(encoded.nodes)
    found = search(encoded, 4).run(Scripted(script(encoded), width))
    sql = write_sql(delinearize(found[0].symbols), SINGERS)
    assert "'New York'" in sql
    assert sql.rstrip().endswith("> 20")
    assert [item.score for item in found] == sorted((i.score for i in found), reverse=True)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_the_scores_every_hypothesis_can_be_read(encoded: Encoded, seed: int) -> None:
    width = FIRST_NODE + len(encoded.nodes)
    for hypothesis in search(encoded, 6).run(Scripted([], width, seed)):
        assert hypothesis.state.finished
        delinearize(hypothesis.symbols)


@pytest.mark.parametrize("apart", [True, False])
def test_a_query_stays_in_one_group_of_tables(encoded: Encoded, apart: bool) -> None:
    """However much a column of another group is preferred."""
    width = FIRST_NODE + len(encoded.nodes)
    wanted = script(encoded)
    wanted[8] = FIRST_NODE + encoded.nodes.index(YEAR)
    groups = {"singer": "singer", "concert": "concert" if apart else "singer"}
    words = [node for node in encoded.nodes if isinstance(node, Word)]
    grounding = Grounding(QUESTION, words, SINGERS, (), {})
    found = Search(encoded, grounding, 2, groups=groups).run(Scripted(wanted, width, seed=1))
    assert (YEAR in found[0].symbols) is not apart
    assert AGE in found[0].symbols


@pytest.mark.parametrize(
    ("symbols", "kept"),
    [
        (("sum",), False),
        (("avg",), False),
        (("max",), True),
        (("*",), False),
        (("*", AGE), False),
        (("-",), True),
        (("-", AGE), True),
    ],
)
def test_dates_are_not_added_up(symbols: tuple[str | ColumnRef, ...], kept: bool) -> None:
    """However much it is preferred: SQLite would add up the years of a date's text."""
    path = Path(WEIGHTS) / "tokenizer.json"
    if not path.exists():
        pytest.skip("the weights aren't there")
    hired = ColumnRef("singer", "Hired")
    table = replace(
        SINGERS.tables[0], columns=(*SINGERS.tables[0].columns, Column("Hired", "date"))
    )
    schema = Schema("s", (table,))
    encoded = encode(QUESTION, schema, (), {}, WordPieces(Tokenizer.from_file(str(path))))
    words = [node for node in encoded.nodes if isinstance(node, Word)]

    def token(symbol: str | ColumnRef) -> int:
        if isinstance(symbol, str):
            return BY_NAME[symbol].position
        return FIRST_NODE + encoded.nodes.index(symbol)

    wanted = [token(symbol) for symbol in ("select", *symbols, hired)]
    scripted = Scripted(wanted, FIRST_NODE + len(encoded.nodes), sure=60.0)

    def steps(tokens: Sequence[int], parents: Sequence[int]) -> Floats:
        logits = scripted(tokens, parents)
        logits[:, token("end")] += 30
        logits[:, token(AGE)] += 15
        return logits

    grounding = Grounding(QUESTION, words, schema, (), {})
    (found,) = Search(encoded, grounding, 1).run(steps)
    assert (hired in found.symbols) is kept


def test_a_literal_ends_where_it_begins_or_later(encoded: Encoded) -> None:
    width = FIRST_NODE + len(encoded.nodes)
    wanted = script(encoded)
    wanted[5], wanted[6] = wanted[6], wanted[5]  # 'York' to 'New' would run backwards
    sql = write_sql(
        delinearize(search(encoded, 1).run(Scripted(wanted, width))[0].symbols), SINGERS
    )
    assert "York" in sql
    assert "'New'" not in sql


def test_a_cancelled_run_stops_the_search(encoded: Encoded) -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(Cancelled):
        search(encoded, 2).run(Scripted([], FIRST_NODE + len(encoded.nodes)), run)


def test_only_words_can_be_in_a_literal(encoded: Encoded) -> None:
    hypothesis = search(encoded, 1)
    state = hypothesis.run(Scripted(script(encoded), FIRST_NODE + len(encoded.nodes)))[0]
    assert state.first is None
    kinds = encoded.node_kinds
    assert (kinds == WORD).sum() == len(QUESTION.text.split())


def beam(encoded: Encoded, wanted: Sequence[int], width: int = 1) -> str:
    """The best query where these tokens are preferred by far, and its end after them."""
    scripted = Scripted(wanted, FIRST_NODE + len(encoded.nodes), sure=60.0)

    def steps(tokens: Sequence[int], parents: Sequence[int]) -> Floats:
        logits = scripted(tokens, parents)
        logits[:, BY_NAME["end"].position] += 30
        return logits

    found = search(encoded, width).run(steps)
    assert len(found) <= width
    return write_sql(delinearize(found[0].symbols), SINGERS)


def token(encoded: Encoded, symbol: object) -> int:
    """A keyword, a word of the question or a column as the decoder's number."""
    if isinstance(symbol, str) and symbol in BY_NAME:
        return BY_NAME[symbol].position
    named = [node.text if isinstance(node, Word) else node for node in encoded.nodes]
    return FIRST_NODE + named.index(symbol)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "sql"),
    [
        (("select", AGE, "limit", "20", "20"), "SELECT Age FROM singer LIMIT 20"),
        (("select", AGE, "where", AGE, ">", "20", "20"), "SELECT Age FROM singer WHERE Age > 20"),
        (
            ("select", AGE, "where", COUNTRY, "contains", "New", "York"),
            "SELECT Age FROM singer WHERE Country LIKE '%New York%'",
        ),
        (
            ("select", AGE, "where", COUNTRY, "=", "New", "20"),
            "SELECT Age FROM singer WHERE Country = 'New York older than 20'",
        ),
    ],
)
def test_the_beam_takes_what_is_preferred_and_possible(
    encoded: Encoded, wanted: tuple[object, ...], sql: str
) -> None:
    assert beam(encoded, [token(encoded, symbol) for symbol in wanted]) == sql


def test_a_search_ends_after_so_many_symbols(encoded: Encoded) -> None:
    words = [node for node in encoded.nodes if isinstance(node, Word)]
    grounding = Grounding(QUESTION, words, SINGERS, (), {})
    wanted = [token(encoded, symbol) for symbol in ("select", AGE, "end")]
    for most, found in ((2, 0), (3, 1)):
        scripted = Scripted(wanted, FIRST_NODE + len(encoded.nodes), sure=60.0)
        assert len(Search(encoded, grounding, 1, most=most).run(scripted)) == found
        assert scripted.step == most


def test_a_number_of_rows_is_a_number_however_much_another_word_is_preferred(
    encoded: Encoded,
) -> None:
    preferred = [{"select": 60}, {AGE: 60}, {"limit": 60}, {"York": 20, "20": 10}, {"20": 60}]

    def steps(tokens: Sequence[int], parents: Sequence[int]) -> Floats:
        logits = np.zeros((len(tokens), FIRST_NODE + len(encoded.nodes)), dtype=np.float32)
        for symbol, much in (preferred.pop(0) if preferred else {"end": 60}).items():
            logits[:, token(encoded, symbol)] += much
        return logits

    (found,) = search(encoded, 1).run(steps)
    assert write_sql(delinearize(found.symbols), SINGERS) == "SELECT Age FROM singer LIMIT 20"
    # What was preferred and impossible keeps its share: its logit is ten higher.
    assert found.score == pytest.approx(-10.0, abs=0.1)
