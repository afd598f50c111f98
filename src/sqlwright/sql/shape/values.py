"""Numbers, texts, truth values and aggregates of other dialects as SQLite has them."""

from __future__ import annotations

from sqlglot import exp

from sqlwright.sql.calculations import is_real
from sqlwright.sql.shape.moments import as_integer, call, cast_to_moment, number, text

_WHOLE = frozenset(
    {"INT", "BIGINT", "SMALLINT", "TINYINT", "MEDIUMINT", "INT128", "INT256", "UINT", "UBIGINT"}
    | {"USMALLINT", "UTINYINT", "UMEDIUMINT", "UINT128", "UINT256"}
)
_TEXTS = frozenset({"TEXT", "VARCHAR", "CHAR", "NVARCHAR", "NCHAR", "BPCHAR", "NAME"})
_CONDITIONS = (exp.Predicate, exp.Not, exp.And, exp.Or, exp.Exists)
_REAL = "DOUBLE"


def literal(node: exp.Expr) -> exp.Expr | None:
    """A text in another spelling: E'..', N'..', $$..$$."""
    if not isinstance(node.this, str):
        return None
    plain = text(node.this)
    plain.meta.update(node.meta)
    return plain


def truth(node: exp.Expr) -> exp.Expr | None:
    """TRUE and FALSE, which are 1 and 0."""
    return None if isinstance(node.parent, exp.Join) else number(int(bool(node.this)))


def cast(node: exp.Expr) -> exp.Expr | None:
    """CAST, to a type that SQLite has."""
    assert isinstance(node, exp.Cast)
    made = cast_to_moment(node)
    if made is not None:
        return made
    name, inner = str(getattr(node.to.this, "name", node.to.this)), node.this
    bare = inner.unnest()
    if name in _WHOLE:
        if isinstance(bare, _CONDITIONS):
            return inner  # type: ignore[no-any-return]
        return None if name == "INT" else as_integer(inner)
    if name in _TEXTS and isinstance(bare, exp.Literal) and bare.is_string:
        return bare
    if name == "BOOLEAN" and isinstance(bare, exp.Literal):
        return number(int(bare.name.lower() in {"t", "true", "1", "yes", "on"}))
    return _decimal(node) if name in {"DECIMAL", "BIGDECIMAL"} else None


def _decimal(node: exp.Cast) -> exp.Expr | None:
    """CAST to NUMERIC, which SQLite hasn't got: a real number, or one that is rounded."""
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    params = [param.this for param in node.to.expressions]
    scale = params[1].name if len(params) == 2 else None
    if isinstance(around, exp.Round) and around.this.unnest() is node:
        return node.this  # type: ignore[no-any-return]
    if isinstance(around, (exp.Div, exp.Mul)) or not params:
        return real(node.this)
    if scale is None or not scale.isdigit() or scale == "0":
        return None
    return exp.Round(this=node.this, decimals=number(int(scale)))


def real(node: exp.Expr) -> exp.Cast:
    """A value made a real number."""
    return exp.Cast(this=node, to=exp.DataType.build(_REAL))


def real_division(node: exp.Expr) -> exp.Expr | None:
    """A division that isn't whole, whatever is divided."""
    if is_real(node):
        return None
    left, right = node.this, node.expression
    percent = left.unnest() if isinstance(left.unnest(), exp.Mul) else None
    if percent is not None:
        for one, other in (
            (percent.this, percent.expression), (percent.expression, percent.this)
        ):  # fmt: skip
            if isinstance(other, exp.Literal) and other.name == "100":
                scaled = exp.Mul(this=real(one.unnest()), expression=number(100))
                return exp.Div(this=scaled, expression=right)
    return exp.Div(this=real(left.unnest()), expression=right)


def whole_division(node: exp.Expr) -> exp.Expr | None:
    """DIV and //."""
    return exp.Div(this=node.this, expression=node.expression)


def truncated(node: exp.Expr) -> exp.Expr | None:
    """TRUNC of a number."""
    return as_integer(node.this) if node.args.get("decimals") is None else None


# ---- conditions


def like(node: exp.Expr) -> exp.Expr | None:
    """ILIKE, which is SQLite's LIKE."""
    plain = exp.Like(this=node.this, expression=node.expression)
    if node.args.get("negate"):
        plain.set("negate", True)
    return plain


def escaping(node: exp.Expr) -> exp.Expr | None:
    """A pattern whose backslashes escape without being told to, and LIKE of letters of one case."""
    pattern = node.expression
    if isinstance(pattern, exp.Cast) and pattern.to.is_type("BINARY"):
        pattern = pattern.this
        node.set("expression", pattern)
    known = isinstance(pattern, exp.Literal) and "\\" in pattern.name
    if not known or isinstance(node.parent, exp.Escape):
        return None
    escaped = exp.Escape(this=node.copy(), expression=text("\\"))
    return escaped


def is_value(node: exp.Expr) -> exp.Expr | None:
    """IS TRUE and IS FALSE."""
    if isinstance(node.expression, exp.Literal):
        return exp.EQ(this=node.this, expression=node.expression)
    return None


def any_of(node: exp.Expr) -> exp.Expr | None:
    """= ANY (...)."""
    return _member(node.this, node.expression.this) if _is_any(node.expression) else None


def none_of(node: exp.Expr) -> exp.Expr | None:
    """<> ALL (...)."""
    given = node.expression
    if isinstance(given, exp.All):
        found = _member(node.this, given.this)
    elif isinstance(given, exp.Anonymous) and given.name.upper() == "ALL" and given.expressions:
        found = _member(node.this, given.expressions[0])
    else:
        return None
    return None if found is None else exp.Not(this=found)


def _is_any(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Any)


def _member(left: exp.Expr, given: exp.Expr) -> exp.In | None:
    bare = given.unnest() if isinstance(given, exp.Paren) else given
    if isinstance(bare, exp.Array):
        return exp.In(this=left, expressions=list(bare.expressions))
    if isinstance(bare, exp.Subquery):
        return exp.In(this=left, query=bare)
    return exp.In(this=left, query=exp.Subquery(this=bare)) if isinstance(bare, exp.Query) else None


def flags(node: exp.Expr) -> exp.Expr | None:
    """Columns that are conditions by themselves, where columns can be true: equal to 1."""
    names = ("this", "expression") if isinstance(node, exp.Connector) else ("this",)
    if isinstance(node, exp.If) and _has_subject(node):
        return None
    for name in names:
        operand = node.args.get(name)
        bare = None if operand is None else operand.unnest()
        if isinstance(bare, exp.Column) and not isinstance(bare.this, exp.Star):
            value = number(0 if isinstance(node, exp.Not) else 1)
            same = exp.EQ(this=bare.copy(), expression=value)
            if isinstance(node, exp.Not):
                return same
            node.set(name, same)
    return None


def _has_subject(node: exp.If) -> bool:
    return isinstance(node.parent, exp.Case) and node.parent.this is not None


# ---- texts


def concatenated(node: exp.Expr) -> exp.Expr | None:
    """CONCAT."""
    return _joined(list(node.expressions))


def concatenated_with(node: exp.Expr) -> exp.Expr | None:
    """CONCAT_WS."""
    between, *pieces = node.expressions
    joined: list[exp.Expr] = []
    for piece in pieces:
        joined += [between.copy(), piece] if joined else [piece]
    return _joined(joined)


def _joined(pieces: list[exp.Expr]) -> exp.Expr | None:
    if not pieces:
        return None
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = exp.DPipe(this=whole, expression=piece)
    return whole


def left(node: exp.Expr) -> exp.Expr | None:
    """LEFT."""
    return exp.Substring(this=node.this, start=number(1), length=node.expression)


def right(node: exp.Expr) -> exp.Expr | None:
    """RIGHT."""
    count = node.expression
    if not (isinstance(count, exp.Literal) and count.name.isdigit()):
        return None
    return exp.Substring(this=node.this, start=exp.Neg(this=count))


def called_piece(node: exp.Expr) -> exp.Expr | None:
    """MID."""
    if node.name.upper() != "MID" or len(node.expressions) not in {2, 3}:
        return None
    whole, start, *length = node.expressions
    return exp.Substring(this=whole, start=start, length=next(iter(length), None))


# ---- aggregates


def listed(node: exp.Expr) -> exp.Expr | None:
    """STRING_AGG, LISTAGG, GROUP_CONCAT: without the comma that is there anyway, nor an order by
    what is listed."""
    given, order = node.this, None
    if isinstance(given, exp.Order):
        given, order = given.this, given
    operand = given.expressions[0] if isinstance(given, exp.Distinct) else given
    if order is not None and any(key.this != operand for key in order.expressions):
        return None
    plain = exp.GroupConcat(this=given)
    separator = node.args.get("separator")
    if separator is not None and separator.name != ",":
        plain.set("separator", separator)
    return plain


def any_value(node: exp.Expr) -> exp.Expr | None:
    """ANY_VALUE, which SQLite says by the column alone."""
    return node.this  # type: ignore[no-any-return]


def null_aware(node: exp.Expr) -> exp.Expr | None:
    """What the parser adds to ANY_VALUE."""
    return node.this if isinstance(node.this, exp.Column) else None


def counted(node: exp.Expr) -> exp.Expr | None:
    """COUNT()."""
    return exp.Count(this=exp.Star()) if node.this is None else None


def counted_if(node: exp.Expr) -> exp.Expr | None:
    """COUNT_IF."""
    return exp.Count(this=exp.Case(ifs=[exp.If(this=node.this, true=number(1))]))


def within_group(node: exp.Expr) -> exp.Expr | None:
    """PERCENTILE_CONT (...) WITHIN GROUP (ORDER BY ...)."""
    order = node.expression
    keys = order.expressions if isinstance(order, exp.Order) else []
    if not isinstance(node.this, exp.PercentileCont) or len(keys) != 1 or keys[0].args.get("desc"):
        return None
    return _percentile(keys[0].this, node.this.this)


def quantile(node: exp.Expr) -> exp.Expr | None:
    """QUANTILE_CONT."""
    return None if node.expression is None else _percentile(node.this, node.expression)


def _percentile(operand: exp.Expr, share: exp.Expr) -> exp.Expr | None:
    if not isinstance(share, exp.Literal) or share.is_string:
        return None
    percent = round(float(share.name) * 100, 6)
    if percent == 50:
        return exp.Median(this=operand)
    whole = percent == int(percent)
    return call("PERCENTILE", operand, number(int(percent))) if whole else None


# ---- rows


def fetched(node: exp.Expr) -> exp.Expr | None:
    """FETCH FIRST, where it is nothing but a number of rows."""
    options = node.args.get("limit_options")
    given = {} if options is None else options.args
    if given.get("percent") or given.get("with_ties") or node.args.get("count") is None:
        return None
    return exp.Limit(expression=node.args["count"])


def grouped(node: exp.Expr) -> exp.Expr | None:
    """GROUP BY ALL: by what is shown and isn't worked out of a group."""
    select = node.parent
    if not node.args.get("all") or not isinstance(select, exp.Select):
        return None
    items = [item.unalias() for item in select.expressions]
    if any(item.is_star for item in items):
        return None
    plain = [item.copy() for item in items if item.find(exp.AggFunc) is None]
    return exp.Group(expressions=plain) if plain else None
