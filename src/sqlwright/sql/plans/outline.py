"""The lines of EXPLAIN QUERY PLAN in plain words: the short form of a plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlwright.sql.plans.places import Places
from sqlwright.sql.plans.terms import Term, TermKind, read_terms
from sqlwright.sql.plans.unreadable import UnreadablePlan
from sqlwright.types.plans import EnginePlan, PlanNode, StoredOrder


@dataclass(frozen=True)
class OutlineStep:
    """A line of a plan's outline as a sentence."""

    number: tuple[int, ...]
    """Its place among the steps of each level, from the outermost in."""
    text: str


def read_outline(plan: EnginePlan) -> tuple[OutlineStep, ...]:
    """The outline's lines in their order, those of a part behind it. Raises UnreadablePlan for a
    line of an unknown form."""
    return tuple(_Outline(plan).steps(0, ()))


def outline_text(steps: Sequence[OutlineStep]) -> str:
    """Numbered sentences; those of a part are set in below it: `2.1.` belongs to `2.`."""
    return "\n".join(
        f"{'  ' * (len(step.number) - 1)}{'.'.join(map(str, step.number))}. {step.text}"
        for step in steps
    )


class _Outline:
    def __init__(self, plan: EnginePlan) -> None:
        self._plan = plan
        self._nodes = sorted(plan.outline, key=lambda node: node.number)
        self._indexes = {one.index: one for one in plan.stored if one.index}
        self._places = Places(plan)

    def steps(self, parent: int, above: tuple[int, ...]) -> Iterator[OutlineStep]:
        below = [node for node in self._nodes if node.parent == parent]
        for place, node in enumerate(below, start=1):
            number = (*above, place)
            yield OutlineStep(number, self._sentence(node))
            yield from self.steps(node.number, number)

    def _sentence(self, node: PlanNode) -> str:
        for form, say in _FIXED.items():
            if found := re.fullmatch(form, node.detail, re.DOTALL):
                return say(found)
        for form, tell in (
            (_LOOP, self._loop), (_FILTER, self._filter), (_OF_LIST, self._of_list)
        ):  # fmt: skip
            if found := re.fullmatch(form, node.detail, re.DOTALL):
                return tell(node, found)
        raise UnreadablePlan(f"a line of the plan can't be told in words: {node.detail}")

    def _loop(self, node: PlanNode, found: re.Match[str]) -> str:
        """One table, or what stands for one, gone over or looked up."""
        name, order = self._named(node, found["name"], found["index"])
        by, index = self._terms(found, order), self._through(node, found)
        if found["does"] == "SCAN" and by:
            raise UnreadablePlan(f"a line of the plan can't be told in words: {node.detail}")
        if found["does"] == "SCAN":
            said = f"Scan {name}{index and f' in the order of {index}'}"
        elif by:
            said = f"Look up {name} by {by}{index and f', through {index}'}"
        else:
            order_of = index and f" in the order of {index}"
            said = f"Scan {name}{order_of}, for the least or the greatest value"
        said += ", up to the first match" if found["exists"] else ""
        left = f" {_UNMATCHED}" if found["left"] else ""
        return f"{said}.{left}"

    def _terms(self, found: re.Match[str], order: StoredOrder | None) -> str:
        if found["key"]:
            own = (order.rowid or "rowid") if order else "rowid"
            terms = read_terms(found["key"])
            named = [Term(term.kind, (own,)) for term in terms]
            kind = f", {_OWN_KEY}" if own != "rowid" else f", {_ROW_NUMBER}"
            return _joined(named) + kind
        return _joined(read_terms(found["terms"])) if found["terms"] else ""

    def _through(self, node: PlanNode, found: re.Match[str]) -> str:
        """The index or key that leads to a table's rows."""
        if found["automatic"]:
            part = (
                " over the rows that come into question" if "PARTIAL" in found["automatic"] else ""
            )
            return f"an index made for this query{part}"
        if found["primary"]:
            return "its primary key"
        if not found["index"]:
            return ""
        alone = " alone" if found["covering"] else ""
        return f"its index on {_columns(self._index(node, found['index']))}{alone}"

    def _index(self, node: PlanNode, name: str) -> StoredOrder:
        if name not in self._indexes:
            raise UnreadablePlan(f"a line of the plan names an unknown index: {node.detail}")
        return self._indexes[name]

    def _named(
        self, node: PlanNode, name: str, index: str | None = None
    ) -> tuple[str, StoredOrder | None]:
        """A table with the name that the query gives it, and the table where it is one."""
        if part := re.fullmatch(r"\((subquery|join)-(\d+)\)", name):
            return f"{part[1]} {part[2]}", None
        order = self._index(node, index) if index else self._places.table(node)
        if order is None or order.table.casefold() == name.casefold():
            return name, order
        return f"{order.table} as {name}", order

    def _filter(self, node: PlanNode, found: re.Match[str]) -> str:
        """A quick test before a table is looked up, which is the next line of its name."""
        looked_up = next((o for o in self._nodes if o.number > node.number
                          and o.parent == node.parent
                          and o.detail.startswith(f"SEARCH {found['name']} ")), None)  # fmt: skip
        name, order = self._named(looked_up or node, found["name"])
        terms = [Term(t.kind, tuple(_own(c, order) for c in t.columns))
                 for t in read_terms(found["terms"])]  # fmt: skip
        return f"First ask a quick filter on {_joined(terms)} of {name} whether any row can match."

    def _of_list(self, node: PlanNode, found: re.Match[str]) -> str:
        """An IN whose values are looked up where they are stored."""
        if found["table"]:
            return f"Look up the values of the list among the row numbers of {found['table']}."
        order = self._index(node, found["index"])
        return f"Look up the values of the list in the index of {order.table} on {_columns(order)}."


def _own(column: str, order: StoredOrder | None) -> str:
    return order.rowid if order and order.rowid and column == "rowid" else column


def _columns(order: StoredOrder) -> str:
    """The columns of an index, the row's number left out."""
    ends = order.columns[-1:] == (order.rowid,) and len(order.columns) > 1
    columns = [column or "an expression" for column in order.columns[: -1 if ends else None]]
    return f"({', '.join(columns)})" if len(columns) > 1 else columns[0]


_WORDS: Mapping[TermKind, str] = {
    "equal": "{}", "lower": "a lower bound on {}", "upper": "an upper bound on {}",
    "each": "each {} in turn",
}  # fmt: skip


def _joined(terms: Sequence[Term]) -> str:
    said = [_WORDS[term.kind].format(_listed(term.columns)) for term in terms]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def _listed(columns: Sequence[str]) -> str:
    return columns[0] if len(columns) == 1 else f"({', '.join(columns)})"


_OWN_KEY = "its integer primary key"
_ROW_NUMBER = "the row's number"
_UNMATCHED = "Where nothing matches, go on once with NULL in its columns."
_LOOP = (
    r"(?P<does>SCAN|SEARCH) (?P<name>.+?)(?P<exists> EXISTS)?(?: USING (?:"
    r"INTEGER PRIMARY KEY \((?P<key>.+)\)|(?:(?P<primary>PRIMARY KEY)|"
    r"(?P<automatic>AUTOMATIC (?:PARTIAL )?COVERING INDEX)|"
    r"(?P<covering>COVERING )?INDEX (?P<index>.+?))(?: \((?P<terms>.+)\))?))?(?P<left> LEFT-JOIN)?"
)
_FILTER = r"BLOOM FILTER ON (?P<name>.+?) \((?P<terms>.+)\)"
_OF_LIST = r"USING (?:INDEX (?P<index>.+)|ROWID SEARCH ON TABLE (?P<table>.+)) FOR IN-OPERATOR"

_SUBQUERIES = {
    "SCALAR": ("Work out subquery {}, once:", "Work out subquery {} anew for each row:"),
    "LIST": ("List the values of subquery {}, once:",
             "List the values of subquery {} anew for each row:"),
}  # fmt: skip
_MERGED = {
    "UNION": "each different row once",
    "UNION ALL": "every row",
    "EXCEPT": "the rows of the first that the second lacks",
    "INTERSECT": "the rows that both have",
}
_ADDED = {
    "UNION": "Add the rows that aren't there yet of the next query:",
    "EXCEPT": "Take away the rows of the next query:",
    "INTERSECT": "Keep the rows that are in the next query, too:",
}


def _part(name: str) -> str:
    found = re.fullmatch(r"\((subquery|join)-(\d+)\)", name)
    return f"{found[1]} {found[2]}" if found else name


_FIXED: Mapping[str, Callable[[re.Match[str]], str]] = {
    r"SCAN CONSTANT ROW": lambda _: "Begin with one row of constants.",
    r"SCAN (\d+)-ROW VALUES CLAUSE": lambda m: f"Scan the {m[1]} rows of VALUES.",
    r"SCAN (.+) VIRTUAL TABLE INDEX .*?( LEFT-JOIN)?": lambda m: (
        f"Scan {m[1]}, a virtual table.{f' {_UNMATCHED}' if m[2] else ''}"
    ),
    r"CO-ROUTINE (.+)": lambda m: f"Make the rows of {_part(m[1])} one by one, for what follows:",
    r"MATERIALIZE (.+)": lambda m: f"Make all rows of {_part(m[1])} and put them aside:",
    r"(CORRELATED )?(SCALAR|LIST) SUBQUERY (\d+)": lambda m: (
        _SUBQUERIES[m[2]][bool(m[1])].format(m[3])
    ),
    r"REUSE (?:LIST )?SUBQUERY (\d+)": lambda m: f"Use subquery {m[1]} again.",
    r"MULTI-INDEX OR": lambda _: "Find the rows by each part of an OR, each row once:",
    r"INDEX (\d+)": lambda m: f"By part {m[1]}:",
    r"RIGHT-JOIN (.+)": lambda m: (
        f"Go on with the rows of {m[1]} that matched nothing, NULL in the other columns:"
    ),
    r"COMPOUND QUERY": lambda _: "Put queries together:",
    r"LEFT-MOST SUBQUERY": lambda _: "Begin with the first query:",
    r"UNION ALL": lambda _: "Add all rows of the next query:",
    r"(UNION|EXCEPT|INTERSECT) USING TEMP B-TREE": lambda m: _ADDED[m[1]],
    r"MERGE \((UNION|UNION ALL|EXCEPT|INTERSECT)\)": lambda m: (
        f"Merge two sorted queries by {m[1]}, {_MERGED[m[1]]}:"
    ),
    r"LEFT": lambda _: "The first query:",
    r"RIGHT": lambda _: "The second query:",
    r"SETUP": lambda _: "Begin with these rows:",
    r"RECURSIVE STEP": lambda _: "For each row that is there, add what follows from it:",
    r"USE TEMP B-TREE FOR ORDER BY": lambda _: "Sort the rows.",
    r"USE TEMP B-TREE FOR GROUP BY": lambda _: "Sort the rows, to take groups together.",
    r"USE TEMP B-TREE FOR DISTINCT": lambda _: "Leave out rows that came before.",
    r"USE TEMP B-TREE FOR LAST TERM OF ORDER BY": lambda _: (
        "Sort rows that are equal so far by the last term of the order."
    ),
    r"USE TEMP B-TREE FOR LAST (\d+) TERMS OF ORDER BY": lambda m: (
        f"Sort rows that are equal so far by the last {m[1]} terms of the order."
    ),
    r"USE TEMP B-TREE FOR (\w+)\(DISTINCT\)": lambda m: f"For {m[1]}, take each value once.",
    r"USE TEMP B-TREE FOR (\w+)\(ORDER BY\)": lambda m: f"For {m[1]}, sort its values.",
    r"CREATE BLOOM FILTER": lambda _: "Make a quick filter of its values.",
}  # fmt: skip
"""Lines that are told by their form alone."""
