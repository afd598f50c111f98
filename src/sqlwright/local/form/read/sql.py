"""SQL as the form: names resolved, joins left out, equivalent spellings made one.

Raises UnsupportedQuery for what the form doesn't have (recursion, joins on anything but equality,
...); whatever it returns follows the grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NoReturn

from sqlglot import exp

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.joins import Node, node_of, plan_joins
from sqlwright.local.form.kept import compacted
from sqlwright.local.form.read.expressions import ExpressionReader
from sqlwright.local.form.read.names import Entry, NameScope, Readable, lookup_table
from sqlwright.local.form.scopes import mentions, replace_columns
from sqlwright.local.form.sequence.delinear import combine
from sqlwright.local.form.sequence.grammar import GrammarState
from sqlwright.local.form.sequence.linear import linearize
from sqlwright.schema import Schema
from sqlwright.sql.declared_types import affinity
from sqlwright.sql.dialects import dialect_of
from sqlwright.sql.shape.tree import shaped_tree
from sqlwright.sql.tree import node_text
from sqlwright.sql.tree_facts.nodes import left_out_of

_Columns = frozenset[f.Column | f.DerivedColumn]


def canonicalize(
    select: f.Select, nodes: Sequence[Node], edges: Sequence[f.Join], schema: Schema
) -> f.Select:
    """`select` with its joins left out where the keys give them, else written down.

    `nodes` is what stands in the query's FROM clause, in order, `edges` the equalities that join
    them; conditions of `select` are searched for more when these leave tables apart.
    """
    edges = list(edges)
    select = _lift(select, nodes, edges)
    if not any(edge.outer for edge in edges):
        parents = _parents(_classes(edges), nodes, schema)
        select = replace_columns(select, lambda node: _parent(node, parents))
    select = _count_one_table(select, nodes, edges, schema)
    silent = _unmentioned(select, nodes)
    if not any(edge.outer for edge in edges):
        wanted = (frozenset(nodes), _classes(edges))
        for attempt in _attempts(select, edges, silent, nodes):
            if _restored(attempt, schema) == wanted:
                return attempt
    return _explicit(select, nodes, edges, silent)


def _unmentioned(select: f.Select, nodes: Sequence[Node]) -> list[f.Source]:
    mentioned = set(mentions(select))
    return [node for node in nodes if isinstance(node, f.Source) and node not in mentioned]


def _attempts(
    select: f.Select, edges: Sequence[f.Join], silent: Sequence[f.Source], nodes: Sequence[Node]
) -> Iterator[f.Select]:
    """Ever more said about the FROM clause: nothing, tables, one join, one join and tables."""
    for extra in _choices(silent):
        yield replace(select, extra=extra)
    if len(edges) < 2:
        return
    for edge in edges:
        (join,) = _forward([edge], nodes)
        rest = [node for node in silent if node not in (node_of(edge.left), node_of(edge.right))]
        for extra in _choices(rest):
            yield replace(select, joins=(join,), extra=extra)


def _forward(edges: Sequence[f.Join], nodes: Sequence[Node]) -> list[f.Join]:
    """Joins with the side that comes first in the FROM clause on the left."""
    order = {node: place for place, node in enumerate(nodes)}
    joins = []
    for edge in edges:
        backwards = order[node_of(edge.left)] > order[node_of(edge.right)] and not edge.outer
        joins.append(f.Join(edge.right, edge.left) if backwards else edge)
    return joins


def _choices(silent: Sequence[f.Source]) -> Iterator[tuple[f.Source, ...]]:
    yield ()
    if len(silent) > 1:
        yield from ((source,) for source in silent)
    if silent:
        yield tuple(silent)


def _restored(
    select: f.Select, schema: Schema
) -> tuple[frozenset[Node], frozenset[_Columns]] | None:
    """The nodes and joins that the writer would put into the FROM clause."""
    try:
        steps = plan_joins(mentions(select), schema, joins=select.joins)
    except UnsupportedQuery:
        return None
    nodes = frozenset(step.node for step in steps)
    return nodes, _classes([join for step in steps for join in step.on])


def _explicit(
    select: f.Select, nodes: Sequence[Node], edges: Sequence[f.Join], silent: Sequence[f.Source]
) -> f.Select:
    first, *apart = _components(nodes, edges)
    crossed = [node for group in apart for node in group if isinstance(node, f.Source)]
    joined = {node_of(end) for edge in edges for end in (edge.left, edge.right)}
    extra = [node for node in first if node in silent and node not in joined]
    return replace(
        select,
        joins=tuple(_forward(edges, nodes)),
        crossed=tuple(crossed),
        extra=tuple(node for node in extra if isinstance(node, f.Source)),
    )


def _components(nodes: Sequence[Node], edges: Iterable[f.Join]) -> list[list[Node]]:
    group_of = {node: [node] for node in nodes}
    for edge in edges:
        left, right = group_of[node_of(edge.left)], group_of[node_of(edge.right)]
        if left is not right:
            left.extend(right)
            group_of.update(dict.fromkeys(right, left))
    return list({id(group): group for group in group_of.values()}.values())


def _lift(select: f.Select, nodes: Sequence[Node], edges: list[f.Join]) -> f.Select:
    """Equalities of WHERE that tie what the joins leave apart become joins."""
    where = select.where
    operands = where.operands if isinstance(where, f.And) else (where,) if where else ()
    kept = []
    for operand in operands:
        match operand:
            case f.Comparison("=", f.Column() | f.DerivedColumn(), f.Column() | f.DerivedColumn()):
                if _ties(operand, nodes, edges):
                    edges.append(f.Join(operand.left, operand.right))  # type: ignore[arg-type]
                    continue
        kept.append(operand)
    if len(kept) == len(operands):
        return select
    return replace(select, where=f.And(tuple(kept)) if len(kept) > 1 else next(iter(kept), None))


def _ties(operand: f.Comparison, nodes: Sequence[Node], edges: Sequence[f.Join]) -> bool:
    ends = (operand.left, operand.right)
    if any(isinstance(end, f.Column) and end.outer for end in ends):
        return False
    left, right = (node_of(end) for end in ends if isinstance(end, f.Column | f.DerivedColumn))
    return not any(left in group and right in group for group in _components(nodes, edges))


def _classes(edges: Iterable[f.Join]) -> frozenset[_Columns]:
    """Columns that the joins make equal."""
    class_of: dict[f.Column | f.DerivedColumn, set[f.Column | f.DerivedColumn]] = {}
    for edge in edges:
        joined = class_of.get(edge.left, {edge.left}) | class_of.get(edge.right, {edge.right})
        class_of.update(dict.fromkeys(joined, joined))
    return frozenset(frozenset(columns) for columns in class_of.values())


def _parents(
    classes: Iterable[_Columns], nodes: Sequence[Node], schema: Schema
) -> dict[f.Column, f.Column]:
    """For each column of a class, the one that the keys of the class refer to."""
    order = {node: place for place, node in enumerate(nodes)}
    keys = schema.key_pairs
    found: dict[f.Column, f.Column] = {}
    for members in classes:
        columns = [column for column in members if isinstance(column, f.Column)]
        columns.sort(key=lambda column: order[node_of(column)])
        refs = {column.ref for column in columns}
        joined = {pair for pair in product(refs, refs) if pair in keys}
        near = {left for left, right in joined if left != right}
        far = {right for _, right in joined}
        parent = next((column for column in columns if column.ref in far - near), None)
        if parent is not None:
            kind = affinity(schema, parent.ref)
            found |= {column: parent for column in columns if affinity(schema, column.ref) == kind}
    return found


def _parent(node: f.Column | f.Star, parents: Mapping[f.Column, f.Column]) -> f.Column | f.Star:
    return parents.get(node, node) if isinstance(node, f.Column) else node


def _count_one_table(
    select: f.Select, nodes: Sequence[Node], edges: Sequence[f.Join], schema: Schema
) -> f.Select:
    """`COUNT(*)` counts the rows of a table that nothing else mentions, else of any: the one that
    refers to the most others of the query, the first of several."""
    tables = [node for node in nodes if isinstance(node, f.Source) and node.instance == 1]
    if not tables:
        return select
    mentioned = set(mentions(select))
    silent = [node for node in tables if node not in mentioned]
    keys = schema.key_pairs
    refers: Counter[Node] = Counter()
    for edge in edges:
        if isinstance(edge.left, f.Column) and isinstance(edge.right, f.Column):
            pair = (edge.left.ref, edge.right.ref)
            refers[node_of(edge.left)] += (pair in keys) - (pair[::-1] in keys)
            refers[node_of(edge.right)] += (pair[::-1] in keys) - (pair in keys)
    counted = max(silent or tables, key=lambda node: refers[node])

    def change(node: f.Column | f.Star) -> f.Column | f.Star:
        if isinstance(node, f.Star) and node.table is None:
            return f.Star(counted.table)
        return node

    return replace_columns(select, change)


_SET_OPERATORS: dict[type[exp.Expr], f.SetOperator] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}
_MOST_JOINS = 40
"""More are no query of a person's, and take time of their square to bring in order."""
_UNSUPPORTED = ("windows", "laterals", "pivots", "qualify", "kind", "sample", "connect")

_SOURCE = frozenset({"this", "db", "catalog", "alias", "joins", "indexed", "only"})
"""The parts of a table in FROM that the form knows."""
_JOIN = frozenset({"", "NATURAL"})

_Tables = Mapping[str, exp.Expr]
"""Common table expressions by the names that they are looked for by."""


def read_sql(sql: str, schema: Schema) -> f.Query:
    """A query over `schema`, in its dialect, as a form that the grammar can say.

    Names are resolved as the schema's dialect does it; in SQLite a double-quoted name that is no
    column is a text. Raises UnsupportedQuery.
    """
    tree = shaped_tree(sql, schema.dialect, schema.day_columns, schema.span_columns)
    if tree is None:
        raise UnsupportedQuery("not a query that can be read")
    try:
        query = _FormReader(schema, {}).query(tree, None, top=True)
    except RecursionError:
        raise UnsupportedQuery("nested too deeply for the form") from None
    state = GrammarState()
    for symbol in linearize(query):
        state = state.advance(symbol)
    return query


def _refuse(what: str) -> NoReturn:
    raise UnsupportedQuery(f"{what} isn't part of the form")


class _FormReader:
    def __init__(self, schema: Schema, tables: _Tables) -> None:
        self._schema = schema
        self._tables = tables
        self._is_sqlite = schema.dialect == "sqlite"
        self._exact = dialect_of(schema).case != "blind"

    def query(self, node: exp.Expr, outer: NameScope | None, *, top: bool = False) -> f.Query:
        """A SELECT or a set operation; `outer` is the scope its subquery position can see."""
        while isinstance(node, exp.Subquery | exp.Paren):
            node = node.this
        with_ = node.args.get("with_")
        if with_ is not None:
            return self._with(with_, node, outer, top=top)
        if isinstance(node, exp.Select):
            return self._select(node, outer, top=top)
        if type(node) in _SET_OPERATORS:
            return self._set_operation(node, outer)
        return _refuse(type(node).__name__)

    def _key(self, name: str) -> str:
        """A name as it is looked for."""
        return name if self._exact else name.casefold()

    def _check_source(self, node: exp.Expr) -> None:
        """Refuse what other dialects say of a source and the form can't: samples, new names of
        columns."""
        if self._is_sqlite:
            return
        further = {name for name, value in node.args.items() if value} - _SOURCE
        alias = node.args.get("alias")
        if further:
            _refuse(f"{min(further)} of a table")
        if isinstance(alias, exp.TableAlias) and alias.columns:
            _refuse("a table with renamed columns")

    def _with(
        self, with_: exp.With, node: exp.Expr, outer: NameScope | None, *, top: bool
    ) -> f.Query:
        if with_.args.get("recursive"):
            _refuse("recursion")
        tables = dict(self._tables)
        for table in with_.expressions:
            if table.args["alias"].columns:
                _refuse("a common table expression with renamed columns")
            tables[self._key(table.alias)] = table.this
        rest = node.copy()
        rest.set("with_", None)
        return _FormReader(self._schema, tables).query(rest, outer, top=top)

    def _set_operation(self, node: exp.Expr, outer: NameScope | None) -> f.Query:
        operator = _SET_OPERATORS[type(node)]
        if operator == "union" and not node.args.get("distinct"):
            operator = "union_all"
        elif not node.args.get("distinct", True):
            _refuse(f"{operator} all")
        left = self.query(node.this, outer)
        right = self.query(node.expression, outer)
        if isinstance(right, f.SetOperation):
            _refuse("a set operation on the right of another")
        whole = f.SetOperation(operator, left, right)
        if not any(node.args.get(key) for key in ("order", "limit", "offset")):
            return whole
        return self._wrapped(node, whole)

    def _wrapped(self, node: exp.Expr, whole: f.SetOperation) -> f.Select:
        """A set operation with an order as a SELECT from it."""
        names = [self._key(item.alias_or_name) for item in self._outputs(node)]
        items = tuple(f.DerivedColumn(1, number) for number in range(1, len(names) + 1))
        terms = []
        for term in node.args["order"].expressions if node.args.get("order") else ():
            key = term.this
            if isinstance(key, exp.Literal) and not key.is_string:
                place = int(key.this) - 1
            elif isinstance(key, exp.Column) and self._key(key.name) in names:
                place = names.index(self._key(key.name))
            else:
                _refuse("a set operation ordered by an expression")
            if not 0 <= place < len(items):
                _refuse("an order by an item that isn't there")
            terms.append(f.OrderTerm(items[place], bool(term.args.get("desc"))))
        return f.Select(
            items,
            derived=(whole,),
            order_by=tuple(terms),
            limit=_rows(node.args.get("limit")),
            offset=_rows(node.args.get("offset")),
        )

    def _outputs(self, node: exp.Expr) -> list[exp.Expr]:
        """The items of the first SELECT of a query, stars spelled out."""
        while not isinstance(node, exp.Select):
            if not isinstance(node, exp.Subquery | exp.Paren | exp.SetOperation):
                _refuse(type(node).__name__)
            node = node.this
        items: list[exp.Expr] = []
        for item in node.expressions:
            if item.is_star:
                scope, _, _, _ = self._from(node, None)
                entries = scope.stars(item.table if isinstance(item, exp.Column) else "")
                items += [
                    exp.column(_name(column, number))
                    for entry in entries
                    for number, column in enumerate(scope.visible(entry), 1)
                ]
            else:
                items.append(item)
        return items

    def _select(self, node: exp.Select, outer: NameScope | None, *, top: bool) -> f.Select:
        for key in _UNSUPPORTED:
            if node.args.get(key):
                _refuse(key)
        if len(node.args.get("joins") or ()) > _MOST_JOINS:
            _refuse("so many joins")
        scope, derived, edges, rest = self._from(node, outer)
        scope.items = list(node.expressions)
        read = ExpressionReader(scope, self.query)
        conditions = [read.condition(condition) for condition in rest]
        where = node.args.get("where")
        if where is not None:
            conditions.append(read.condition(where.this))
        group, having = node.args.get("group"), node.args.get("having")
        if group is not None and any(v for k, v in group.args.items() if k != "expressions"):
            _refuse("GROUP BY with more than keys")
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            _refuse("DISTINCT ON")
        select = f.Select(
            self._items(node, scope, read, top=top),
            distinct is not None,
            tuple(derived),
            where=combine(f.And, conditions) if conditions else None,
            group_by=tuple(map(read.grouping, group.expressions)) if group else (),
            having=read.condition(having.this) if having else None,
            order_by=_order(node, read),
            limit=_rows(node.args.get("limit")),
            offset=_rows(node.args.get("offset")),
        )
        nodes = [entry.node for entry in scope.entries]
        return compacted(canonicalize(select, nodes, edges, self._schema))

    def _items(
        self, node: exp.Select, scope: NameScope, read: ExpressionReader, *, top: bool
    ) -> tuple[f.Expression | f.Star, ...]:
        items: list[f.Expression | f.Star] = []
        for item in node.expressions:
            plain = item.unalias()
            if not plain.is_star:
                items.append(read.expression(plain))
                continue
            if left_out_of(plain):
                _refuse("a star without some columns")
            qualifier = plain.table if isinstance(plain, exp.Column) else ""
            for entry in scope.stars(qualifier):
                whole = isinstance(entry.node, f.Source) and entry.node.instance == 1
                if top and whole and not scope.merged:
                    assert isinstance(entry.node, f.Source)
                    items.append(f.Star(entry.node.table))
                else:
                    items.extend(scope.visible(entry))
        if not items:
            _refuse("a SELECT without items")
        return tuple(items)

    # ---- FROM

    def _from(
        self, node: exp.Select, outer: NameScope | None
    ) -> tuple[NameScope, list[f.Query], list[f.Join], list[exp.Expr]]:
        """The names of a FROM clause, its derived tables, its equalities, other ON conditions."""
        scope = NameScope(outer, exact=self._exact, quotes_texts=self._is_sqlite)
        derived: list[f.Query] = []
        edges: list[f.Join] = []
        waiting: list[tuple[exp.Join, Entry]] = []
        from_ = node.args.get("from_")
        if from_ is not None:
            self._add(from_.this, scope, derived)
        for join in node.args.get("joins") or ():
            if join.side not in {"", "LEFT"} or join.kind not in {"", "INNER", "CROSS", "OUTER"}:
                _refuse(f"{join.side} {join.kind} JOIN")
            if join.method not in _JOIN:
                _refuse(f"{join.method} JOIN")
            entry = self._add(join.this, scope, derived)
            edges += self._shared(join, entry, scope)
            waiting.append((join, entry))
        rest: list[exp.Expr] = []
        for join, entry in waiting:
            found, other = self._on(join, entry, scope)
            edges += found
            rest += other
        return scope, derived, edges, rest

    def _add(self, node: exp.Expr, scope: NameScope, derived: list[f.Query]) -> Entry:
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            node = node.this
        if isinstance(node, exp.Table) and not node.args.get("joins"):
            self._check_source(node)
            common = None if node.db else self._tables.get(self._key(node.name))
            if common is None:
                return scope.add_table(lookup_table(self._schema, node), node.alias_or_name)
            # Inside its own text the name means a stored table again.
            hidden = {k: v for k, v in self._tables.items() if k != self._key(node.name)}
            reader = _FormReader(self._schema, hidden)
            return reader._derive(common, node.alias_or_name, scope, derived)
        if isinstance(node, exp.Subquery) and not node.args.get("joins"):
            self._check_source(node)
            return self._derive(node.this, node.alias, scope, derived)
        return _refuse(f"{type(node).__name__} in FROM")

    def _derive(
        self, node: exp.Expr, alias: str, scope: NameScope, derived: list[f.Query]
    ) -> Entry:
        derived.append(self.query(node, None))
        names = [item.alias_or_name or node_text(item) for item in self._outputs(node)]
        return scope.add_derived(len(derived), names, alias or f" {len(derived)}")

    def _shared(self, join: exp.Join, entry: Entry, scope: NameScope) -> list[f.Join]:
        """The equalities of USING or NATURAL."""
        earlier = scope.entries[:-1]
        names = [self._key(identifier.name) for identifier in join.args.get("using") or ()]
        if join.method == "NATURAL":
            names = [n for n in entry.columns if any(n in other.columns for other in earlier)]
        edges = []
        for name in names:
            left = next((other.columns[name] for other in earlier if name in other.columns), None)
            right = entry.columns.get(name)
            if left is None or right is None:
                _refuse(f"USING ({name}), which not both sides have,")
            scope.merged.add((entry.name, name))
            edges.append(f.Join(left, right, join.side == "LEFT"))
        return edges

    def _on(
        self, join: exp.Join, entry: Entry, scope: NameScope
    ) -> tuple[list[f.Join], list[exp.Expr]]:
        """An ON clause: its equalities between sources, and the rest, which WHERE can take."""
        on = join.args.get("on")
        outer = join.side == "LEFT"
        edges: list[f.Join] = []
        rest: list[exp.Expr] = []
        further: list[f.Condition] = []
        read = ExpressionReader(scope, self.query)
        for part in _conjuncts(on) if on is not None else ():
            if part == exp.true():
                continue
            ends = _ends(part, read)
            if ends is not None:
                left, right = ends
                if outer and node_of(left) == entry.node:
                    left, right = right, left
                if not outer or node_of(right) == entry.node:
                    edges.append(f.Join(left, right, outer))
                    continue
            if outer:
                further.append(read.condition(part))
            else:
                rest.append(part)
        if further and not edges:
            _refuse("LEFT JOIN on anything but equality")
        if further:
            edges[-1] = replace(edges[-1], condition=combine(f.And, further))
        return edges, rest


def _name(column: Readable, number: int) -> str:
    return column.ref.column if isinstance(column, f.Column) else f"item_{number}"


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        return [part for side in node.flatten() for part in _conjuncts(side)]
    return [node]


def _ends(node: exp.Expr, read: ExpressionReader) -> tuple[Readable, Readable] | None:
    """Both columns of an equality between two sources."""
    if not isinstance(node, exp.EQ):
        return None
    if not (isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Column)):
        return None
    left, right = read.expression(node.this), read.expression(node.expression)
    for end in (left, right):
        if not isinstance(end, f.Column | f.DerivedColumn):
            return None
        if isinstance(end, f.Column) and end.outer:
            return None
    assert isinstance(left, f.Column | f.DerivedColumn)
    assert isinstance(right, f.Column | f.DerivedColumn)
    return None if node_of(left) == node_of(right) else (left, right)


def _order(node: exp.Select, read: ExpressionReader) -> tuple[f.OrderTerm, ...]:
    order = node.args.get("order")
    if order is None:
        return ()
    return tuple(
        f.OrderTerm(read.ordering(term.this), bool(term.args.get("desc")))
        for term in order.expressions
    )


def _rows(node: exp.Expr | None) -> int | None:
    """A LIMIT or OFFSET."""
    if node is None:
        return None
    value = node.args.get("expression")
    if not (isinstance(value, exp.Literal) and value.this.isdigit()):
        _refuse("a number of rows that isn't a constant")
    return int(value.this)
