from __future__ import annotations

from pathlib import Path

import pytest

import sqlwright
from sqlwright.errors import ModelUnavailable
from sqlwright.indexes.text_vectors import PreparedVectors
from sqlwright.local.linker.linker import JOINING, WIDE, Linker
from sqlwright.prepare.texts import embed_texts, prepared_texts
from sqlwright.protocols import Links
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.types import Question, ValueMatch

WEIGHTS = Path(sqlwright.__file__).parent / "local" / "weights"

MUSIC = Schema(
    "music",
    (
        Table("singer", tuple(Column(n, t) for n, t in (
            ("singer_id", "INTEGER"), ("name", "TEXT"), ("birth_dt", "DATE"), ("country", "TEXT"),
            ("net_worth", "REAL"),
        )), ("singer_id",)),
        Table("concert", tuple(Column(n, t) for n, t in (
            ("concert_id", "INTEGER"), ("stadium_id", "INTEGER"), ("title", "TEXT"),
            ("yr", "INTEGER"),
        )), ("concert_id",)),
        Table("stadium", tuple(Column(n, t) for n, t in (
            ("stadium_id", "INTEGER"), ("location", "TEXT"), ("capacity", "INTEGER"),
        )), ("stadium_id",)),
        Table("singer_in_concert", tuple(Column(n, t) for n, t in (
            ("concert_id", "INTEGER"), ("singer_id", "INTEGER"),
        ))),
    ),
    (
        ForeignKey("concert", ("stadium_id",), "stadium", ("stadium_id",)),
        ForeignKey("singer_in_concert", ("concert_id",), "concert", ("concert_id",)),
        ForeignKey("singer_in_concert", ("singer_id",), "singer", ("singer_id",)),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.load(WEIGHTS)


def test_every_column_and_table_is_scored_once_best_first(linker: Linker) -> None:
    columns, tables, _ = linker.link(Question("Which stadium has the most seats?"), MUSIC, ())
    assert {link.column for link in columns} == set(MUSIC.columns)
    assert {link.table for link in tables} == {table.name for table in MUSIC.tables}
    for links in (columns, tables):
        scores = [link.score for link in links]
        assert scores == sorted(scores, reverse=True)
        assert all(0.0 <= score <= 1.0 for score in scores)


@pytest.mark.parametrize(
    ("asked", "column"),
    [
        ("How many people fit into each stadium?", "stadium.capacity"),
        ("Who is the youngest singer?", "singer.birth_dt"),
        ("Which artists come from France?", "singer.country"),
        ("Who is the richest singer?", "singer.net_worth"),
        ("List the concerts of the year 2014", "concert.yr"),
        ("Where are the stadiums?", "stadium.location"),
    ],
)
def test_the_needed_column_is_among_the_best(linker: Linker, asked: str, column: str) -> None:
    columns, tables, _ = linker.link(Question(asked), MUSIC, ())
    assert column in [str(link.column) for link in columns[:4]]
    assert tables[0].table == column.split(".", maxsplit=1)[0]


def test_a_stored_value_pulls_its_column_up(linker: Linker) -> None:
    asked = Question("What happened at Wembley Park?")
    hit = ValueMatch(
        "Wembley Park", ColumnRef("stadium", "location"), "Wembley Park", 1.0, 1, (17, 29)
    )

    def score(values: tuple[ValueMatch, ...]) -> float:
        columns = linker.link(asked, MUSIC, values).columns
        return next(link.score for link in columns if str(link.column) == "stadium.location")

    assert score((hit,)) > score(())


def test_keys_count_as_much_as_the_tables_they_join(linker: Linker) -> None:
    # No word of it speaks of a key, and three tables are needed.
    columns, tables, _ = linker.link(
        Question("Which singers performed in which concerts?"), MUSIC, ()
    )
    worth = {link.table: link.score for link in tables}
    score = {str(link.column): link.score for link in columns}
    for one, other in (("singer", "singer_in_concert"), ("concert", "singer_in_concert")):
        least = JOINING * min(worth[one], worth[other])
        assert score[f"{one}.{one}_id"] >= least - 1e-6
        assert score[f"singer_in_concert.{one}_id"] >= least - 1e-6
    assert score["stadium.stadium_id"] < score["singer.singer_id"]


def test_the_same_question_gives_the_same_scores(linker: Linker) -> None:
    asked = Question("Name every singer")
    assert linker.link(asked, MUSIC, ()) == linker.link(asked, MUSIC, ())


@pytest.mark.parametrize("text", ["", "?", "数据", "a " * 4000, "'; --", "\x00\x1b[31m"])
def test_odd_questions_still_get_scores(linker: Linker, text: str) -> None:
    columns = linker.link(Question(text), MUSIC, ()).columns
    assert len(columns) == MUSIC.column_count


def test_odd_schemas_are_taken_as_they_are(linker: Linker) -> None:
    assert linker.link(Question("anything"), Schema("none", ()), ()) == Links((), ())
    odd = Schema("odd", (Table("", (Column(""),)), Table("表", (Column("列"), Column("a" * 500)))))
    columns, tables, _ = linker.link(Question("How many 列?"), odd, ())
    assert len(columns) == 3
    assert len(tables) == 2


def test_a_wide_schema_is_scored_whole_and_finds_the_needle(linker: Linker) -> None:
    filler = tuple(
        Table(f"log_{place}", tuple(Column(f"metric_{place}_{i}", "REAL") for i in range(20)))
        for place in range(WIDE // 10)
    )
    wide = Schema("wide", (*filler, *MUSIC.tables), MUSIC.foreign_keys)
    assert wide.column_count > WIDE
    columns = linker.link(Question("What is the capacity of each stadium?"), wide, ()).columns
    assert len(columns) == wide.column_count
    assert "stadium.capacity" in [str(link.column) for link in columns[:3]]
    scores = [link.score for link in columns]
    assert scores == sorted(scores, reverse=True)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedVectors:
    """What preparing MUSIC leaves."""
    folder = tmp_path_factory.mktemp("prepared")
    embed_texts(folder, MUSIC, lambda done, total: None)
    found = prepared_texts(folder)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "asked",
    ["How many people fit into each stadium?", "Who is the youngest singer?", "concerts of 2014"],
)
def test_prepared_vectors_give_nearly_the_same_scores(
    prepared: PreparedVectors, asked: str
) -> None:
    at_once = Linker.load(WEIGHTS).link(Question(asked), MUSIC, ())
    from_file = Linker.load(WEIGHTS).link(Question(asked), MUSIC, (), prepared)
    for mine, other in zip(at_once, from_file, strict=True):
        scores = {getattr(link, "column", None) or link.table: link.score for link in mine}
        for link in other:
            name = getattr(link, "column", None) or link.table
            assert link.score == pytest.approx(scores[name], abs=0.1)


def test_a_wide_schema_that_is_prepared_is_looked_at_whole(linker: Linker, tmp_path: Path) -> None:
    filler = tuple(
        Table(f"log_{place}", tuple(Column(f"metric_{i}", "REAL") for i in range(20)))
        for place in range(WIDE // 20)
    )
    wide = Schema("wide", (*filler, *MUSIC.tables), MUSIC.foreign_keys)
    asked = Question("What is the capacity of each stadium?")
    arrays = linker.encode(wide)
    assert len(linker.describe(asked, arrays, ()).rows) == WIDE
    embed_texts(tmp_path, wide, lambda done, total: None)
    again = Schema("wide", wide.tables, wide.foreign_keys)
    arrays = linker.encode(again, prepared_texts(tmp_path))
    assert len(linker.describe(asked, arrays, ()).rows) == wide.column_count
    columns = linker.link(asked, again, (), prepared_texts(tmp_path)).columns
    assert "stadium.capacity" in [str(link.column) for link in columns[:3]]


def test_missing_weights_say_so(tmp_path: Path) -> None:
    for name in ("word_embeddings.npy", "word_scales.npy"):
        (tmp_path / name).symlink_to(WEIGHTS / name)
    with pytest.raises(ModelUnavailable, match="linker"):
        Linker.load(tmp_path)
