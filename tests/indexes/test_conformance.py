"""What every value index must do, whatever its method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlwright.errors import ConfigError
from sqlwright.indexes.minhash import MinHashIndex
from sqlwright.indexes.substring import SubstringIndex
from sqlwright.indexes.values.index import build_value_index, memory_value_index, open_value_index
from sqlwright.indexes.vectors import VectorIndex
from sqlwright.protocols import ValueIndex
from tests.indexes.values_data import COLUMNS, LetterEmbedder, columns


def disk(folder: Path) -> ValueIndex:
    build_value_index(columns(), folder / "values")
    return open_value_index(folder / "values")


def minhash(library: str) -> Callable[[Path], ValueIndex]:
    def make(_: Path) -> ValueIndex:
        pytest.importorskip(library, reason=f"the lsh extra ({library}) is not installed")
        return MinHashIndex(columns(), library=library)  # type: ignore[arg-type]

    return make


MAKERS: dict[str, Callable[[Path], ValueIndex]] = {
    "disk": disk,
    "memory": lambda _: memory_value_index(columns()),
    "substring": lambda _: SubstringIndex(columns()),
    "vectors": lambda _: VectorIndex(columns(), LetterEmbedder()),
    "datasketch": minhash("datasketch"),
    "rensa": minhash("rensa"),
}

PHRASES = ["Paris", "new york", "Smith", "zurich airport", "", "  ", "東京都", "qqqq", "San Fran"]


@pytest.fixture(params=MAKERS)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> ValueIndex:
    return MAKERS[request.param](tmp_path)


def test_is_a_value_index(index: ValueIndex) -> None:
    assert isinstance(index, ValueIndex)


@pytest.mark.parametrize("text", ["Paris", "New York", "Zürich Airport", "Newcastle upon Tyne"])
def test_a_stored_text_comes_first_with_score_one(index: ValueIndex, text: str) -> None:
    best = index.search(text)[0]
    assert (best.value, best.score, best.phrase) == (text, 1.0, text)


def test_every_column_that_holds_a_text_is_named_with_its_rows(index: ValueIndex) -> None:
    found = {(m.column, m.row_count) for m in index.search("Paris") if m.value == "Paris"}
    assert found == {(c, rows) for c, vs in COLUMNS.items() for v, rows in vs if v == "Paris"}


@pytest.mark.parametrize("phrase", PHRASES)
def test_results_are_stored_ordered_and_within_bounds(index: ValueIndex, phrase: str) -> None:
    found = index.search(phrase, 20)
    stored = {(c, value): rows for c, values in COLUMNS.items() for value, rows in values}
    assert all(stored[m.column, m.value] == m.row_count for m in found)
    assert all(0 <= m.score <= 1 for m in found)
    assert [m.score for m in found] == sorted((m.score for m in found), reverse=True)
    assert len({(m.column, m.value) for m in found}) == len(found)


@pytest.mark.parametrize("k", [0, 1, 2, 50])
@pytest.mark.parametrize("per_column", [1, 2, 50])
def test_limits_hold(index: ValueIndex, k: int, per_column: int) -> None:
    for phrase in PHRASES:
        found = index.search(phrase, k, per_column=per_column)
        assert len(found) <= k
        assert max(Counter(m.column for m in found).values(), default=0) <= per_column


def test_many_is_each(index: ValueIndex) -> None:
    assert index.search_many(PHRASES) == [index.search(phrase) for phrase in PHRASES]
    assert index.search_many([]) == []


@pytest.mark.parametrize("phrase", ["", " ", "\n\t"])
def test_nothing_resembles_nothing(index: ValueIndex, phrase: str) -> None:
    assert index.search(phrase) == []


def test_embedding_floor_drops_what_only_looks_alike() -> None:
    pytest.importorskip("datasketch", reason="the lsh extra (datasketch) is not installed")
    plain = MinHashIndex(columns()).search("Bob Smith")
    strict = MinHashIndex(columns(), embedder=LetterEmbedder(), least_embedding=0.99)
    assert [m.value for m in strict.search("Bob Smith")] == ["Bob Smith"]
    assert len(plain) > 1


def test_a_missing_extra_is_named() -> None:
    for library in ("datasketch", "rensa"):
        try:
            __import__(library)
        except ImportError:
            with pytest.raises(ConfigError, match=library) as error:
                MinHashIndex(columns(), library=library)  # type: ignore[arg-type]
            assert "sqlwright[lsh]" in error.value.hint


def test_substring_finds_values_inside_a_whole_question() -> None:
    question = "Which flights left San Francisco for Zürich Airport on Monday?"
    values = {m.value for m in SubstringIndex(columns()).search(question)}
    assert values == {"San Francisco", "Zürich Airport", "Zürich"}


def test_substring_leaves_out_columns_with_many_values() -> None:
    assert SubstringIndex(columns(), most_values=3).search("New York") == []
    assert SubstringIndex(columns(), most_values=3).search("Paris")[0].row_count == 9
