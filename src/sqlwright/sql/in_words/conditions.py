"""Conditions and expressions of a query in words, for `sql.in_words.query`.

Negations are resolved: NOT (a = b) is told as a != b, NOT (a AND b) as either of both negated.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from sqlglot import exp

from sqlwright.schema import ColumnRef
from sqlwright.sql.names import Names
from sqlwright.sql.shape.moments import DAY
from sqlwright.sql.shape.values import TRUTH
from sqlwright.sql.tokens import quote_text
from sqlwright.sql.tree import node_text
from sqlwright.types import QueryCondition, QueryPart, ValueMatch
from sqlwright.types.periods import Period, period_of


@dataclass(frozen=True)
class DayRange:
    """A value from the first moment of a day to before that of another; one of them may be empty
    for no bound."""

    subject: exp.Expr
    start: str
    end: str

    def told(self, *, negated: bool) -> tuple[str, str]:
        """The words before the time, and the time: years or months where they are bounded."""
        if not (self.start and self.end):
            bound = self.start or self.end
            time = _words(bound[: _length(bound, bound)])
            later = bool(self.start) != negated
            return ("is in", f"{time} or later") if later else ("is before", time)
        first, last = Period(self.start), Period(Period(self.end).before)
        length = _length(self.start, self.end)
        near, far = _words(first.iso[:length]), _words(last.iso[:length])
        verb = "is not" if negated else "is"
        if near != far:
            return f"{verb} from", f"{near} to {far}"
        return f"{verb} {'on' if length == 10 else 'in'}", near


def bounded(node: exp.Expr) -> DayRange | None:
    """A bound that was written as a day with which a month or year begins; None for others."""
    day = _day(node) if isinstance(node, (exp.GTE, exp.LT)) else ""
    if not day.endswith("-01") or not node.expression.meta.get(DAY):
        return None
    return DayRange(node.this, *((day, "") if isinstance(node, exp.GTE) else ("", day)))


def with_ranges(operands: Sequence[exp.Expr]) -> Iterator[exp.Expr | DayRange]:
    """Conditions that hold together, with a range in the first one's place for each two of them
    that bound one value."""
    done: set[int] = set()
    for place, one in enumerate(operands):
        if place in done:
            continue
        start = _day(one) if isinstance(one, exp.GTE) else ""
        for later in range(place + 1, len(operands)) if start else ():
            other = operands[later]
            end = _day(other) if isinstance(other, exp.LT) else ""
            if later not in done and start < end and one.this == other.this:
                done.add(later)
                yield DayRange(one.this, start, end)
                break
        else:
            yield one


def _day(comparison: exp.Expr) -> str:
    """The day that a column or expression is compared with; empty for anything else."""
    bound = comparison.expression
    is_text = isinstance(bound, exp.Literal) and bound.is_string
    return bound.name if is_text and len(bound.name) == 10 and period_of(bound.name) else ""


def _length(start: str, end: str) -> int:
    """Characters of the longest times that begin at both days: years, months or days."""
    if start.endswith("-01-01") and end.endswith("-01-01"):
        return 4
    return 7 if start.endswith("-01") and end.endswith("-01") else 10


def _words(iso: str) -> str:
    return f"{calendar.month_name[int(iso[5:])]} {iso[:4]}" if len(iso) == 7 else iso


Tells = Callable[[exp.Expr], str]
"""Puts a part of an expression in words."""

_RANKS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "place",
    exp.Rank: "rank",
    exp.DenseRank: "rank without gaps",
}
_NEIGHBOURS: dict[type[exp.Expr], str] = {
    exp.Lag: "of the row before",
    exp.Lead: "of the row after",
    exp.FirstValue: "of the first row",
}


def in_words(node: exp.Expr, tell: Tells) -> str | None:
    """A window, a median, a percentile or the days between two moments in words; None for anything
    else, and for windows with frames, several rows back, or defaults."""
    days = _days_between(node.this if isinstance(node, exp.Paren) else node)
    if days is not None:
        span = f"days from {tell(days[0])} to {tell(days[1])}"
        bare = isinstance(node, exp.Paren) and isinstance(node.parent, exp.Func)
        return span if bare else f"({span})"
    if isinstance(node, exp.Median):
        return f"median of {tell(node.this)}"
    if isinstance(node, exp.Anonymous) and node.name.upper() == "PERCENTILE":
        value, at = (*node.expressions, None, None)[:2]
        single = len(node.expressions) == 2 and isinstance(at, exp.Literal)
        return f"percentile {tell(at)} of {tell(value)}" if single and value and at else None
    if not isinstance(node, exp.Window) or node.alias or node.args.get("spec"):
        return None
    text = _window(node, tell)
    inside = isinstance(node.parent, exp.Binary | exp.Unary | exp.Func) and text is not None
    return f"({text})" if inside else text


def _days_between(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The two moments, the earlier one first, of a difference of the numbers of their days."""
    sides = (node.expression, node.this) if isinstance(node, exp.Sub) else ()
    calls = [one for one in sides if isinstance(one, exp.Anonymous) and len(one.expressions) == 1]
    if len(calls) < 2 or any(one.name.upper() != "JULIANDAY" for one in calls):
        return None
    return calls[0].expressions[0], calls[1].expressions[0]


def _window(node: exp.Window, tell: Tells) -> str | None:
    function, order = node.this, node.args.get("order")
    keys = order.expressions if order is not None else []
    by = ", then ".join(tell(key.this) + " descending" * bool(key.args.get("desc")) for key in keys)
    shares = ", ".join(map(tell, node.args.get("partition_by") or ()))
    within = f" within each {shares}" if shares else ""
    if type(function) in _RANKS and by:
        return f"{_RANKS[type(function)]} by {by}{within}"
    if type(function) in _NEIGHBOURS:
        known = by and set(_given(function)) == {"this"}
        return (
            f"{tell(function.this)} {_NEIGHBOURS[type(function)]} by {by}{within}"
            if known
            else None
        )
    if not isinstance(function, exp.AggFunc) or isinstance(function, exp.Ntile):
        return None
    if by:
        return f"running {tell(function)} by {by}{within}"
    return f"{tell(function)} of all rows" + (f" with the same {shares}" if shares else "")


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value]


Place = Literal["join", "where", "having", "case"]

_COMPARISONS: dict[type[exp.Expr], tuple[str, str, str]] = {
    exp.EQ: ("=", "!=", "="),
    exp.NEQ: ("!=", "=", "!="),
    exp.LT: ("<", ">=", ">"),
    exp.LTE: ("<=", ">", ">="),
    exp.GT: (">", "<=", "<"),
    exp.GTE: (">=", "<", "<="),
    exp.NullSafeEQ: ("is", "is not", "is"),
    exp.NullSafeNEQ: ("is not", "is", "is not"),
}
"""The operator, its negation, and the one that says the same with its sides exchanged."""

_PATTERNS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Like: ("is like", "is not like"),
    exp.ILike: ("is like", "is not like"),
    exp.Glob: ("matches the pattern", "doesn't match the pattern"),
    exp.RegexpLike: ("matches the expression", "doesn't match the expression"),
    exp.Match: ("matches", "doesn't match"),
}

_MOMENTS = {
    "%Y": "year",
    "%m": "month",
    "%d": "day of the month",
    "%Y-%m": "year and month",
    "%Y-%m-%d": "day",
    "%H": "hour",
    "%M": "minute",
    "%S": "second",
    "%w": "weekday",
    "%W": "week",
    "%j": "day of the year",
    "%m-%d": "month and day",
    "%H:%M": "hour and minute",
}
"""The part of a moment that STRFTIME takes, by its format."""


class Told(NamedTuple):
    """A subquery in words: what it shows, the tables it reads, and the rest of it."""

    head: str
    tables: str
    parts: tuple[QueryPart, ...]


class Worded(NamedTuple):
    """An expression as text, and the parts within it, one step deeper."""

    text: str
    columns: tuple[ColumnRef, ...] = ()
    literals: tuple[str, ...] = ()
    within: tuple[QueryPart, ...] = ()


@dataclass(frozen=True)
class Wording:
    """Puts expressions and conditions in words."""

    matches: Sequence[ValueMatch]
    tell: Callable[[exp.Expr, Names], Told]
    """Reads a query within the query."""

    def worded(self, node: exp.Expr, names: Names) -> Worded:
        """An expression as SQL whose columns have their stored names and whose subqueries are
        replaced by words for the items they show."""
        if isinstance(node, exp.Literal):
            text = str(node.this)
            shown = quote_text(text) if node.is_string else node.meta.get(TRUTH, text)
            return Worded(shown, (), (text,))
        texts: dict[int, str] = {}
        columns: dict[ColumnRef, None] = {}
        literals: list[str] = []
        within: list[QueryPart] = []
        waiting = [node]
        while waiting:
            one = waiting.pop()
            part = self._replaced(one, names, whole=one is node)
            if part is not None:
                texts[id(one)] = part.text
                columns.update(dict.fromkeys(part.columns))
                literals += part.literals
                within += part.within
                continue
            if isinstance(one, exp.Literal):
                literals.append(str(one.this))
                if TRUTH in one.meta:
                    texts[id(one)] = one.meta[TRUTH]
            within += self._matched_case(one, names)
            waiting += reversed(list(one.iter_expressions()))
        return Worded(_with_texts(node, texts), tuple(columns), tuple(literals), tuple(within))

    def condition(
        self, node: exp.Expr, names: Names, place: Place, *, negated: bool = False
    ) -> list[QueryPart]:
        """A condition in words: one part for each of those that must hold together, alternatives
        with `either` and `or` before them."""
        while isinstance(node, (exp.Paren, exp.Not)):
            negated ^= isinstance(node, exp.Not)
            node = node.this
        if isinstance(node, (exp.And, exp.Or)):
            together = list(node.flatten())
            both = with_ranges(together) if isinstance(node, exp.And) else together
            told = [self._held(one, names, place, negated=negated) for one in both]
            if isinstance(node, exp.Or) != negated and len(told) > 1:
                return list(_alternatives(told, place))
            return [part for parts in told for part in parts]
        bound = bounded(node)
        if bound is not None:
            return self._held(bound, names, place, negated=negated)
        condition, within = self._one(node, names, negated=negated)
        return introducing(_part(condition, place), within)

    def together(self, nodes: Sequence[exp.Expr], names: Names, place: Place) -> list[QueryPart]:
        """Conditions that must all hold, in words."""
        told = [self._held(one, names, place, negated=False) for one in with_ranges(nodes)]
        return [part for parts in told for part in parts]

    def _held(
        self, node: exp.Expr | DayRange, names: Names, place: Place, *, negated: bool
    ) -> list[QueryPart]:
        if not isinstance(node, DayRange):
            return self.condition(node, names, place, negated=negated)
        operator, time = node.told(negated=negated)
        subject = self.worded(node.subject, names)
        days = Worded(time, literals=(node.start, node.end))
        condition, within = self._joined(subject, operator, [days])
        return introducing(_part(condition, place), within)

    def _one(
        self, node: exp.Expr, names: Names, *, negated: bool
    ) -> tuple[QueryCondition, tuple[QueryPart, ...]]:
        """A condition without AND, OR and NOT around it."""
        kind = type(node)
        if kind in _COMPARISONS:
            return self._comparison(node, names, negated=negated)
        if kind in _PATTERNS:
            return self._pattern(node, names, negated=negated)
        if isinstance(node, exp.Between):
            operator = "not between" if negated else "between"
            return self._made(node.this, operator, [node.args["low"], node.args["high"]], names)
        if isinstance(node, exp.In):
            return self._in(node, names, "not in" if negated else "in")
        if isinstance(node, exp.Is):
            operator = "is not" if negated else "is"
            if isinstance(node.expression, exp.Null):
                return self._made(node.this, f"{operator} null", [], names)
            return self._made(node.this, operator, [node.expression], names)
        if isinstance(node, exp.Exists):
            told = self.tell(node.this, names)
            operator = f"there is {'no' if negated else 'a'} row"
            if not told.tables:
                return QueryCondition("", operator), told.parts
            return QueryCondition("", f"{operator} in", (told.tables,)), told.parts
        if isinstance(node, (exp.Column, exp.Literal, exp.Func, exp.Case)):
            return self._made(node, "is false" if negated else "is true", [], names)
        worded = self.worded(node, names)
        if negated:
            worded = worded._replace(text=f"NOT ({worded.text})")
        return self._joined(worded, "", [])

    def _comparison(
        self, node: exp.Expr, names: Names, *, negated: bool
    ) -> tuple[QueryCondition, tuple[QueryPart, ...]]:
        plain, opposite, exchanged = _COMPARISONS[type(node)]
        left, right = node.this, node.expression
        if not _has_names(left, names) and _has_names(right, names):
            left, right = right, left
            plain = exchanged
            opposite = next(o for p, o, _ in _COMPARISONS.values() if p == plain)
        return self._made(left, opposite if negated else plain, [right], names)

    def _pattern(
        self, node: exp.Expr, names: Names, *, negated: bool
    ) -> tuple[QueryCondition, tuple[QueryPart, ...]]:
        negated ^= bool(node.args.get("negate"))
        operator = _PATTERNS[type(node)][negated]
        pattern = self.worded(node.expression, names)
        operand = pattern.text
        if isinstance(node, exp.Like) and pattern.literals and operand.startswith("'"):
            text = pattern.literals[0]
            inner = text.strip("%")
            shape = (text.startswith("%"), text.endswith("%"))
            plain = quote_text(text) == operand
            if plain and inner and any(shape) and not {"%", "_"} & set(inner):
                operator = _CONTAINING[shape][negated]
                operand = quote_text(inner)
        subject = self.worded(node.this, names)
        return self._joined(subject, operator, [pattern._replace(text=operand)])

    def _in(
        self, node: exp.In, names: Names, operator: str
    ) -> tuple[QueryCondition, tuple[QueryPart, ...]]:
        query, field = node.args.get("query"), node.args.get("field")
        subject = self.worded(node.this, names)
        if query is not None:
            told = self.tell(query, names)
            return self._joined(subject, operator, [Worded(told.head, within=told.parts)])
        if isinstance(field, (exp.Column, exp.Table)):
            return self._joined(subject, operator, [Worded(node_text(field))])
        given = [field] if field is not None else node.expressions
        return self._joined(subject, operator, [self.worded(one, names) for one in given])

    def _made(
        self, subject: exp.Expr, operator: str, operands: Iterable[exp.Expr], names: Names
    ) -> tuple[QueryCondition, tuple[QueryPart, ...]]:
        worded = [self.worded(one, names) for one in operands]
        return self._joined(self.worded(subject, names), operator, worded)

    def _joined(
        self, subject: Worded, operator: str, operands: Sequence[Worded]
    ) -> tuple[QueryCondition, tuple[QueryPart, ...]]:
        sides = (subject, *operands)
        columns = tuple(dict.fromkeys(ref for side in sides for ref in side.columns))
        literals = {text.strip("%").casefold() for side in sides for text in side.literals}
        matches = tuple(
            match
            for match in self.matches
            if match.column in columns and match.value.strip("%").casefold() in literals
        )
        texts = tuple(operand.text for operand in operands)
        within = tuple(part for side in sides for part in side.within)
        return QueryCondition(subject.text, operator, texts, columns, matches), within

    def _replaced(self, node: exp.Expr, names: Names, *, whole: bool) -> Worded | None:
        """A part of an expression that isn't told as SQL; None for all others."""
        if isinstance(node, exp.Column):
            named = names.find(node)
            if named.behind is not None:
                inner = self.worded(named.behind, names.stored())
                single = whole or isinstance(named.behind, (exp.Column, exp.Func))
                return inner if single else inner._replace(text=f"({inner.text})")
            literals = () if named.literal is None else (named.literal,)
            return Worded(named.text, () if named.column is None else (named.column,), literals)
        if isinstance(node, exp.Query):
            told = self.tell(node, names)
            head = told.head or node_text(node)  # EXISTS tells where from alone
            held = isinstance(node.parent, (exp.Exists, exp.In)) and not whole
            return Worded(head if held else f"({head})", within=told.parts)
        moment = _moment(node)
        if moment is not None:
            inner = self.worded(moment[1], names)
            return inner._replace(text=f"{moment[0]} of {inner.text}")
        return self._windowed(node, names)

    def _windowed(self, node: exp.Expr, names: Names) -> Worded | None:
        """A window, a median or a percentile."""
        parts: list[Worded] = []

        def tell(part: exp.Expr) -> str:
            parts.append(self.worded(part, names))
            return parts[-1].text

        text = in_words(node, tell)
        if text is None:
            return None
        return Worded(
            text,
            tuple(dict.fromkeys(ref for part in parts for ref in part.columns)),
            tuple(literal for part in parts for literal in part.literals),
            tuple(one for part in parts for one in part.within),
        )

    def _matched_case(self, node: exp.Expr, names: Names) -> Iterator[QueryPart]:
        """A condition within an expression, where a phrase of the question stands behind it."""
        if not self.matches or not isinstance(node, (*_COMPARISONS, *_PATTERNS, exp.In)):
            return
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            return
        negated = isinstance(node.parent, exp.Not)
        condition, _ = self._one(node, names, negated=negated)
        if condition.matches:
            yield _part(condition, "case")


_CONTAINING = {
    (True, True): ("contains", "doesn't contain"),
    (False, True): ("starts with", "doesn't start with"),
    (True, False): ("ends with", "doesn't end with"),
}


def deeper(parts: Iterable[QueryPart]) -> list[QueryPart]:
    """The parts, one step deeper."""
    return [replace(part, depth=part.depth + 1) for part in parts]


def introducing(part: QueryPart, within: Sequence[QueryPart]) -> list[QueryPart]:
    """A part and the parts within it; a colon after its text if there are any."""
    if not within:
        return [part]
    return [replace(part, text=f"{part.text}:"), *deeper(within)]


def _part(condition: QueryCondition, place: Place) -> QueryPart:
    words = (condition.subject, condition.operator, condition.object)
    return QueryPart(place, " ".join(word for word in words if word), condition=condition)


def _alternatives(told: Iterable[list[QueryPart]], place: Place) -> Iterator[QueryPart]:
    for number, parts in enumerate(told):
        lead = "or" if number else "either"
        if sum(part.depth == 0 for part in parts) == 1 and not parts[0].lead:
            yield replace(parts[0], text=f"{lead} {parts[0].text}", lead=lead)
            yield from parts[1:]
        else:
            yield QueryPart(place, f"{lead} all of:", lead=lead)
            yield from deeper(parts)


def _has_names(node: exp.Expr, names: Names) -> bool:
    """True if the expression has anything in it but literals and functions of them."""
    if isinstance(node, exp.Column):
        return names.find(node).literal is None
    return any(
        not isinstance(one, exp.Column) or names.find(one).literal is None
        for one in node.find_all(exp.Column, exp.Query, exp.AggFunc)
    )


def _moment(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """The part that STRFTIME takes from a moment, in words, and the moment; a cast around it is
    skipped. None for any other expression."""
    while isinstance(node, exp.Cast):
        node = node.this
    if isinstance(node, exp.TimeToStr):
        inner, form = node.this, node.args.get("format")
        while isinstance(inner, exp.TsOrDsToTimestamp):
            inner = inner.this
    elif isinstance(node, exp.Anonymous) and node.name.lower() == "strftime":
        if len(node.expressions) != 2:
            return None
        form, inner = node.expressions
    else:
        return None
    words = _MOMENTS.get(form.name) if isinstance(form, exp.Literal) else None
    return None if words is None else (words, inner)


def _with_texts(node: exp.Expr, texts: Mapping[int, str]) -> str:
    """The expression as SQL with some of its parts replaced by texts."""
    if id(node) in texts:
        return texts[id(node)]
    copy = node.copy()
    pairs = list(zip(node.walk(), copy.walk(), strict=True))
    for mine, theirs in pairs:
        if id(mine) in texts:
            theirs.replace(exp.Var(this=texts[id(mine)]))
    return node_text(copy)
