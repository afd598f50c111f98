"""What the short form of a plan claims, and whether it is so: an independent reading.

From every sentence follows the line of EXPLAIN QUERY PLAN that it must have been read from; a
sentence of no form is a fault. These lines, numbered as the engine nests them, are compared with
those of the plan, so that nothing is said that isn't there and nothing is there that isn't said.
Which table goes by which name is held against sqlglot's tree of the query. Nothing here uses
`sqlwright.sql.plans`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from sqlwright.types.plans import EnginePlan

NAME = r"(?P<table>subquery \d+|join \d+|\w+)(?: as (?P<alias>\w+))?"
INDEX = r"its index on (?P<columns>\([^)]*\)|an expression|\w+)(?P<alone> alone)?"
MADE = r"an index made for this query(?P<some> over the rows that come into question)?"
LEFT = r"(?P<left> Where nothing matches, go on once with NULL in its columns\.)?"
FIRST = r"(?P<first>, up to the first match)?"
LOOK_UP = (
    rf"Look up {NAME} by (?P<by>.+?), (?:(?P<key>its integer primary key|the row's number)|through "
    rf"(?:{INDEX}|(?P<made>{MADE})|(?P<primary>its primary key))){FIRST}\.{LEFT}"
)
SCAN = (
    rf"Scan {NAME}(?: in the order of {INDEX})?(?P<end>, for the least or the greatest value)?"
    rf"{FIRST}\.{LEFT}"
)
VIRTUAL = rf"Scan (?P<table>\w+), a virtual table\.{LEFT}"
FILTER = rf"First ask a quick filter on (?P<by>.+) of {NAME} whether any row can match\."
FIXED = {
    r"Begin with one row of constants\.": "SCAN CONSTANT ROW",
    r"Scan the (\d+) rows of VALUES\.": r"SCAN \1-ROW VALUES CLAUSE",
    r"Make the rows of (?:(?P<part>subquery \d+)|(\w+)) one by one, for what follows:":
        r"CO-ROUTINE \2",
    r"Make all rows of (?:(?P<part>subquery \d+)|(\w+)) and put them aside:": r"MATERIALIZE \2",
    r"Work out subquery (\d+), once:": r"SCALAR SUBQUERY \1",
    r"Work out subquery (\d+) anew for each row:": r"CORRELATED SCALAR SUBQUERY \1",
    r"List the values of subquery (\d+), once:": r"LIST SUBQUERY \1",
    r"List the values of subquery (\d+) anew for each row:": r"CORRELATED LIST SUBQUERY \1",
    r"Find the rows by each part of an OR, each row once:": "MULTI-INDEX OR",
    r"By part (\d+):": r"INDEX \1",
    r"Go on with the rows of (\w+) that matched nothing, NULL in the other columns:":
        r"RIGHT-JOIN \1",
    r"Put queries together:": "COMPOUND QUERY",
    r"Begin with the first query:": "LEFT-MOST SUBQUERY",
    r"Add all rows of the next query:": "UNION ALL",
    r"Add the rows that aren't there yet of the next query:": "UNION USING TEMP B-TREE",
    r"Take away the rows of the next query:": "EXCEPT USING TEMP B-TREE",
    r"Keep the rows that are in the next query, too:": "INTERSECT USING TEMP B-TREE",
    r"Merge two sorted queries by (UNION), each different row once:": r"MERGE (\1)",
    r"Merge two sorted queries by (UNION ALL), every row:": r"MERGE (\1)",
    r"Merge two sorted queries by (EXCEPT), the rows of the first that the second lacks:":
        r"MERGE (\1)",
    r"Merge two sorted queries by (INTERSECT), the rows that both have:": r"MERGE (\1)",
    r"The first query:": "LEFT",
    r"The second query:": "RIGHT",
    r"Begin with these rows:": "SETUP",
    r"For each row that is there, add what follows from it:": "RECURSIVE STEP",
    r"Sort the rows\.": "USE TEMP B-TREE FOR ORDER BY",
    r"Sort the rows, to take groups together\.": "USE TEMP B-TREE FOR GROUP BY",
    r"Leave out rows that came before\.": "USE TEMP B-TREE FOR DISTINCT",
    r"Sort rows that are equal so far by the last term of the order\.":
        "USE TEMP B-TREE FOR LAST TERM OF ORDER BY",
    r"Sort rows that are equal so far by the last (\d+) terms of the order\.":
        r"USE TEMP B-TREE FOR LAST \1 TERMS OF ORDER BY",
    r"For (\w+), take each value once\.": r"USE TEMP B-TREE FOR \1(DISTINCT)",
    r"For (\w+), sort its values\.": r"USE TEMP B-TREE FOR \1(ORDER BY)",
    r"Make a quick filter of its values\.": "CREATE BLOOM FILTER",
}  # fmt: skip


def outline_faults(prose: str, plan: EnginePlan, sql: str, views: dict[str, str]) -> list[str]:
    """Everything in which the prose and the outline, or the query's names, differ."""
    lines = [line.strip().partition(". ") for line in prose.splitlines()]
    said = [(number, _line(text, plan)) for number, _, text in lines]
    shown = list(_numbered(plan, 0, ""))
    found = [f"said: {one}, shown: {other}" for one, other in zip(said, shown, strict=False)
             if one[0] != other[0] or other[1] not in one[1]]  # fmt: skip
    if len(said) != len(shown):
        found.append(f"{len(shown)} lines, {len(said)} sentences")
    return [*found, *_misnamed([text for _, _, text in lines], plan, sql, views)]


def _numbered(plan: EnginePlan, parent: int, above: str) -> Iterator[tuple[str, str]]:
    """The engine's lines, a part's behind the line it belongs to."""
    below = [node for node in plan.outline if node.parent == parent]
    for place, node in enumerate(below, start=1):
        yield f"{above}{place}", node.detail
        yield from _numbered(plan, node.number, f"{above}{place}.")


def _line(text: str, plan: EnginePlan) -> set[str]:
    """The lines that a sentence may have been read from; several where two indexes of a table are
    on the same columns."""
    if found := re.fullmatch(VIRTUAL, text):
        left = " LEFT-JOIN" if found["left"] else ""
        return {node.detail for node in plan.outline if re.fullmatch(
            rf"SCAN {found['table']} VIRTUAL TABLE INDEX .*?{left}", node.detail)}  # fmt: skip
    for form, line in FIXED.items():
        if found := re.fullmatch(form, text):
            part = found.groupdict().get("part")
            return {line.replace(r"\2", _shown(part)) if part else found.expand(line)}
    if found := re.fullmatch(FILTER, text):
        own = _own_number(found["table"], plan)
        terms = _terms(found["by"], lambda c: "rowid" if c == own else c)
        return {f"BLOOM FILTER ON {_shown(found['alias'] or found['table'])} ({terms})"}
    if found := re.fullmatch(LOOK_UP, text):
        return _look_up(found, plan)
    if found := re.fullmatch(SCAN, text):
        does = "SEARCH" if found["end"] else "SCAN"
        return {f"{does} {name}" for name in _ends(found, _indexes(found, plan))}
    return set()


def _look_up(found: re.Match[str], plan: EnginePlan) -> set[str]:
    if found["key"]:
        own = _own_number(found["table"], plan)
        integer = own not in {"", "rowid"}
        if integer != (found["key"] == "its integer primary key"):
            return set()
        terms = _terms(found["by"], lambda c: "rowid" if c == own else f"not {own}")
        ways = [f" USING INTEGER PRIMARY KEY ({terms})"]
    else:
        terms = _terms(found["by"], str)
        if found["made"]:
            ways = [f" USING AUTOMATIC {'PARTIAL ' if found['some'] else ''}COVERING INDEX"]
        elif found["primary"]:
            ways = [" USING PRIMARY KEY"]
        else:
            ways = _indexes(found, plan)
        ways = [f"{way} ({terms})" for way in ways]
    return {f"SEARCH {name}" for name in _ends(found, ways)}


def _ends(found: re.Match[str], ways: list[str]) -> Iterator[str]:
    exists = " EXISTS" if found["first"] else ""
    left = " LEFT-JOIN" if found["left"] else ""
    for way in ways:
        yield f"{_shown(found['alias'] or found['table'])}{exists}{way}{left}"


def _indexes(found: re.Match[str], plan: EnginePlan) -> list[str]:
    """The indexes of a table on these columns, as a line names them."""
    if not found["columns"]:
        return [""]
    wanted = [c.replace("an expression", "") for c in found["columns"].strip("()").split(", ")]
    rowids = {one.table: one.rowid for one in plan.stored if not one.index}
    covering = "COVERING " if found["alone"] else ""
    return [
        f" USING {covering}INDEX {one.index}"
        for one in plan.stored
        if one.index
        and one.table == found["table"]
        and list(one.columns) in (wanted, [*wanted, rowids.get(one.table, "")])
    ]


def _terms(text: str, column: object) -> str:
    """The terms of a line from their words."""
    assert callable(column)
    written = []
    for piece in re.split(r", (?![^(]*\))| and ", text):
        bound = re.fullmatch(r"(?:(a lower|an upper) bound on |(each) )?(.+?)( in turn)?", piece)
        assert bound is not None
        name = column(bound[3])
        name = "<expr>" if name == "an expression" else name
        if bound[2]:
            written.append(f"ANY({name})")
            continue
        sign = {"a lower": ">", "an upper": "<"}.get(bound[1], "=")
        if name.startswith("("):
            columns = name.strip("()").split(", ")
            written.append(f"({','.join(columns)}){sign}({','.join('?' * len(columns))})")
        else:
            written.append(f"{name}{sign}?")
    return " AND ".join(written)


def _own_number(table: str, plan: EnginePlan) -> str:
    """The column of a table that is the row's number."""
    return next((one.rowid for one in plan.stored if one.table == table and not one.index), "")


def _shown(name: str | None) -> str:
    part = re.fullmatch(r"(subquery|join) (\d+)", name or "")
    return f"({part[1]}-{part[2]})" if part else name or ""


def _misnamed(texts: list[str], plan: EnginePlan, sql: str, views: dict[str, str]) -> Iterator[str]:
    """Tables by another name than the query's, tables that it doesn't name or that aren't said."""
    tree = sqlglot.parse_one(sql, dialect="sqlite")
    defined = {name: sqlglot.parse_one(text, dialect="sqlite") for name, text in views.items()}
    tree = exp.expand(tree, defined, dialect="sqlite")
    stored = {one.table for one in plan.stored}
    asked = {(t.name, t.alias_or_name) for t in tree.find_all(exp.Table) if t.name in stored}
    parts = {part.alias for part in tree.find_all(exp.Subquery, exp.CTE)} | {
        t.alias_or_name for t in tree.find_all(exp.Table) if t.name not in stored
    }
    said = set()
    for text in texts:
        found = re.match(rf"(?:Scan|Look up|First ask .+ of) {NAME}[ ,.]", text)
        part = found and re.match(r"subquery|join", found["table"])
        other = re.fullmatch(VIRTUAL, text) or text.startswith("Scan the ")
        if found and not part and not other:
            said.add((found["table"], found["alias"] or found["table"]))
    said -= {(part, part) for part in parts}
    if said != asked:
        yield f"tables of the query {sorted(asked)}, said {sorted(said)}"
