from functools import partial

import pytest

from sqlwright.cli.views import answer
from sqlwright.presentation import sql_text
from sqlwright.sql.pieces import cutting

SQLITE = cutting("sqlite")
highlighted = partial(answer.highlighted, cut=SQLITE)
in_clauses = partial(sql_text.in_clauses, cut=SQLITE)

LONG = (
    "SELECT a.name, (SELECT COUNT(*) FROM b WHERE b.a = a.id) AS n FROM a "
    "LEFT JOIN c ON c.a = a.id WHERE a.note = 'here FROM there  JOIN' AND \"group by\" > 1 "
    "GROUP BY a.name HAVING COUNT(*) > 1 UNION ALL SELECT x, y FROM z ORDER BY 1 LIMIT 3"
)


def test_a_line_for_each_outermost_clause() -> None:
    assert in_clauses(LONG).split("\n") == [
        "SELECT a.name, (SELECT COUNT(*) FROM b WHERE b.a = a.id) AS n",
        "FROM a",
        "LEFT JOIN c ON c.a = a.id",
        "WHERE a.note = 'here FROM there  JOIN' AND \"group by\" > 1",
        "GROUP BY a.name",
        "HAVING COUNT(*) > 1",
        "UNION ALL",
        "SELECT x, y",
        "FROM z",
        "ORDER BY 1",
        "LIMIT 3",
    ]


@pytest.mark.parametrize("sql", ["SELECT 1 FROM t", "SELECT a,\n b FROM " + "t" * 80, ")" * 90, ""])
def test_other_queries_stay_as_they_are(sql: str) -> None:
    assert in_clauses(sql) == sql


@pytest.mark.parametrize(
    "sql", [LONG, "it's 'open", '"', "/* x", "-- y", "[z", "é 漢字 1e9", "((("]
)
def test_highlighting_changes_no_character(sql: str) -> None:
    assert highlighted(sql).plain == sql


def styled(sql: str, dialect: str = "sqlite") -> dict[str, str]:
    text = answer.highlighted(sql, cutting(dialect))
    return {text.plain[span.start : span.end]: str(span.style) for span in text.spans}


def test_names_are_not_keywords() -> None:
    styles = styled("SELECT c.name, t.order, state, count(*) FROM c WHERE x = 'WHERE' AND y > 1.5")
    assert styles == {
        "SELECT": "sql.keyword",
        "count": "sql.keyword",
        "FROM": "sql.keyword",
        "WHERE": "sql.keyword",
        "AND": "sql.keyword",
        "'WHERE'": "sql.string",
        "1.5": "sql.number",
    }


@pytest.mark.parametrize(
    ("dialect", "sql", "lines", "texts"),
    [
        (
            "mysql",
            r"""SELECT a, 'it\'s FROM here (' FROM doctors WHERE note = "a FROM b" LIMIT 3""",
            [r"SELECT a, 'it\'s FROM here ('", "FROM doctors"],
            {r"'it\'s FROM here ('", '"a FROM b"'},
        ),
        (
            "mariadb",
            "SELECT a, `it's FROM here` FROM doctors # the FROM of it's WHERE, which is told",
            ["SELECT a, `it's FROM here`", "FROM doctors # the FROM of it's WHERE, which is told"],
            set(),
        ),
        (
            "postgres",
            "SELECT name, $q$it's FROM here ($q$, tags[1] FROM clients WHERE city = E'\\' FROM '",
            ["SELECT name, $q$it's FROM here ($q$, tags[1]", "FROM clients"],
            {"$q$it's FROM here ($q$", "E'\\' FROM '"},
        ),
        (
            "postgres",
            "SELECT a.name FROM clients AS a WHERE a.city IS NOT DISTINCT FROM 'Lyon' ORDER BY 1",
            ["SELECT a.name", "FROM clients AS a"],
            {"'Lyon'"},
        ),
        (
            "duckdb",
            "SELECT name, ['a', 'b'] AS pair FROM clients WHERE list_contains(['a'], name) LIMIT 3",
            ["SELECT name, ['a', 'b'] AS pair", "FROM clients"],
            {"'a'", "'b'"},
        ),
    ],
)
def test_a_query_is_cut_as_its_dialect_cuts_it(
    dialect: str, sql: str, lines: list[str], texts: set[str]
) -> None:
    cut = cutting(dialect)
    shown = sql_text.in_clauses(sql, cut)
    assert shown.split("\n")[:2] == lines
    assert " ".join(shown.split("\n")) == sql
    styles = styled(sql, dialect)
    assert {text for text, style in styles.items() if style == "sql.string"} == texts
