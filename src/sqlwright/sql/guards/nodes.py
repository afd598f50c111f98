"""Kinds of nodes that make up queries in other dialects than SQLite's, and the tables that they may
read: those that are listed and the query's own common table expressions.

`calls.py` has checked every written name before; here a function may only be one that the parser
reads such names as, so that nothing is called without parentheses.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sqlwright.errors import UnsafeQuery
from sqlwright.schema import fold_name
from sqlwright.sql.guards.rules import Own, Readable, Rules, may_call, words
from sqlwright.sql.tokens import UnreadableQuery

if TYPE_CHECKING:
    from sqlglot import exp

_KINDS = words(
    """
    Alias AtTimeZone CTE ColumnDef Condition Cube DataType DataTypeParam Distinct Fetch Filter From
    FromTimeZone Group GroupingSets Having HavingMax Identifier IgnoreNulls Interval IntervalSpan
    JSONColumnDef JSONKeyValue JSONPath JSONPathPart JSONSchema JSONValue Join Lambda Lateral Limit
    LimitOptions Offset Order Ordered Qualify Query RespectNulls Rollup Slice Star Table TableAlias
    TableSample Tuple Values Var Where WindowSpec With WithinGroup FormatJson OnCondition
    """
)
_BANNED = words(
    """
    Command DDL DML Into Lock NextValueFor Operator Parameter Placeholder Pseudocolumn
    SessionParameter
    """
)
_CALLED = words(
    """
    Abs Acos Acosh AddMonths And AnonymousAggFunc AnyValue ApproxDistinct ApproxQuantile
    ApproxTopK ArgMax ArgMin Array ArrayAgg ArrayAll ArrayAny ArrayAppend ArrayConcat
    ArrayContainedBy ArrayContains ArrayContainsAll ArrayDistinct ArrayFilter ArrayIntersect
    ArrayMax ArrayMin ArrayOverlaps ArrayPosition ArrayPrepend ArrayRemove ArrayReverse
    ArraySize ArraySlice ArraySort ArraySum ArrayToString Ascii Asin Asinh Atan Atan2 Atanh Avg
    BitLength BitwiseAndAgg BitwiseCount BitwiseOrAgg BitwiseXorAgg ByteLength Case Cast
    CastToStrType Cbrt Ceil Chr Coalesce Collate Columns CombinedAggFunc Compress Concat ConcatWs
    Contains Convert ConvertTimezone ConvertToCharset Corr Cos Cosh CosineDistance Cot Count
    CountIf CovarPop CovarSamp CumeDist CurrentDate CurrentDatetime CurrentTime CurrentTimestamp
    Date DateAdd DateBin DateDiff DateFromParts DateStrToDate DateSub DateTrunc Datetime Day
    DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Dayname Decode DecodeCase Degrees DenseRank Elt
    Encode EndsWith EuclideanDistance Exists Exp Explode ExplodingGenerateSeries Extract
    Factorial First FirstValue Flatten Floor Format FromBase FromBase64 FromJson
    GenerateDateArray GenerateSeries GenerateTimestampArray Getbit Greatest GroupConcat Grouping
    GroupingId Hex Host Hour If Initcap IsInf IsNan IsNullValue JSONArray JSONArrayAgg
    JSONArrayAppend JSONArrayContains JSONArrayInsert JSONBContains JSONBContainsAllTopKeys
    JSONBContainsAnyTopKeys JSONBContainsTopKey JSONBDeleteAtPath JSONBExists JSONBExtract
    JSONBExtractScalar JSONBObjectAgg JSONBPathExists JSONCast JSONExists JSONExtract
    JSONExtractArray JSONExtractScalar JSONFormat JSONKeys JSONObject JSONObjectAgg JSONRemove
    JSONSet JSONStripNulls JSONTable JSONType JSONValueArray JarowinklerSimilarity JustifyDays
    JustifyHours JustifyInterval Kurtosis Lag Last LastDay LastValue Lead Least Left Length
    Levenshtein List Ln Localtime Localtimestamp Log LogicalAnd LogicalOr Lower MD5 MD5Digest
    MakeInterval Map MapFromEntries MapKeys MapSize MatchAgainst Max Median Min Minute Mode
    Month Monthname MonthsBetween Normalize NthValue Ntile Nullif NumberToStr Nvl2 Or Overlay
    Pad ParseDatetime ParseJSON PercentRank PercentileCont PercentileDisc Pi Pow Quantile
    Quarter Radians Rand Rank Reduce RegexpCount RegexpExtract RegexpExtractAll RegexpFullMatch
    RegexpILike RegexpInstr RegexpLike RegexpReplace RegexpSplit RegexpSubstr RegrAvgx RegrAvgy
    RegrCount RegrIntercept RegrR2 RegrSlope RegrSxx RegrSxy RegrSyy Repeat Replace Reverse
    Right Round RowNumber SHA SHA1Digest SHA2 SHA2Digest SafeDivide Second Sign Sin Sinh
    Skewness Soundex Space Split SplitPart Sqrt StDistance StartsWith Stddev StddevPop
    StddevSamp StrPosition StrToDate StrToTime StrToUnix StringToArray Struct StructExtract
    Substring SubstringIndex Sum Tan Tanh Time TimeFromParts TimeStrToTime TimeToStr TimeToUnix
    Timestamp TimestampAdd TimestampDiff TimestampFromParts TimestampSub TimestampTrunc ToBase64
    ToBinary ToChar ToDays ToMap ToNumber Transform Translate Trim Trunc Try TryCast TsOrDsAdd
    TsOrDsToDate TsOrDsToDatetime TsOrDsToTimestamp Typeof Unhex Unicode UnixToStr UnixToTime
    Unnest Upper UtcDate UtcTime UtcTimestamp Uuid VarMap Variance VariancePop Week WeekOfYear
    WeekStart WeightString WidthBucket Xor Year YearOfWeek YearOfWeekIso
    """
)
_PARTS = words(
    """
    alias catalog db distinct expressions from_ group having joins laterals limit offset only order
    ordinality qualify sample this where windows with_
    """
)
_UNUSUAL_TYPES = words("NAME OBJECT_IDENTIFIER SERIAL BIGSERIAL SMALLSERIAL USERDEFINED")


def check_node(node: exp.Expr, rules: Rules, own: Own) -> None:
    """Raise UnsafeQuery unless a node is of a kind that queries are made of. Names of `own` are
    folded."""
    from sqlglot import exp

    allowed, banned, called = _kinds()
    kind = type(node).__name__
    if not isinstance(node, allowed) or isinstance(node, banned):
        raise UnsafeQuery(f"a query may not contain {kind.upper()}")
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        _check_name(node, rules, own)
    elif isinstance(node, exp.Func) and not isinstance(node, called):
        raise UnsafeQuery(f"a query may not contain {kind.upper()}")
    elif isinstance(node, exp.DataType):
        _check_type(node, rules, own)
    elif isinstance(node, exp.Dot) and rules.attributes_call:
        if isinstance(node.parent, exp.DataType):
            return  # the type's name, which was looked at with it
        if not isinstance(node.expression, (exp.Star, exp.Anonymous, exp.Func)):
            raise UnsafeQuery("(x).name may call a function")
    elif isinstance(node, (exp.Select, exp.Table)):
        _check_parts(node)
    elif isinstance(node, exp.In):
        _check_in(node, rules)


def _check_in(node: exp.In, rules: Rules) -> None:
    """`x IN name` reads a table in some engines, `x IN (name)` in ClickHouse, too."""
    from sqlglot import exp

    if node.args.get("field") and rules.dialect.name != "duckdb":
        raise UnsafeQuery("IN may only be followed by parentheses")
    members = [one.unalias().unnest() for one in node.expressions]
    if rules.members_read and len(members) == 1 and isinstance(members[0], exp.Column):
        raise UnsafeQuery("IN (name) may read a table; write = instead")


def _check_parts(node: exp.Expr) -> None:
    """Refuse parts of a query or a table that say how or when it is read."""
    for part, value in node.args.items():
        if value and part not in _PARTS:
            raise UnsafeQuery(f"a query may not contain {part.strip('_').upper()}")


def _check_name(node: exp.Expr, rules: Rules, own: Own) -> None:
    name = called_name(node)
    if rules.attributes_call:
        name = name.removeprefix("pg_catalog.")
    read = isinstance(node.parent, _table())
    allowed = name in rules.table_functions if read else may_call(name, rules, own)
    if not allowed and name not in own.functions:
        raise UnsafeQuery(f"the function {name[:60]} is not allowed")


def called_name(node: exp.Expr) -> str:
    """The folded name that a node calls, with its namespace where it has one."""
    from sqlglot import exp

    parts = [node.args.get("this")]
    while isinstance(node.parent, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        node = node.parent
    above = node.parent
    if isinstance(above, exp.Table):
        parts += [above.args[place] for place in ("db", "catalog") if above.args.get(place)]
    elif isinstance(above, exp.Column):  # the parser's way of reading s.f() FILTER (...)
        parts += [above.args[one] for one in ("table", "db", "catalog") if above.args.get(one)]
    elif isinstance(above, exp.Dot) and above.expression is node:
        parts.append(above.this)
    return ".".join(_written(part) for part in reversed(parts))


def _written(part: object) -> str:
    """A part of a name in lower case; of one that is no plain word, what no name is."""
    from sqlglot import exp

    if isinstance(part, exp.Expr) and not isinstance(part, exp.Identifier):
        return "()"
    text = str(getattr(part, "name", part))
    return "()" if "." in text else fold_name(text)


def _check_type(node: exp.DataType, rules: Rules, own: Own) -> None:
    from sqlglot import exp

    kind = node.args.get("kind")
    if getattr(node.this, "name", "") in _UNUSUAL_TYPES or isinstance(
        node, (exp.PseudoType, exp.ObjectIdentifier)
    ):
        if isinstance(kind, exp.Dot):
            named = ".".join(map(_written, (kind.this, kind.expression)))
        else:
            named = fold_name(str(getattr(kind, "name", "") or kind or node.this))
        if named not in rules.types and named not in own.types:
            raise UnsafeQuery(f"casting to {named[:60]} is not allowed")


@cache
def _kinds() -> tuple[
    tuple[type[exp.Expr], ...], tuple[type[exp.Expr], ...], tuple[type[exp.Expr], ...]
]:
    """Kinds that are allowed, exceptions among them, and the functions."""
    from sqlglot import exp

    def named(names: frozenset[str]) -> tuple[type[exp.Expr], ...]:
        return tuple(getattr(exp, name) for name in sorted(names))

    return named(_KINDS), named(_BANNED), named(_CALLED)


@cache
def _table() -> type[exp.Expr]:
    from sqlglot import exp

    return exp.Table


def listed(readable: Readable, rules: Rules) -> frozenset[tuple[str, ...]]:
    """Names of tables, in parts, as they are compared with those of a query."""
    fold = fold_name if rules.names in {"blind", "upper"} else str
    parts = (name.split(".") if isinstance(name, str) else name for name in readable)
    return frozenset(tuple(map(fold, one)) for one in parts)


def read_name(node: exp.Expr, readable: frozenset[tuple[str, ...]], rules: Rules) -> str:
    """The folded name of the table that a node reads. Raises UnsafeQuery for one that is neither
    listed nor an expression of the query's own."""
    from sqlglot import exp

    parts = node.parts if isinstance(node, exp.Table) else ()
    if not parts or not all(isinstance(part, exp.Identifier) for part in parts):
        raise UnsafeQuery("a query may only read what an identifier names")
    *places, name = (_folded(part, rules) for part in parts)
    if expression_read(node, rules) is not None:
        return name
    if not places and fold_name(name) in rules.empty_tables and not parts[0].args.get("quoted"):
        return name
    written = ".".join(part.name for part in parts)
    namespaces = [fold_name(place) for place in places]
    if set(namespaces) & set(rules.dialect.catalogs) or (
        rules.own_tables.fullmatch(fold_name(name))
    ):
        raise UnsafeQuery(f"reading {written[:60]} is not allowed")
    if rules.dialect.has_one_usual and places == [rules.dialect.namespace]:
        places = []
    if (*places, name) not in readable:
        raise UnreadableQuery(f"no such table: {written}", cause="unknown_table", name=written)
    return ".".join((*places, name))


def _folded(part: exp.Expr, rules: Rules) -> str:
    name = str(part.name)
    if rules.names == "exact" or (rules.names == "lower" and part.args.get("quoted")):
        return name
    return fold_name(name)


def expression_read(node: exp.Expr, rules: Rules) -> exp.Expr | None:
    """The common table expression that a table's node reads: one of a query around the node, before
    the one that the node is in; that one itself in the recursive part of a union. None where it
    reads none."""
    from sqlglot import exp

    parts = node.parts if isinstance(node, exp.Table) else ()
    if len(parts) != 1 or not isinstance(parts[0], exp.Identifier):
        return None
    return _in_scope(node, _folded(parts[0], rules), rules)


def _in_scope(node: exp.Expr, name: str, rules: Rules) -> exp.Expr | None:
    from sqlglot import exp

    below: exp.Expr = node
    above = node.parent
    path: list[exp.Expr] = [node]
    while above is not None:
        path.append(above)
        if isinstance(above, exp.With):
            return _before(above, below, path, name, rules)
        having = above.args.get("with_")
        beside = having.expressions if having is not None and having is not below else ()
        for expression in beside:
            if _folded_alias(expression, rules) == name:
                return expression if isinstance(expression, exp.Expr) else None
        below, above = above, above.parent
    return None


def _before(
    having: exp.Expr, below: exp.Expr, path: list[exp.Expr], name: str, rules: Rules
) -> exp.Expr | None:
    """The same for a node within an expression of a WITH list: `below`."""
    for expression in having.expressions:
        if expression is below:
            itself = (
                _folded_alias(expression, rules) == name
                and bool(having.args.get("recursive"))
                and _is_recursive_part(expression, path)
            )
            query = having.parent
            if itself or query is None:
                return below if itself else None
            return _in_scope(query, name, rules)
        if _folded_alias(expression, rules) == name:
            return expression if isinstance(expression, type(below)) else None
    return None


def _is_recursive_part(expression: exp.Expr, path: list[exp.Expr]) -> bool:
    """True if the path up from a node to its expression is through the right side of the union
    that the expression is. A union by name is no recursion: there the name is a stored table's."""
    from sqlglot import exp

    body = expression.this
    while isinstance(body, (exp.Subquery, exp.Paren)):
        body = body.this
    if not isinstance(body, exp.Union) or body.args.get("by_name"):
        return False
    return any(body.expression is step for step in path)


def _folded_alias(cte: exp.Expr, rules: Rules) -> str:
    alias = cte.args.get("alias")
    identifier = alias.this if alias is not None else None
    return "" if identifier is None else _folded(identifier, rules)
