"""A query's facts, read from its parse tree: names resolved, aliases and places looked through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import (
    AggregateCall,
    Clause,
    Comparison,
    Constant,
    DatePart,
    JoinFact,
    JoinKind,
    OrderKey,
    QueryFacts,
    SelectFacts,
    SetFacts,
    Term,
    TermParts,
    constant_last,
    unique,
)
from sqlwright.sql.names import (
    Names,
    Source,
    common_tables,
    is_star,
    numbered_item,
    read_from,
    renamed_item,
)
from sqlwright.sql.shape.tree import shaped_tree
from sqlwright.sql.tree_facts.nodes import (
    CONDITIONS,
    DATES,
    aggregate_of,
    bare_query,
    date_part_of,
    is_distinct,
    is_number,
    left_out_of,
    only_source,
    parts_of_window,
    row_count,
    set_operator,
    sides_of,
    signed_number,
    value_of,
)


@dataclass
class OpenSelect:
    """A SELECT while it is read."""

    place: int
    names: Names
    clauses: dict[Clause, TermParts] = field(default_factory=dict)
    connectives: int = 0
    alternatives: int = 0

    def parts(self, clause: Clause) -> TermParts:
        return self.clauses.setdefault(clause, TermParts())


@dataclass
class TermReader:
    """Reads expressions and conditions; what they compare and name is kept."""

    query: Callable[[exp.Expr, Names], int]
    """Reads a query within one; its place among the SELECTs."""
    comparisons: list[Comparison] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    columns: dict[ColumnRef, None] = field(default_factory=dict)

    def term(
        self,
        node: exp.Expr,
        own: OpenSelect,
        clause: Clause,
        *,
        names: Names | None = None,
        quiet: bool = False,
    ) -> Term:
        """An expression. `quiet`: it stands elsewhere in the query and is another name there, so
        its constants, comparisons and queries aren't told again."""
        if quiet:
            term = TermReader(_elsewhere).term(
                node, OpenSelect(own.place, own.names), clause, names=names
            )
            term = replace(term, queries=())
            own.parts(clause).take(term)
            return term
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Star):
            return Term(star=True)
        parts = TermParts()
        names = own.names if names is None else names
        column = constant = aggregate = None
        if isinstance(node, exp.Column):
            named = names.find(node)
            if named.behind is not None:
                return self.term(named.behind, own, clause, names=names.stored(), quiet=True)
            column = named.column
        waiting = [node]
        while waiting:
            one = waiting.pop()
            found = self._part(one, own, clause, names, parts)
            if found is None:
                window = parts_of_window(one)
                within = list(one.iter_expressions()) if window is None else window
                waiting += reversed(within)
            elif one is node:
                constant = found if isinstance(found, Constant) else None
                aggregate = found if isinstance(found, AggregateCall) else None
        term = parts.term(column=column, constant=constant, aggregate=aggregate)
        own.parts(clause).take(term)
        return term

    def _part(
        self, node: exp.Expr, own: OpenSelect, clause: Clause, names: Names, parts: TermParts
    ) -> object | None:
        """Add what a node is to the parts; None where what is in it counts by itself."""
        if isinstance(node, exp.Column):
            return self._named(node, own, clause, names, parts)
        number = signed_number(node)
        if isinstance(node, exp.Literal) or number is not None:
            start = node.meta.get("start") if number is None and node.is_string else None
            return self._constant(value_of(node) if number is None else number, parts, start=start)
        if isinstance(node, exp.Query):
            parts.queries.append(self.query(node, names))
            return node
        if isinstance(node, CONDITIONS):
            self.condition(node, own, clause, into=parts, names=names)
            return node
        called = aggregate_of(node)
        if called is not None:
            return self._aggregate(*called, (own, clause, names, parts))
        part = date_part_of(node)
        if part is None:
            return None
        name, moment = part
        if not DATES & {name}:
            self._constant(name, parts, is_format=True)
        inner = self.term(moment, own, clause, names=names)
        parts.take(inner)
        parts.dates.append(DatePart(name, inner.columns))
        return node

    def _named(
        self, node: exp.Column, own: OpenSelect, clause: Clause, names: Names, parts: TermParts
    ) -> object:
        if is_star(node):
            return node
        named = names.find(node)
        if named.behind is not None:
            parts.take(self.term(named.behind, own, clause, names=names.stored(), quiet=True))
        if named.literal is not None:
            return self._constant(named.literal, parts)
        if named.column is not None:
            parts.columns[named.column] = None
            self.columns[named.column] = None
        return node

    def _constant(
        self,
        value: str | float,
        parts: TermParts,
        *,
        is_format: bool = False,
        start: int | None = None,
    ) -> Constant:
        constant = Constant(value, is_format, start)
        parts.constants.append(constant)
        self.constants.append(constant)
        return constant

    def _aggregate(
        self,
        function: str,
        operand: exp.Expr | None,
        where: tuple[OpenSelect, Clause, Names, TermParts],
    ) -> AggregateCall:
        own, clause, names, parts = where
        distinct = isinstance(operand, exp.Distinct)
        if isinstance(operand, exp.Distinct) and len(operand.expressions) == 1:
            operand = operand.expressions[0]
        rows = isinstance(operand, (exp.Star, exp.Literal)) and function == "count"
        if operand is None or (rows and not distinct):
            argument = Term(star=True)
        else:
            argument = self.term(operand, own, clause, names=names)
        parts.take(argument)
        call = AggregateCall(function, argument, distinct)
        parts.aggregates.append(call)
        return call

    # ---- conditions

    def condition(
        self,
        node: exp.Expr,
        own: OpenSelect,
        clause: Clause,
        *,
        negated: bool = False,
        into: TermParts | None = None,
        names: Names | None = None,
    ) -> None:
        """Read a condition; what is in it is added to `into`, else to the clause."""
        while isinstance(node, (exp.Paren, exp.Not, exp.Escape)):
            negated ^= isinstance(node, exp.Not)
            node = node.this
        if isinstance(node, (exp.And, exp.Or)):
            operands = list(node.flatten())
            own.connectives += len(operands) - 1
            own.alternatives += (len(operands) - 1) * isinstance(node, exp.Or)
            for one in operands:
                self.condition(one, own, clause, negated=negated, into=into, names=names)
            return
        own.connectives += isinstance(node, exp.Between)
        operator, sides = sides_of(node)
        terms = [self.term(one, own, clause, names=names) for one in sides]
        for term in terms if into is not None else ():
            into.take(term)  # type: ignore[union-attr]
        if operator == "exists":
            terms.insert(0, Term())
        if len(terms) == 2:
            operator, *terms = constant_last(operator, *terms)
        negated ^= bool(node.args.get("negate"))
        self.comparisons.append(
            Comparison(own.place, clause, operator, terms[0], tuple(terms[1:]), negated)
        )


def _elsewhere(*_: object) -> int:
    """For a query that is read where it stands, not where its other name does."""
    return -1


_CLAUSES = frozenset(
    {"expressions", "distinct", "joins", "where", "group", "having", "order", "limit", "offset"}
    | {"with", "with_", "from", "from_", "kind", "hint"}
)


def query_facts(sql: str, schema: Schema) -> QueryFacts | None:
    """The facts of a query in the schema's dialect; None when the text is no query or is nested too
    deeply to be read."""
    tree = shaped_tree(sql, schema.dialect, schema.day_columns, schema.span_columns)
    if tree is None:
        return None
    try:
        reader = _TreeReader()
        reader.query(tree, Names(schema), whole=True)
    except (RecursionError, SqlglotError, ValueError):
        return None
    return reader.facts()


@dataclass
class _TreeReader:
    _selects: list[SelectFacts] = field(default_factory=list)
    _operations: list[SetFacts] = field(default_factory=list)
    _order: tuple[OrderKey, ...] = ()
    _limit: int | None = None

    def __post_init__(self) -> None:
        self._terms = TermReader(self.query)

    def facts(self) -> QueryFacts | None:
        """All that was read; None when there is no SELECT in it."""
        if not self._selects:
            return None
        return QueryFacts(
            tuple(self._selects),
            tuple(self._operations),
            tuple(self._terms.comparisons),
            tuple(self._terms.constants),
            tuple(self._terms.columns),
            self._order,
            self._limit,
        )

    def query(self, node: exp.Expr, names: Names, *, whole: bool = False) -> int:
        """Read a query; the place of its first SELECT, the next one's where it has none."""
        node = bare_query(node)
        place = len(self._selects)
        if isinstance(node, exp.SetOperation):
            names = self._common(node, names)
            place = self.query(node.this, names)
            right = self.query(node.expression, names)
            self._operations.append(SetFacts(set_operator(node), place, right))
            self._rows_of_set(node, names, place, whole=whole)
        elif isinstance(node, exp.Select):
            inner = only_source(node)
            if inner is not None:
                return self.query(inner, self._common(node, names), whole=whole)
            place = self._select(node, names)
            if whole:
                self._order = self._selects[place].order
                self._limit = self._selects[place].limit
        return place

    def _rows_of_set(
        self, node: exp.SetOperation, names: Names, place: int, *, whole: bool
    ) -> None:
        """ORDER BY and LIMIT of a set operation, which name what its first SELECT shows."""
        select = node
        while isinstance(select, (exp.SetOperation, exp.Subquery, exp.Paren)):
            select = select.this
        if not isinstance(select, exp.Select):
            return
        own = OpenSelect(place, names.within(select))
        order, limit = self._ordered(node, select, own), row_count(node.args.get("limit"))
        if whole:
            self._order, self._limit = order, limit

    def _common(self, node: exp.Expr, names: Names) -> Names:
        """The names with the query's common table expressions, which are read here."""
        names = names.with_queries(node)
        for cte in common_tables(node):
            self.query(cte.this, names)
        return names

    # ---- one SELECT

    def _select(self, node: exp.Select, names: Names) -> int:
        place = len(self._selects)
        self._selects.append(SelectFacts())
        names = self._common(node, names)
        own = OpenSelect(place, names.within(node))
        shown = tuple(self._item(item, own) for item in node.expressions)
        derived, joins = self._sources(node, names, own)
        where, having = node.args.get("where"), node.args.get("having")
        if where is not None:
            self._terms.condition(where.this, own, "where")
        group = node.args.get("group")
        grouping = tuple(
            self._terms.term(numbered_item(key, node), own, "group", quiet=is_number(key))
            for key in (group.expressions if group is not None else ())
        )
        if having is not None:
            self._terms.condition(having.this, own, "having")
        order = self._ordered(node, node, own)
        self._others(node, own)
        self._selects[place] = SelectFacts(
            shown,
            is_distinct(node),
            tuple(one.table.name for one in own.names.sources if one.table is not None),
            derived,
            joins,
            tuple(own.parts("on").columns),
            tuple(own.parts("where").columns),
            tuple(own.parts("having").columns),
            having is not None,
            own.connectives,
            own.alternatives,
            grouping,
            order,
            row_count(node.args.get("limit")),
            row_count(node.args.get("offset")),
        )
        return place

    def _item(self, item: exp.Expr, own: OpenSelect) -> Term:
        bare = item.unalias()
        if not is_star(bare):
            return self._terms.term(bare, own, "select", names=own.names.stored())
        alias = own.names.key(bare.table) if isinstance(bare, exp.Column) else ""
        left_out = {own.names.key(name) for name in left_out_of(bare)}
        columns = unique(
            ColumnRef(one.table.name, column.name)
            for one in own.names.sources
            if one.table is not None and alias in {"", own.names.key(one.alias)}
            for column in one.table.columns
            if own.names.key(column.name) not in left_out
        )
        self._terms.columns.update(dict.fromkeys(columns))
        return Term(star=True, columns=columns)

    def _sources(
        self, node: exp.Select, names: Names, own: OpenSelect
    ) -> tuple[tuple[int, ...], tuple[JoinFact, ...]]:
        """Queries in FROM, and what brings each further source in."""
        derived, joins = [], []
        before: list[Source] = []
        for source, (place, join) in zip(own.names.sources, read_from(node), strict=True):
            if isinstance(place, exp.Table):
                for child in place.args.get("expressions") or ():
                    self._terms.term(child, own, "on")
                if place.this is not None and not isinstance(place.this, exp.Identifier):
                    self._terms.term(place.this, own, "on")
            else:
                derived.append(self.query(place, names))
            if join is not None:
                joins.append(self._join(join, source, before, own))
            elif before:
                joins.append(JoinFact("cross"))
            before.append(source)
        return tuple(derived), tuple(joins)

    def _join(
        self, join: exp.Join, source: Source, before: Sequence[Source], own: OpenSelect
    ) -> JoinFact:
        on, side = join.args.get("on"), str(join.args.get("side") or "").upper()
        pairs: list[tuple[ColumnRef, ColumnRef]] = []
        for name in join.args.get("using") or ():
            key = own.names.key(name.name)
            ends = ((one.columns or {}).get(key) for one in (*before, source))
            refs = [ref for ref in ends if ref is not None]
            own.parts("on").columns.update(dict.fromkeys(refs))
            self._terms.columns.update(dict.fromkeys(refs))
            pairs += [(refs[0], refs[-1])] if len(refs) > 1 else []
        if on is not None:
            pairs += self._on(on, own)
        kind: JoinKind = "left" if side == "LEFT" else "other" if side else "inner"
        if join.kind in {"SEMI", "ANTI"} or join.method not in {"", "NATURAL"}:
            kind = "other"
        if not side and on is None and not pairs and not join.args.get("method"):
            kind = "cross"
        return JoinFact(kind, tuple(pairs))

    def _on(self, on: exp.Expr, own: OpenSelect) -> Iterator[tuple[ColumnRef, ColumnRef]]:
        """The equalities of an ON clause; what else it says are conditions."""
        bare = on.unnest()
        operands = list(bare.flatten()) if isinstance(bare, exp.And) else [bare]
        own.connectives += len(operands) - 1
        for one in operands:
            sides = (one.this, one.expression) if isinstance(one, exp.EQ) else ()
            if not sides or not all(isinstance(side, exp.Column) for side in sides):
                self._terms.condition(one, own, "on")
                continue
            found = [self._terms.term(side, own, "on") for side in sides]
            left, right = (term.column for term in found)
            if left is not None and right is not None:
                yield left, right

    def _ordered(self, node: exp.Expr, select: exp.Select, own: OpenSelect) -> tuple[OrderKey, ...]:
        order = node.args.get("order")
        keys = []
        for key in order.expressions if order is not None else ():
            written = key.this if isinstance(key, exp.Ordered) else key
            meant = renamed_item(numbered_item(written, select), own.names)
            names = own.names if meant is written else own.names.stored()
            term = self._terms.term(meant, own, "order", names=names, quiet=meant is not written)
            keys.append(OrderKey(term, bool(key.args.get("desc"))))
        return tuple(keys)

    def _others(self, node: exp.Select, own: OpenSelect) -> None:
        """The rest of a SELECT, which has no fact of its own: its columns and queries count."""
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            self._terms.term(distinct.args["on"], own, "select")
        for name, value in node.args.items():
            for one in value if isinstance(value, list) else [value]:
                if name not in _CLAUSES and isinstance(one, exp.Expr):
                    self._terms.term(one, own, "select")
        for name in ("limit", "offset"):
            part = node.args.get(name)
            if part is not None and row_count(part) == -1:
                self._terms.term(part, own, "order")
