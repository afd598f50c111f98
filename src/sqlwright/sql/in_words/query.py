"""A query in words, for somebody who wants to check that it says what was meant.

Read from the parse tree of any query that the guard lets through. Parts without words are told as
SQL; nothing is left out but plain columns that are shown, tables, joins over keys, and what an
EXISTS selects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlwright.schema import Schema
from sqlwright.sql.in_words.conditions import Told, Worded, Wording, introducing
from sqlwright.sql.names import (
    UNNAMED,
    Names,
    Source,
    common_tables,
    doubled_sources,
    first_select,
    is_star,
    numbered_item,
    read_from,
    renamed_item,
)
from sqlwright.sql.shape.tree import shaped_tree
from sqlwright.sql.tree import node_text
from sqlwright.sql.tree_facts.nodes import is_distinct, left_out_of
from sqlwright.types import QueryPart, ValueMatch

_NUMBERS = ("INT", "REAL", "FLOA", "DOUB", "NUM", "DEC", "MONEY")
"""Parts of the declared types of columns with numbers."""
_COUNTED = (
    *(exp.Count, exp.Sum, exp.Avg, exp.Length, exp.Round, exp.Abs, exp.Neg),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
)
"""Expressions that give numbers."""


def direction(key: exp.Expr, text: str, *, numeric: bool) -> str:
    """One of the keys of an order, whose expression is `text`."""
    falling = bool(key.args.get("desc"))
    if numeric:
        words = f"{'highest' if falling else 'lowest'} {text} first"
    else:
        words = f"by {text}{', descending' if falling else ''}"
    first = key.args.get("nulls_first")
    if first is not None and bool(first) == falling:  # SQLite takes NULL for the least
        words += f", nulls {'first' if first else 'last'}"
    return words


def amount_words(limit: str, *, ordered: bool, later: bool) -> str:
    """The most rows that are given, in words; `later`: after others were skipped."""
    if limit.startswith("-"):
        return f"LIMIT {limit}"
    if later:
        return f"then only {limit} row{'' if limit == '1' else 's'}"
    if not ordered:
        return f"any {limit} row{'' if limit == '1' else 's'}"
    return "only 1 row" if limit == "1" else f"only the first {limit} rows"


def gives_numbers(node: exp.Expr, names: Names) -> bool:
    """True if an expression is known to give numbers."""
    while isinstance(node, (exp.Paren, exp.Min, exp.Max)):
        node = node.this
    if isinstance(node, exp.Column):
        named = names.find(node)
        column = None if named.column is None else names.schema.column(named.column)
        return column is not None and any(part in column.type.upper() for part in _NUMBERS)
    if isinstance(node, exp.Cast):
        return any(part in node_text(node.to).upper() for part in _NUMBERS)
    return isinstance(node, _COUNTED)


_READ = frozenset(
    {"expressions", "distinct", "joins", "where", "group", "having", "order", "limit", "offset"}
    | {"with", "with_", "from", "from_"}  # the names differ between versions of sqlglot
)
"""The parts of a SELECT that are put in words."""

_SETS = {
    ("union", True): "and also",
    ("union", False): "and also, repeats included,",
    ("intersect", True): "only those also among",
    ("except", True): "but not among",
}


def read_query(
    sql: str, schema: Schema, matches: Sequence[ValueMatch] = ()
) -> tuple[QueryPart, ...]:
    """The query in words, in reading order; empty when the text is no query.

    `matches` are told with the conditions whose literals they are.
    """
    tree = shaped_tree(sql, schema.dialect, schema.day_columns, schema.span_columns)
    if tree is None:
        return ()
    try:
        reader = _WordsReader(schema, matches)
        return tuple(reader.whole(tree, Names(schema, doubled=doubled_sources(tree, schema))))
    except (RecursionError, SqlglotError, ValueError):
        return (QueryPart("other", " ".join(sql.split())),)


def shown_items(sql: str, schema: Schema) -> tuple[str, ...]:
    """The items that a query shows, in words and in order; of a set operation those of its first
    arm. Empty when the text is no query."""
    tree = shaped_tree(sql, schema.dialect, schema.day_columns, schema.span_columns)
    select = None if tree is None else first_select(tree)
    if tree is None or select is None:
        return ()
    try:
        names = Names(schema, doubled=doubled_sources(tree, schema)).with_queries(tree)
        return tuple(_WordsReader(schema, ()).items(select, names.within(select)))
    except (RecursionError, SqlglotError, ValueError):
        return ()


@dataclass
class _Shown:
    """The items that a SELECT shows."""

    items: list[str] = field(default_factory=list)
    worked_out: list[str] = field(default_factory=list)
    """Those that aren't plain columns."""
    within: list[QueryPart] = field(default_factory=list)
    plain: bool = True
    """True if there is nothing but columns and aggregates of them."""
    distinct: bool = False


class _WordsReader:
    def __init__(self, schema: Schema, matches: Sequence[ValueMatch]) -> None:
        self._schema = schema
        self._words = Wording(matches, self.within)

    def whole(self, tree: exp.Expr, names: Names) -> list[QueryPart]:
        """A query that isn't within another one, in words."""
        tree = _bare(tree)
        if isinstance(tree, exp.SetOperation):
            return [*self._queries(tree, names), *self._set(tree, names, outermost=True)[1]]
        if not isinstance(tree, exp.Select):
            return [QueryPart("other", node_text(tree))]
        inside = names.within(tree)
        shown = self._shown(tree, inside, renamed=False)
        parts = [*self._queries(tree, names), *_doubled(inside), *self._before(tree, inside)]
        after = [*self._having(tree, inside), *self._rest(tree, inside)]
        order = list(self._order(tree, tree, inside))
        per, within = self._per(tree, inside)
        items = shown.items if shown.distinct else [i for i in shown.worked_out if i not in per]
        text = ", ".join(items) + (", without repeats" if shown.distinct else "")
        said = bool(parts or after or order or per or shown.within)
        if per:
            text = f"{text or 'one row'} per {', '.join(per)}"
        if text and (said or shown.distinct or not shown.plain):
            parts += introducing(QueryPart("shown", text), [*shown.within, *within])
        return [*parts, *after, *order]

    def items(self, select: exp.Select, names: Names) -> list[str]:
        """The items that a SELECT shows, in words."""
        return self._shown(select, names, renamed=False).items

    def within(self, query: exp.Expr, names: Names) -> Told:
        """A subquery in words."""
        query = _bare(query)
        if isinstance(query, exp.SetOperation):
            told, parts = self._set(query, names)
            return Told(told.head, told.tables, (*self._queries(query, names), *parts))
        if not isinstance(query, exp.Select):
            return Told(node_text(query), node_text(query), ())
        inside = names.within(query)
        shown = self._shown(query, inside, renamed=True)
        per, grouped = self._per(query, inside)
        tables = ", ".join(inside.describe(source) for source in inside.sources)
        head = ("different " if shown.distinct else "") + ", ".join(shown.items)
        parts = [
            *self._queries(query, names),
            *self._before(query, inside),
            *shown.within,
            *(introducing(QueryPart("shown", f"per {', '.join(per)}"), grouped) if per else ()),
            *self._having(query, inside),
            *self._rest(query, inside),
            *self._order(query, query, inside),
        ]
        return Told(f"{head} from {tables}" if tables else head, tables, tuple(parts))

    def _set(
        self, query: exp.SetOperation, names: Names, *, outermost: bool = False
    ) -> tuple[Told, list[QueryPart]]:
        """The first arm of a set operation in words, and the parts of all arms."""
        names = names.with_queries(query)
        first = _bare(query.this)
        told = self.within(first, names)
        parts = self.whole(first, names) if outermost else list(told.parts)
        if outermost and isinstance(first, exp.Select) and not parts:
            parts = [QueryPart("shown", told.head)]
        other = self.within(query.expression, names)
        words = _SETS.get((query.key, bool(query.args.get("distinct"))), query.key)
        parts += introducing(QueryPart("query", f"{words} ({other.head})"), other.parts)
        select = first_select(query)
        if select is not None:
            parts += self._order(query, select, names.within(select))
        return told, parts

    def _queries(self, query: exp.Expr, names: Names) -> Iterator[QueryPart]:
        """Common table expressions."""
        names = names.with_queries(query)
        for cte in common_tables(query):
            yield from self._named(cte.alias, cte.this, names)

    def _named(self, name: str, query: exp.Expr, names: Names) -> list[QueryPart]:
        told = self.within(query, names)
        text = f"{name or UNNAMED} is ({told.head})"
        return introducing(QueryPart("query", text), told.parts)

    def _before(self, select: exp.Select, names: Names) -> Iterator[QueryPart]:
        """The sources, their joins and the WHERE, in words: all that comes before grouping."""
        for node, join in read_from(select):
            source = next((one for one in names.sources if one.node is node), None)
            if not isinstance(node, exp.Table):
                yield from self._named(node.alias_or_name, node, names)
            elif _is_function(node):
                yield QueryPart("other", f"from {node_text(node)}")
            if join is not None and source is not None:
                yield from self._join(join, source, names)
        where = select.args.get("where")
        if where is not None:
            told = self._told(where.this, names)
            yield from self._words.together(told, names, "where")

    def _join(self, join: exp.Join, source: Source, names: Names) -> Iterator[QueryPart]:
        condition, table = join.args.get("on"), names.describe(source)
        bare = isinstance(condition, exp.Boolean) and bool(condition.this)
        told = [] if condition is None or bare else self._told(condition, names)
        parts = self._words.together(told, names, "join")
        side = str(join.args.get("side") or "").upper()
        using = ", ".join(name.name for name in join.args.get("using") or ())
        if join.args.get("method"):
            parts.append(QueryPart("join", f"{table} joined by columns of the same name"))
        elif using and not self._by_key(join, names):
            parts.append(QueryPart("join", f"{table} joined by {using}"))
        elif not using and (condition is None or bare) and not _linked(join, source):
            parts.append(QueryPart("join", f"in every combination with {table}"))
        if side:
            text = {
                "LEFT": f"also those without {table}",
                "RIGHT": f"also {table} that belong to none",
            }.get(side, f"also those without {table}, and {table} that belong to none")
            yield from introducing(QueryPart("join", text), parts)
            return
        yield from parts

    def _told(self, condition: exp.Expr, names: Names) -> list[exp.Expr]:
        """The conditions that must all hold, without those that only join two tables by a key."""
        bare = condition.unnest()
        all_of = list(bare.flatten()) if isinstance(bare, exp.And) else [bare]
        return [one for one in all_of if not self._joins(one, names)]

    def _joins(self, node: exp.Expr, names: Names) -> bool:
        sides = (node.this, node.expression) if isinstance(node, exp.EQ) else ()
        if not sides or not all(isinstance(side, exp.Column) for side in sides):
            return False
        here = Names(self._schema, names.sources, queries=names.queries)
        ends = [ref for side in sides if (ref := here.find(side).column) is not None]
        tables = {ref.table for ref in ends}
        keys = [key for key in self._schema.foreign_keys if {key.table, key.target_table} == tables]
        # Where two tables have several keys between them, which one is meant matters.
        single = len(ends) == 2 and len(tables) == 2 and len(keys) == 1
        return single and any(set(pair) == set(ends) for pair in keys[0].pairs)

    def _by_key(self, join: exp.Join, names: Names) -> bool:
        wanted = {name.name.lower() for name in join.args.get("using") or ()}
        tables = {source.table.name for source in names.sources if source.table is not None}
        pairs = (pair for pair in self._schema.key_pairs if {ref.table for ref in pair} <= tables)
        keys = {near.column.lower() for near, far in pairs if near.column == far.column}
        return wanted <= keys

    def _shown(self, select: exp.Select, names: Names, *, renamed: bool) -> _Shown:
        """The items of a SELECT; with their given names if `renamed`."""
        shown = _Shown(distinct=is_distinct(select))
        asked = not isinstance(select.parent, exp.Exists)
        for item in select.expressions if asked else ():
            bare = item.this if isinstance(item, exp.Alias) else item
            if is_star(bare):
                but = ", ".join(left_out_of(bare))
                shown.items.append(f"everything but {but}" if but else "everything")
                continue
            worded = self._words.worded(bare, names.stored())
            text = worded.text
            if renamed and isinstance(item, exp.Alias):
                text += f" as {item.alias}"
            shown.items.append(text)
            if not isinstance(bare, exp.Column) or worded.literals:
                shown.worked_out.append(text)
            shown.within += worded.within
            if worded.literals or not isinstance(bare, (exp.Column, exp.AggFunc)):
                shown.plain = False
        return shown

    def _per(self, select: exp.Select, names: Names) -> tuple[list[str], list[QueryPart]]:
        """The keys that rows are grouped by, and the parts within them."""
        group = select.args.get("group")
        if group is None:
            return [], []
        keys = [self._words.worded(numbered_item(key, select), names) for key in group.expressions]
        rest = [node_text(one) for name, one in _given(group) if name != "expressions"]
        return [*(key.text for key in keys), *rest], _within(keys)

    def _having(self, select: exp.Select, names: Names) -> Iterator[QueryPart]:
        having = select.args.get("having")
        if having is not None:
            yield from self._words.condition(having.this, names, "having")

    def _rest(self, select: exp.Select, names: Names) -> Iterator[QueryPart]:
        """The parts of the SELECT that have no words, as SQL."""
        distinct = select.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            keys = [self._words.worded(key, names) for key in distinct.args["on"].expressions]
            told = ", ".join(key.text for key in keys)
            yield from introducing(
                QueryPart("other", f"the first row for each {told}"), _within(keys)
            )
        for name, node in _given(select):
            if name not in _READ:
                worded = self._words.worded(node, names)
                told = f"{name.removesuffix('s')} {worded.text}"
                yield from introducing(QueryPart("other", told), worded.within)

    def _order(self, query: exp.Expr, select: exp.Select, names: Names) -> Iterator[QueryPart]:
        """The order of the rows and their number, in words."""
        said: list[str] = []
        keys: list[Worded] = []
        order = query.args.get("order")
        for key in order.expressions if order is not None else ():
            node = numbered_item(key.this if isinstance(key, exp.Ordered) else key, select)
            behind = renamed_item(node, names)
            worded = self._words.worded(behind, names.stored() if behind is not node else names)
            keys.append(worded)
            said.append(direction(key, worded.text, numeric=gives_numbers(behind, names)))
        text = ", then ".join(said)
        limit, offset = (self._number(query, name, names) for name in ("limit", "offset"))
        amount = [f"skipping {offset.text}"] if offset is not None else []
        if limit is not None:
            amount.append(amount_words(limit.text, ordered=bool(said), later=bool(amount)))
        keys += [one for one in (limit, offset) if one is not None]
        if text or amount:
            said = [text, *amount] if text else amount
            yield from introducing(QueryPart("order", ", ".join(said)), _within(keys))

    def _number(self, query: exp.Expr, name: str, names: Names) -> Worded | None:
        node = query.args.get(name)
        if node is None:
            return None
        amount = node.args.get("expression") or node.args.get("count")
        return Worded(node_text(node)) if amount is None else self._words.worded(amount, names)


def _bare(query: exp.Expr) -> exp.Expr:
    """A query without the parentheses around it."""
    while isinstance(query, (exp.Subquery, exp.Paren)) and isinstance(
        query.this, (exp.Query, exp.Paren)
    ):
        query = query.this
    return query


def _given(node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    """The parts of a node that are there, each with the name of its place."""
    for name, value in node.args.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, exp.Expr):
                yield name, one


def _within(worded: Iterable[Worded]) -> list[QueryPart]:
    return [part for one in worded for part in one.within]


def _doubled(names: Names) -> Iterator[QueryPart]:
    """The names under which one table is read several times."""
    by_table: dict[str, list[str]] = {}
    for source in names.sources:
        if source.table is not None and id(source.node) in names.doubled:
            by_table.setdefault(source.table.name, []).append(source.alias)
    for table, aliases in by_table.items():
        verb = "is a row" if len(aliases) == 1 else "are each a row"
        yield QueryPart("query", f"{' and '.join(aliases)} {verb} of {table}")


def _linked(join: exp.Join, source: Source) -> bool:
    """True if the rows of a source that is joined by no condition depend on others: another
    condition compares it, or it is a function of them."""
    select = join.parent_select
    if select is None or _is_function(source.node):
        return True
    places = [select, *(select.args.get("joins") or ())]
    conditions = (place.args.get(name) for place in places for name in ("where", "on"))
    equal = (one for given in conditions if given is not None for one in given.find_all(exp.EQ))
    return any(
        isinstance(one.this, exp.Column) and isinstance(one.expression, exp.Column) for one in equal
    )


def _is_function(node: exp.Expr) -> bool:
    """True of a source that is a function that gives rows."""
    return isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier)
