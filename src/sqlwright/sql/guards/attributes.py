"""Names of columns: those that engines add to every table, and those that may call a function."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlwright.schema import fold_name
from sqlwright.sql.guards.nodes import called_name, expression_read
from sqlwright.sql.guards.rules import Own, Rules, words
from sqlwright.sql.tokens import UnreadableQuery

if TYPE_CHECKING:
    from sqlglot import exp

_BESIDE = frozenset({"level", "rowid", "rownum"})
"""Names that Oracle has beside columns, which call nothing of the database's own."""
_CLAUSES = words("distinct expressions group having order qualify where windows")
"""Parts of a query in which each of its sources can be named."""
_INNER = words("this expression with_ joins laterals")
"""Parts of a query in parentheses, or of several that are put together, that hold others."""
_GIVEN = {
    **dict.fromkeys(("json_each", "json_each_text"), ("key", "value")),
    **dict.fromkeys(("jsonb_each", "jsonb_each_text"), ("key", "value")),
    **dict.fromkeys(("json_array_elements", "json_array_elements_text"), ("value",)),
    **dict.fromkeys(("jsonb_array_elements", "jsonb_array_elements_text"), ("value",)),
}
"""Columns of what PostgreSQL's own table functions give, where it isn't the alias."""


@dataclass(frozen=True, slots=True)
class _Row:
    """The names that may stand after a dot without calling a function."""

    names: tuple[str, ...] = ()
    """In their order; empty for one that can't be told."""
    whole: bool = True
    """The names are all that there are, so the order counts."""
    stored: bool = False
    """Beside them, any column of a stored table."""

    def renamed(self, listed: tuple[str, ...]) -> _Row:
        """The row with an alias's own names for its first columns."""
        rest = self.names[len(listed) :] if self.whole else ()
        return _Row(listed + rest, self.whole, self.stored) if listed else self


def check_columns(tree: exp.Expr, rules: Rules, columns: Container[str] | None, own: Own) -> None:
    """Raise UnreadableQuery for columns that are none.

    In PostgreSQL `t.f` calls f on the row of t where t has no column f, or on t's value where t is
    what a function gives. So after a name stands what every source that it may mean has: of a
    stored table, where the columns of the listed tables are known, one of these; of a query
    within this one, a name that it gives; of a function, the column that its alias names, or those
    that one of the database's own is known to give. A stored column called like a function of the
    database's own that takes a row is none after a dot: another table of the query may lack it. In
    Oracle a name that is no column's calls a function, with a dot or without: it is held to the
    same."""
    from sqlglot import exp

    given = {_folded(alias.args["alias"], rules) for alias in tree.find_all(exp.Alias)}
    given |= {name for alias in tree.find_all(exp.TableAlias) for name in _columns(alias, rules)}
    sources = _Sources(tree, rules, own) if rules.attributes_call or rules.names_call else None
    for column in tree.find_all(exp.Column):
        if not isinstance(column.this, exp.Identifier):
            continue  # all columns, or a function behind its namespace
        name = _folded(column.this, rules)
        if sources is not None and column.table:
            known = sources.have(column, name, columns)
        elif rules.names_call:
            known = name in given | _BESIDE or _is_stored(name, rules, columns)
        else:
            known = name not in rules.own_columns or name in given
        if not known:
            written = f"{column.table}.{column.name}" if column.table else column.name
            raise UnreadableQuery(
                f"no such column: {written}", cause="unknown_column", name=written
            )


def _is_stored(name: str, rules: Rules, columns: Container[str] | None) -> bool:
    """True if a folded name may be that of a stored table's column."""
    if name in rules.own_columns:
        return False
    return columns is None or name in columns or (rules.names_call and name.upper() in columns)


class _Sources:
    """The sources that names before a dot stand for."""

    def __init__(self, tree: exp.Expr, rules: Rules, own: Own) -> None:
        from sqlglot import exp

        self._rules, self._own = rules, own
        self._named: dict[str, list[exp.Expr]] = {}
        self._placed: dict[tuple[str, int], list[exp.Expr]] = {}
        self._rows: dict[int, _Row] = {}
        for node in tree.find_all(exp.Table, exp.Subquery, exp.Values, exp.Lateral, exp.Unnest):
            named = _alias(node) or node.this
            if isinstance(named, exp.Anonymous) and self._own_columns(node):
                named = named.args["this"]  # without an alias the function's name is one
            if isinstance(named, (exp.Identifier, str)):
                name = _folded(named, rules)
            elif isinstance(node, exp.Unnest) or isinstance(named, (exp.Func, exp.Dot)):
                name = ""  # the function's name, of which the parser knows several
            else:
                continue
            self._named.setdefault(name, []).append(node)
            self._placed.setdefault((name, id(node.find_ancestor(exp.Select))), []).append(node)

    def have(self, column: exp.Column, name: str, columns: Container[str] | None) -> bool:
        """True if each source that may be meant before a column's dot has such a column."""
        if self._rules.attributes_call and self._rules.own_tables.fullmatch(name):
            return False
        stored = _is_stored(name, self._rules, columns) and fold_name(name) not in self._own.of_rows
        rows = [self._row(node) for node in self._meant(column)]
        return bool(rows) and all(name in row.names or (row.stored and stored) for row in rows)

    def _meant(self, column: exp.Column) -> list[exp.Expr]:
        """The sources that the name before a column's dot may mean: of the queries around it the
        innermost that has one, and those further out where it isn't sure that this one can be named
        there. All of that name where the place is an unusual one."""
        from sqlglot import exp

        name = _folded(column.args["table"], self._rules)
        if column.args.get("db"):
            return self._named.get(name, [])
        rules = self._rules
        known = rules.functions, rules.table_functions, rules.types, self._own.functions
        may_be_called = any(name in names for names in known)
        found: list[exp.Expr] = []
        around: set[int] = set()  # a source isn't seen within itself
        within: exp.Expr = column
        below: exp.Expr = column
        while (above := below.parent) is not None:
            if below.arg_key not in {"joins", "laterals"}:
                around.add(id(above))
            if isinstance(above, exp.Select):
                here = self._placed.get((name, id(above)), [])
                here = [node for node in here if id(node) not in around]
                found += here
                if any(_can_be_named(node, above, within, below) for node in here):
                    return found
                if may_be_called:
                    found += self._placed.get(("", id(above)), [])
            elif isinstance(above, exp.Query) and below.arg_key not in _INNER:
                return self._named.get(name, [])
            within, below = below, above
        return found

    def _row(self, node: exp.Expr) -> _Row:
        found = self._rows.get(id(node))
        if found is None:
            self._rows[id(node)] = _Row()  # what is looked at within itself has no columns yet
            alias = node.args.get("alias")
            listed = tuple(_columns(alias, self._rules)) if alias is not None else ()
            found = self._rows[id(node)] = self._unnamed(node).renamed(listed)
        return found

    def _unnamed(self, node: exp.Expr) -> _Row:
        """The columns of a source but for the names that its alias gives them."""
        from sqlglot import exp

        if isinstance(node, exp.Subquery):
            return self._inner(node.this)
        if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            return self._inner(node.this)
        if isinstance(node, exp.Values):
            width = len(node.expressions[0].expressions) if node.expressions else 0
            return _Row(tuple(f"column{number}" for number in range(1, width + 1)))
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            expression = expression_read(node, self._rules)
            if expression is None:
                return _Row(stored=True, whole=False)
            alias = expression.args["alias"]
            return self._inner(expression.this).renamed(tuple(_columns(alias, self._rules)))
        return self._given(node)

    def _given(self, node: exp.Expr) -> _Row:
        """The columns of what a function gives."""
        from sqlglot import exp

        alias, called = _alias(node), node if isinstance(node, exp.Unnest) else node.this
        own = self._own_columns(node)
        if own:
            return _Row(tuple(sorted(own)), whole=False)
        names = _GIVEN.get(fold_name(called.name), ()) if isinstance(called, exp.Anonymous) else ()
        if isinstance(called, exp.JSONTable):
            found = called.find_all(exp.JSONColumnDef)
            names = tuple(_folded(one.this, self._rules) for one in found if one.this is not None)
        if not names and alias is not None:
            names = (_folded(alias, self._rules),)
        offset = called.args.get("offset") or node.args.get("offset")
        if offset or node.args.get("ordinality"):
            # The parser takes the last name of an alias's list for that of the number.
            named = isinstance(offset, exp.Identifier)
            names += (_folded(offset, self._rules) if named else "ordinality",)
        return _Row(names)

    def _own_columns(self, node: exp.Expr) -> frozenset[str]:
        """The columns of a function of the database's own that a node reads like a table."""
        from sqlglot import exp

        called = node.this.expression if isinstance(node.this, exp.Dot) else node.this
        if not isinstance(called, exp.Anonymous):
            return frozenset()
        return self._own.columns.get(called_name(called), frozenset())

    def _inner(self, query: exp.Expr) -> _Row:
        """The columns that a query gives, or tables in parentheses."""
        from sqlglot import exp

        if isinstance(query, (exp.Subquery, exp.Table)):
            return self._joined([query, *_beside(query)])
        if isinstance(query, (exp.SetOperation, exp.Paren)):
            return self._inner(query.this)
        if isinstance(query, exp.Values):
            return self._row(query)
        if not isinstance(query, exp.Select):
            return _Row()
        rows = [self._projected(one, query) for one in query.expressions]
        return _together(rows)

    def _projected(self, one: exp.Expr, query: exp.Select) -> _Row:
        from sqlglot import exp

        if isinstance(one, exp.Alias):
            return _Row((_folded(one.args["alias"], self._rules),))
        source = query.args.get("from_")
        nodes = [source.this, *_beside(source.this)] if source is not None else []
        nodes += _beside(query)
        if isinstance(one, exp.Star):
            return self._joined(nodes)
        if isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
            named = self._named.get(_folded(one.args["table"], self._rules), [])
            named = [node for node in named if any(node is its for its in nodes)] or named
            rows = [self._row(node) for node in named]
            if len(rows) == 1:
                return rows[0]
            common = set.intersection(*(set(row.names) for row in rows)) if rows else set[str]()
            return _Row(tuple(sorted(common)), False, any(row.stored for row in rows))
        if isinstance(one, exp.Column):
            return _Row((_folded(one.this, self._rules),))
        call = one
        while isinstance(call, (exp.Cast, exp.Window, exp.Filter, exp.WithinGroup)):
            call = call.this
        if isinstance(call, exp.Func):
            name = fold_name(call.name if isinstance(call, exp.Anonymous) else call.sql_name())
            # Were the column called otherwise, this would call a function that may be called.
            if name in self._rules.functions and name not in self._own.others:
                return _Row((name,))
        return _Row(("",), stored=isinstance(one, exp.Dot), whole=not isinstance(one, exp.Dot))

    def _joined(self, nodes: Iterable[exp.Expr]) -> _Row:
        return _together([self._row(node) for node in nodes])


def _can_be_named(node: exp.Expr, query: exp.Select, within: exp.Expr, below: exp.Expr) -> bool:
    """True if a source of a query can surely be named in a part of it: `below`, or `within` that.
    One within parentheses that have an alias can't, nor before ON what a comma parts from it."""
    from sqlglot import exp

    place: exp.Expr | None = node
    while place is not None and place.parent is not query:
        place = place.parent if isinstance(place.parent, (exp.From, exp.Join)) else None
    if place is None:
        return False
    if place.arg_key not in {"from_", "joins"} or below.arg_key in _CLAUSES:
        return place.arg_key in {"from_", "joins"}
    if below.arg_key != "joins" or within.arg_key != "on":
        return False
    first, last = -1 if place.arg_key == "from_" else place.index or 0, below.index or 0
    joins = query.args["joins"][first + 1 : last + 1]
    marks = ("kind", "side", "method", "on", "using")
    return first <= last and all(any(map(join.args.get, marks)) for join in joins)


def _together(rows: list[_Row]) -> _Row:
    return _Row(
        tuple(name for row in rows for name in row.names),
        all(row.whole for row in rows),
        any(row.stored for row in rows),
    )


def _beside(node: exp.Expr) -> Iterator[exp.Expr]:
    """The sources that are joined to a table or query."""
    for join in node.args.get("joins") or ():
        yield join.this
        yield from _beside(join.this)
    yield from node.args.get("laterals") or ()


def _alias(node: exp.Expr) -> exp.Expr | None:
    """The name that an alias gives a source."""
    from sqlglot import exp

    alias = node.args.get("alias")
    named = alias.this if isinstance(alias, exp.TableAlias) else None
    return named if isinstance(named, exp.Expr) else None


def _folded(part: object, rules: Rules) -> str:
    """A name as the engine looks it up."""
    quoted = bool(getattr(part, "quoted", False))
    name = str(getattr(part, "name", part))
    return name if quoted and rules.names == "lower" else fold_name(name)


def _columns(alias: exp.Expr, rules: Rules) -> Iterator[str]:
    from sqlglot import exp

    for column in alias.args.get("columns") or ():
        yield _folded(column.this if isinstance(column, exp.ColumnDef) else column, rules)
