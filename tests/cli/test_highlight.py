import pytest

from sqlwright.cli.terminal.highlight import highlighted
from sqlwright.presentation.sql_text import in_clauses

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


def styled(sql: str) -> dict[str, str]:
    text = highlighted(sql)
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
