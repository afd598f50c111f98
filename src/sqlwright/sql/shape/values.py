"""Numbers, texts, truth values and aggregates of other dialects as SQLite has them."""

from __future__ import annotations

from sqlglot import exp

from sqlwright.sql.shape.moments import as_integer, cast_to_moment, number, text

_WHOLE = frozenset(
    {"INT", "BIGINT", "SMALLINT", "TINYINT", "MEDIUMINT", "INT128", "INT256", "UINT", "UBIGINT"}
    | {"USMALLINT", "UTINYINT", "UMEDIUMINT", "UINT128", "UINT256"}
)
_TEXTS = frozenset({"TEXT", "VARCHAR", "CHAR", "NVARCHAR", "NCHAR", "BPCHAR", "NAME"})
_CONDITIONS = (exp.Predicate, exp.Not, exp.And, exp.Or, exp.Exists)
_REAL = "DOUBLE"
TRUTH = "truth"
"""In the meta of a 1 or 0: the TRUE or FALSE that it was."""


def literal(node: exp.Expr) -> exp.Expr | None:
    """A text in another spelling: E'..', N'..', $$..$$."""
    if not isinstance(node.this, str):
        return None
    plain = text(node.this)
    plain.meta.update(node.meta)
    return plain


def truth(node: exp.Expr) -> exp.Expr | None:
    """TRUE and FALSE, which are 1 and 0; `TRUTH` in their meta says what they were."""
    if isinstance(node.parent, exp.Join):
        return None
    plain = number(int(bool(node.this)))
    plain.meta[TRUTH] = "TRUE" if node.this else "FALSE"
    return plain


def cast(node: exp.Expr) -> exp.Expr | None:
    """CAST, to a type that SQLite has."""
    assert isinstance(node, exp.Cast)
    made = cast_to_moment(node)
    if made is None:
        made = _cast_to_value(node)
    if made is None and isinstance(node, exp.TryCast):
        return exp.Cast(this=node.this, to=node.to)
    return made


def _cast_to_value(node: exp.Cast) -> exp.Expr | None:
    name, inner = str(getattr(node.to.this, "name", node.to.this)), node.this
    bare = inner.unnest()
    if name in _WHOLE:
        if isinstance(bare, _CONDITIONS) or _is_whole(bare):
            return inner  # type: ignore[no-any-return]
        return None if name == "INT" else as_integer(inner)
    if name in _TEXTS and (_is_text(bare) or _is_text_part(bare)):
        return bare  # type: ignore[no-any-return]
    if name == "BOOLEAN" and isinstance(bare, exp.Literal):
        return number(int(bare.name.lower() in {"t", "true", "1", "yes", "on"}))
    return _decimal(node) if name in {"DECIMAL", "BIGDECIMAL"} else None


def _is_whole(node: exp.Expr) -> bool:
    """True of what is a whole number in SQLite anyway: a cast to one, seconds between moments."""
    if isinstance(node, exp.Cast):
        return node.to.is_type("INT")
    sides = (node.this, node.expression) if isinstance(node, exp.Sub) else ()
    parts = [one for one in sides if isinstance(one, exp.TimeToStr)]
    return len(parts) == 2 and all(one.args["format"].name == "%s" for one in parts)


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)


def _is_text_part(node: exp.Expr) -> bool:
    """True of a part of a date that has the same digits as a number and as SQLite's text."""
    return isinstance(node, exp.TimeToStr) and node.args["format"].name in {"%Y", "%w", "%s"}


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


def safe_division(node: exp.Expr) -> exp.Expr | None:
    """A division by what isn't 0, which NULLIF sees to; in SQLite nothing need."""
    divisor = _divisor(node)
    if divisor is node.expression:
        return None
    return exp.Div(this=node.this, expression=divisor)


def _divisor(node: exp.Expr) -> exp.Expr:
    divisor: exp.Expr = node.expression
    bare = divisor.unnest()
    if isinstance(bare, exp.Nullif) and bare.expression.name == "0":
        return bare.this  # type: ignore[no-any-return]
    return divisor


def is_real(division: exp.Expr) -> bool:
    """True if something in a division is a real number: a cast to one, AVG, or a number with a
    point."""
    for node in division.walk():
        if isinstance(node, exp.Avg):
            return True
        if isinstance(node, exp.Cast) and node.to.this in exp.DataType.REAL_TYPES:
            return True
        if isinstance(node, exp.Literal) and not node.is_string and "." in node.name:
            return True
    return False


def real_division(node: exp.Expr) -> exp.Expr | None:
    """A division that isn't whole, whatever is divided."""
    if is_real(node):
        return safe_division(node)
    left, right = node.this, _divisor(node)
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
    return exp.Div(this=node.this, expression=_divisor(node))


def truncated(node: exp.Expr) -> exp.Expr | None:
    """TRUNC of a number."""
    places = node.args.get("decimals")
    return as_integer(node.this) if places is None or places.name == "0" else None


def joined_texts(node: exp.Expr) -> exp.Expr | None:
    """||, whose sides SQLite takes for texts anyway."""
    for name in ("this", "expression"):
        side = node.args[name]
        if isinstance(side, exp.Cast) and str(getattr(side.to.this, "name", "")) in _TEXTS:
            node.set(name, side.this)
    return None


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
    return exp.Escape(this=node.copy(), expression=text("\\"))


def is_value(node: exp.Expr) -> exp.Expr | None:
    """IS TRUE and IS FALSE, and IS NOT NULL where the parser keeps the NOT within."""
    if node.args.get("negate"):
        return exp.Not(this=exp.Is(this=node.this, expression=node.expression))
    if isinstance(node.expression, exp.Literal):
        return exp.EQ(this=node.this, expression=node.expression)
    return None


def any_of(node: exp.Expr) -> exp.Expr | None:
    """= ANY (...); of an array that is stored, its column equal to the element."""
    if not _is_any(node.expression):
        return None
    given = node.expression.this.unnest()
    if isinstance(given, exp.Column):
        return exp.EQ(this=given, expression=node.this)
    return _member(node.this, node.expression.this)


def in_array(node: exp.Expr) -> exp.Expr | None:
    """LIST_CONTAINS of an array that is stored."""
    if not isinstance(node.this, exp.Column):
        return None
    return exp.EQ(this=node.this, expression=node.expression)


def span(node: exp.Expr) -> exp.Expr | None:
    """An interval that a column is compared with, as its text."""
    around = node.parent
    if not isinstance(around, (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)):
        return None
    compared = around.this if around.this is not node else around.expression
    if not isinstance(compared, (exp.Column, exp.AggFunc)) or not _is_text(node.this):
        return None
    unit = node.args.get("unit")
    return text(node.this.name if unit is None else f"{node.this.name} {unit.name.lower()}")


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
        joined_texts(whole)
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
