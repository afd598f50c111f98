"""What a query shows, compares, groups and orders by, read from its tree for the critic.

Columns are told by name and table; of a query by any author, what can't be told is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from sqlwright.schema import ColumnRef
from sqlwright.sql.tree import enclosing_selects, query_tree

Node = TypeVar("Node", bound=exp.Expr)

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like)


@dataclass(frozen=True)
class Compared:
    """A column that is compared with a literal."""

    column: ColumnRef
    literal: str
    """Lower case, without a pattern's percent signs."""
    is_text: bool
    equal: bool


@dataclass(frozen=True, eq=False)
class Parts:
    """One query's columns by what they are there for; the first SELECT is the one that shows."""

    tree: exp.Expr
    nodes: tuple[exp.Expr, ...]
    """All of the tree, level by level: it is walked once."""
    first: exp.Select
    tables: frozenset[str]
    """Folded names."""
    shown: tuple[ColumnRef, ...]
    """As they are stored."""
    worked_out: tuple[ColumnRef, ...]
    """In aggregates and expressions that are shown, counts aside."""
    counted: tuple[ColumnRef, ...]
    conditions: tuple[ColumnRef, ...]
    grouped: tuple[ColumnRef, ...]
    ordered: tuple[ColumnRef, ...]
    compared: tuple[Compared, ...]
    shown_constant: bool
    """Whether a column is shown that a condition has set to one value."""
    operands: tuple[tuple[ColumnRef, ColumnRef], ...]
    """Columns that a set operation or IN holds against each other."""
    equalities: tuple[tuple[tuple[str, str], tuple[str, str]], ...]
    """Both ends of each join: folded names of table and column."""

    def every(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of these kinds."""
        return every(self.nodes, *kinds)

    def any(self, *kinds: type[exp.Expr]) -> bool:
        """Whether there is a node of these kinds."""
        return any(isinstance(node, kinds) for node in self.nodes)


def every(nodes: Iterable[exp.Expr], *kinds: type[Node]) -> Iterator[Node]:
    """Those of the nodes that are of these kinds."""
    return (node for node in nodes if isinstance(node, kinds))


def read_parts(sql: str, used: Sequence[ColumnRef]) -> Parts | None:
    """What a query over these columns is made of; None when it can't be read."""
    tree = query_tree(sql)
    nodes = tuple(tree.walk()) if tree is not None else ()
    first = next(every(nodes, exp.Select), None)
    if tree is None or first is None:
        return None
    names = _Names(tree, used)
    shown, worked_out, counted = _shown(first, names)
    selects = list(every(nodes, exp.Select))
    compared = list(_compared(nodes, names))
    return Parts(
        tree=tree,
        nodes=nodes,
        first=first,
        tables=frozenset(table.name.casefold() for table in every(nodes, exp.Table)),
        shown=shown,
        worked_out=worked_out,
        counted=counted,
        conditions=names.own(selects, "where", "having"),
        grouped=names.own(selects, "group"),
        ordered=_unique([*names.own(selects, "order"), *_inner_extremes(selects, names)]),
        compared=tuple(one for one, _ in compared),
        shown_constant=any(
            one.equal and one.column in shown and node.find_ancestor(exp.Select) is first
            for one, node in compared
        )
        and not isinstance(tree, exp.SetOperation),
        operands=tuple(_operands(nodes, names)),
        equalities=tuple(_equalities(nodes)),
    )


def _unique(refs: Sequence[ColumnRef]) -> tuple[ColumnRef, ...]:
    return tuple(dict.fromkeys(refs))


class _Names:
    """The columns that a query uses, by folded name."""

    def __init__(self, tree: exp.Expr, used: Sequence[ColumnRef]) -> None:
        self._within = enclosing_selects(tree)
        self._by_name: dict[str, list[ColumnRef]] = {}
        for ref in used:
            self._by_name.setdefault(ref.column.casefold(), []).append(ref)

    def ref(self, node: exp.Expr | None) -> ColumnRef | None:
        """The column that a node is; of several, the one of its table, else the first."""
        if not isinstance(node, exp.Column):
            return None
        found = self._by_name.get(node.name.casefold(), [])
        table = node.table.casefold()
        named = (ref for ref in found if not table or ref.table.casefold() == table)
        return next(named, found[0] if found else None)

    def inside(self, node: exp.Expr) -> list[ColumnRef]:
        """Every column in a node."""
        return [ref for one in node.find_all(exp.Column) if (ref := self.ref(one))]

    def own(self, selects: Sequence[exp.Select], *clauses: str) -> tuple[ColumnRef, ...]:
        """Columns in these clauses of the SELECTs, without those of queries inside of them."""
        nodes = [
            (select, one)
            for select in selects
            for clause in clauses
            if (node := select.args.get(clause)) is not None
            for one in node.find_all(exp.Column)
        ]
        own = [node for select, node in nodes if self._within.get(id(node)) is select]
        return _unique([ref for node in own if (ref := self.ref(node))])


def _shown(
    first: exp.Select, names: _Names
) -> tuple[tuple[ColumnRef, ...], tuple[ColumnRef, ...], tuple[ColumnRef, ...]]:
    shown, worked_out, counted = [], [], []
    for item in first.expressions:
        bare = item.unalias() if isinstance(item, exp.Alias) else item
        if isinstance(bare, exp.Column):
            shown += [ref for ref in [names.ref(bare)] if ref]
        elif isinstance(bare, exp.Count):
            counted += names.inside(bare)
        else:
            worked_out += names.inside(bare)
    return _unique(shown), _unique(worked_out), _unique(counted)


def _inner_extremes(selects: Sequence[exp.Select], names: _Names) -> Iterator[ColumnRef]:
    """Columns whose highest or lowest value an inner query looks for."""
    for select in selects[1:]:
        for item in select.expressions:
            if isinstance(item, (exp.Max, exp.Min)):
                yield from names.inside(item)


def _compared(nodes: Sequence[exp.Expr], names: _Names) -> Iterator[tuple[Compared, exp.Expr]]:
    for node in every(nodes, *_COMPARISONS):
        ref, literal = names.ref(node.this), node.expression
        if ref and isinstance(literal, exp.Literal):
            text = literal.this.casefold().strip("% ")
            yield Compared(ref, text, bool(literal.is_string), isinstance(node, exp.EQ)), node


def _operands(nodes: Sequence[exp.Expr], names: _Names) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    for node in every(nodes, exp.SetOperation):
        if isinstance(node.this, exp.Select) and isinstance(node.expression, exp.Select):
            for pair in zip(node.this.expressions, node.expression.expressions, strict=False):
                left, right = map(names.ref, pair)
                if left and right:
                    yield left, right
    for member in every(nodes, exp.In):
        inner = member.args.get("query")
        select = inner.this if isinstance(inner, exp.Subquery) else inner
        if isinstance(select, exp.Select) and select.expressions:
            left, right = names.ref(member.this), names.ref(select.expressions[0])
            if left and right:
                yield left, right


def _equalities(nodes: Sequence[exp.Expr]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    stored = {
        (table.alias or table.name).casefold(): table.name.casefold()
        for table in every(nodes, exp.Table)
    }
    for join in every(nodes, exp.Join):
        condition = join.args.get("on")
        for equality in condition.find_all(exp.EQ) if condition is not None else ():
            ends = [
                (stored.get(column.table.casefold(), ""), column.name.casefold())
                for column in equality.find_all(exp.Column)
            ]
            if len(ends) == 2:
                yield ends[0], ends[1]
