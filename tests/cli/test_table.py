import io
import re
from itertools import pairwise

import pytest
from rich.cells import cell_len

from sqlwright.cli.terminal.console import UNLIMITED, Glyphs
from sqlwright.cli.terminal.table import cell_text, table_lines
from sqlwright.types import Cell
from tests.cli.rendering import screen


def table(columns: list[str], rows: list[tuple[Cell, ...]], width: int = 80) -> list[str]:
    return [line.plain for line in table_lines(columns, rows, width=width, glyphs=Glyphs())]


def test_numbers_stand_to_the_right_and_text_to_the_left() -> None:
    assert table(["name", "n", "price"], [("a", 1, 2.5), ("bc", 1000, 10.25)]) == [
        "name     n  price",
        "────  ────  ─────",
        "a        1   2.50",
        "bc    1000  10.25",
    ]


def test_null_and_empty_text_differ_from_each_other() -> None:
    lines = table(["a", "b"], [(None, ""), ("NULL", " ")])
    assert lines[2:] == ["NULL  ''", "NULL   "]
    assert cell_text(None).style != cell_text("NULL").style


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.1 + 0.2, "0.3"),
        (100.0, "100.0"),
        (1e300, "1e+300"),
        (1.5e-7, "1.5e-07"),
        (0.0, "0.0"),
        (-2.5, "-2.5"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        (2**63 - 1, "9223372036854775807"),
        (b"\x00\xff", "x'00ff' (2 bytes)"),
        (b"a" * 1000, "x'61616161616161616161616161616161...' (1,000 bytes)"),
        ("a\nb", "a\\nb"),
    ],
)
def test_values_as_shown(value: Cell, shown: str) -> None:
    assert cell_text(value).plain == shown


@pytest.mark.parametrize("width", [10, 20, 40, 80, 200])
@pytest.mark.parametrize("columns", [1, 2, 5, 40])
@pytest.mark.parametrize("rows", [0, 1, 4])
def test_a_table_fits(width: int, columns: int, rows: int) -> None:
    names = [f"column {i}" for i in range(columns)]
    row: tuple[Cell, ...] = tuple("漢字 and text" * (i % 4) or i for i in range(columns))
    for line in table(names, [row] * rows, width):
        assert cell_len(line) <= width


def test_what_gives_way_is_the_widest_column() -> None:
    lines = table(["id", "text"], [(1, "x" * 500), (2, "y")], 40)
    assert lines[2] == " 1  " + "x" * 35 + "…"


def test_columns_that_dont_fit_are_named() -> None:
    rows: list[tuple[Cell, ...]] = [tuple(f"value {i}" for i in range(12))] * 5
    lines = table([f"column{i}" for i in range(12)], rows, 40)
    assert " ".join(lines[7:]).startswith("7 more columns: column5, column6")


def test_a_wide_row_stands_on_its_side() -> None:
    lines = table([f"column{i}" for i in range(30)], [tuple(range(30))], 60)
    assert lines[29] == "column29  29"


def test_a_pipe_gets_every_column_whole() -> None:
    rows: list[tuple[Cell, ...]] = [tuple("x" * 100 for _ in range(50))] * 5
    lines = table([f"c{i}" for i in range(50)], rows, UNLIMITED)
    assert lines[0].endswith("c49")
    assert all(len(a) == len(b) for a, b in pairwise(lines[2:]))


def test_no_columns_at_all() -> None:
    assert table([], [], 40) == []


def test_a_note_is_broken_between_words_and_a_path_not_at_all() -> None:
    shown = screen(20, colour=True)
    path = "/home/somebody/cache/sqlwright"
    shown.note("5,553 distinct values of 11 tables")
    shown.note(path)
    stream = shown.err.file
    assert isinstance(stream, io.StringIO)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()
    assert [line.rstrip() for line in lines] == ["5,553 distinct", "values of 11 tables", path]
