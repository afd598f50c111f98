"""What a prompt shows of a column: values, counts, formats, keys, so that nobody has to guess."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from sqlwright.errors import ConfigError
from sqlwright.messages import Text
from sqlwright.prepare import open_workspace, prepare
from sqlwright.prompts.descriptions import essential
from sqlwright.prompts.schema import render_schema
from sqlwright.protocols import Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.types import ValueMatch

SQL = """
CREATE TABLE people (
  id INTEGER PRIMARY KEY, title TEXT, job TEXT, city TEXT, joined TEXT, born TEXT, lap TEXT,
  pay REAL, age INTEGER, since INTEGER, score TEXT, site TEXT, note TEXT, fax TEXT, mixed,
  gone TEXT, met TEXT, starts TEXT, length TEXT, run TEXT, day TEXT, late TEXT
);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 259)
INSERT INTO people SELECT
  i + 1,
  CASE i % 3 WHEN 0 THEN 'Sales Rep' WHEN 1 THEN 'Manager' ELSE 'Clerk' END,
  'Job ' || substr('ABCDEFGHIJKLM', 1 + i % 13, 1),
  CASE WHEN i % 4 = 0 THEN 'Bonn' ELSE 'Place ' || i END,
  date('2024-01-01', i || ' days'),
  printf('%02d/%02d/%d', 1 + i % 28, 1 + i % 12, 1950 + i % 40),
  printf('%d:%02d.%03d', 1 + i % 9, i % 60, i),
  CASE WHEN i % 2 THEN 0 ELSE 1000.5 + i END,
  20 + i % 40,
  1960 + i % 60,
  '' || (i * 7),
  'https://www.example.com/a/very/long/path/that/nobody/needs/to/read/' || i,
  CASE WHEN i % 5 = 0 THEN NULL WHEN i % 5 = 1 THEN '' WHEN i % 5 = 2 THEN 'NULL'
       ELSE 'note ' || i END,
  CASE WHEN i % 3 = 0 THEN '-' ELSE '030-' || (100000 + i) END,
  CASE WHEN i % 50 = 0 THEN 'N.N.' ELSE i END,
  NULL,
  printf('%02d/%02d/%d %02d:%02d', 1 + i % 28, 1 + i % 12, 2020 + i % 4, i % 24, i % 60),
  printf('%02d:%02d', i % 24, i % 60),
  printf('%d:%02d', 2 + i % 9, i % 60),
  printf('%d:%02d', 2 + i % 50, i % 60),
  CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN 'b' WHEN 2 THEN 'c' ELSE 'd' END,
  printf('%02d:%02d', 12 + i % 9, i % 60)
FROM n;
CREATE TABLE idle (id INTEGER PRIMARY KEY, what TEXT);
CREATE TABLE codes (code TEXT PRIMARY KEY);
INSERT INTO codes SELECT ' ' || title FROM people GROUP BY 1;
CREATE TABLE uses (id INTEGER PRIMARY KEY, code TEXT REFERENCES codes (code));
INSERT INTO uses SELECT id, title FROM people;
CREATE VIEW bonn AS -- a secret remark
  SELECT id, title FROM people WHERE city = 'Bonn' AND age > 25;
"""
JOB, TITLE, CITY = (ColumnRef("people", name) for name in ("job", "title", "city"))


@pytest.fixture(scope="module", params=["unprepared", "prepared"])
def people(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("people")
    with closing(sqlite3.connect(folder / "people.sqlite")) as connection:
        connection.executescript(SQL)
    if request.param == "prepared":
        prepare(str(folder / "people.sqlite"), folder=folder / "prepared")
    opened = open_workspace(str(folder / "people.sqlite"), folder=folder / "prepared")
    yield opened
    opened.database.close()


def shown(workspace: Workspace, *values: ValueMatch) -> Text:
    return render_schema(SchemaView(workspace.schema), catalog=workspace.catalog, values=values)


def line(text: Text, table: str, column: str) -> str:
    """What is said of a column."""
    block = str(text).split(f" {table} (")[1].split("\n)")[0]
    found = next(one for one in block.splitlines()[1:] if one.split()[0].strip(",") == column)
    return found.partition(" -- ")[2]


def test_a_small_column_is_listed_whole_and_a_match_in_it_is_marked(people: Workspace) -> None:
    match = ValueMatch("sales", TITLE, "Sales Rep", 0.7)
    text = shown(people, match, ValueMatch("job c", JOB, "Job C", 1.0))
    assert line(text, "people", "title") == (
        "3 different; one of 'Sales Rep' (like \"sales\"), 'Manager', 'Clerk'"
    )
    jobs = line(text, "people", "job")
    assert jobs.startswith("13 different; one of ")
    assert all(f"'Job {letter}'" in jobs for letter in "ABCDEFGHIJKLM")
    assert "'Job C' (like \"job c\")" in jobs
    assert line(text, "people", "title").count("Sales Rep") == 1


def test_a_match_stands_beside_usual_examples(people: Workspace) -> None:
    text = line(shown(people, ValueMatch("place 7", CITY, "Place 7", 1.0)), "people", "city")
    assert "e.g. 'Place 7' (like \"place 7\"), 'Bonn'" in text


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("note", "52 NULL, 52 empty texts, 52 'NULL'"),
        ("fax", "87 '-'; e.g. '030-"),
        ("joined", "all different; dates from '2024-01-01' to '2024-09-16'"),
        ("born", "dates as text, DD/MM/YYYY"),
        ("lap", "times as text, M:SS"),
        ("met", "dates as text, DD/MM/YYYY HH:MM"),
        ("starts", "times as text, HH:MM;"),
        ("length", "times as text, H:MM or M:SS;"),
        ("late", "times as text, HH:MM;"),
        ("run", "times as text, M:SS;"),
        ("day", "3 different, 65 empty texts; one of 'b', 'c', 'd'"),
        ("pay", "from 0.0 to 1258.5; e.g. 100"),
        ("since", "years from 1960 to 2019"),
        ("score", "numbers stored as text"),
        ("mixed", "254 numbers, 6 texts ('N.N.')"),
        ("gone", "always NULL"),
    ],
)
def test_counts_formats_and_ranges(people: Workspace, column: str, said: str) -> None:
    assert said in line(shown(people), "people", column)


def test_a_range_that_may_not_be_told_leaves_no_gap(people: Workspace) -> None:
    kept = str(shown(people).without("value"))
    assert "pay REAL, -- many different; e.g. [hidden]" in kept
    assert "; ;" not in kept


def test_examples_are_short_and_say_something(people: Workspace) -> None:
    text = shown(people)
    assert "e.g. 'https://www.example.com/a/very'…" in line(text, "people", "site")
    assert line(text, "people", "site").count("https") == 1
    assert "'-'," not in line(text, "people", "fax")


def test_an_empty_table_is_called_so(people: Workspace) -> None:
    assert "CREATE TABLE idle ( -- empty, no rows" in str(shown(people))


def test_a_key_that_does_not_join_on_the_data_says_so(people: Workspace) -> None:
    said = "FOREIGN KEY (code) REFERENCES codes (code) -- none of 3 values is found there; "
    assert f"{said}join on uses.code = trim(codes.code), which finds all 3" in str(shown(people))


def test_a_view_is_shown_by_its_query(people: Workspace) -> None:
    text = shown(people)
    assert "SELECT id, title FROM people WHERE city = 'Bonn' AND age > 25" in str(text)
    kept = str(text.without("value"))
    assert "SELECT id, title FROM people WHERE city = [hidden] AND age > [hidden]" in kept
    assert "secret" not in str(text)
    view = str(text).split("CREATE VIEW bonn")[1]
    assert "FOREIGN KEY" not in view


@pytest.mark.parametrize(
    ("style", "begins"),
    [
        ("ddl", "CREATE VIEW late (\n  amount,\n  customer,\n  age,\n  x\n"),
        ("compact", "view late:\n- amount REAL\n- customer TEXT\n- age\n- x TEXT\n"),
    ],
)
def test_a_view_keeps_its_order_and_what_is_too_long_names_its_tables(
    tmp_path: Path, style: Literal["ddl", "compact"], begins: str
) -> None:
    script = """
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, x TEXT);
    CREATE TABLE "the bills" (id INTEGER PRIMARY KEY, amount REAL, whose INTEGER REFERENCES people);
    CREATE VIEW late AS SELECT b.amount, p.name AS customer, p.id + 1 AS age, p.x
    FROM "the bills" AS b JOIN people AS p ON p.id = b.whose WHERE p.x NOT IN ({});
    """
    with closing(sqlite3.connect(tmp_path / "late.sqlite")) as connection:
        connection.executescript(script.format(", ".join(f"'{n:08}'" for n in range(150))))
    opened = open_workspace(str(tmp_path / "late.sqlite"), folder=tmp_path / "absent")
    view = SchemaView(opened.schema)
    for seed in range(6):
        text = render_schema(view, style=style, shuffle=random.Random(seed))
        assert begins in str(text)
        made = "); -- made of " if style == "ddl" else "- it is made of: "
        assert f'\n{made}"the bills", people' in str(text)
        assert "00000001" not in str(text)
    opened.database.close()


def test_nothing_stored_is_left_where_values_stay_home(people: Workspace) -> None:
    match = ValueMatch("place 7", CITY, "Place 7", 1.0)
    kept = str(shown(people, match).without("value"))
    for stored in ("Sales Rep", "Bonn", "2024-", "1258", "N.N.", "Place 7", "260", "030-", "254"):
        assert stored not in kept
    assert "some resemble words of the question" in line(
        shown(people, match).without("value"), "people", "city"
    )


def test_the_size_of_a_large_table_is_told_as_far_as_it_is_known(tmp_path: Path) -> None:
    path = tmp_path / "large.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE big (id INTEGER PRIMARY KEY, kind TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
            INSERT INTO big SELECT i * 9999, CASE WHEN i % 4 THEN 'kind ' || (i % 3) END FROM n;
            """
        )
    opened = open_workspace(str(path), folder=tmp_path / "absent")
    text = str(shown(opened))
    opened.database.close()
    assert "CREATE TABLE big ( -- more than 3,212 rows" in text
    assert "about 25 % NULL" in text


def test_with_a_list_of_tables_a_view_names_none_but_them(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SQL)
    with pytest.raises(ConfigError, match="bonn can't be among the tables"):
        open_workspace(str(path), folder=tmp_path / "absent", tables=["bonn", "codes"])
    opened = open_workspace(str(path), folder=tmp_path / "absent", tables=["bonn", "people"])
    text = str(shown(opened))
    opened.database.close()
    assert "SELECT id, title FROM people" in text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The city. It is near.", "The city. It is near."),
        (
            f"The score. {'Scores were invented by the Greeks. ' * 8}NULL or 0 means missing.",
            "The score. NULL or 0 means missing.",
        ),
        (
            f"{'What people pay for, in great detail. ' * 6}\n1: cash\n2: card",
            "What people pay for, in great detail. 1: cash 2: card",
        ),
    ],
)
def test_a_long_description_is_cut_to_what_helps(text: str, kept: str) -> None:
    assert essential(text) == kept
