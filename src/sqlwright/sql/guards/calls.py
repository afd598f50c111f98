"""The part of the check that needs no tree: the words of a query and the names that it calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlwright.errors import UnsafeQuery
from sqlwright.schema import fold_name
from sqlwright.sql.guards.rules import Own, Rules, may_call, words
from sqlwright.sql.token_check import (
    check_nesting,
    column_lists,
    parentheses,
)
from sqlwright.sql.tokens import SqlToken, UnreadableQuery

_BEFORE_PARENTHESES = words(
    """
    all and any array as between by case check collate cube distinct else end except exists from
    group grouping having in intersect interval is isnull join lateral left like limit materialized
    not notnull null offset on only or order right rollup select similar some then to union using
    values when where with
    """
)
"""Words that may stand before a parenthesis without calling anything."""
_AFTER = {
    "against": words(")"),
    "bernoulli": words("tablesample sample"),
    "exclude": words("*"),
    "filter": words(")"),
    "over": words(") nulls"),
    "reservoir": words("tablesample sample"),
    "sets": words("grouping"),
    "system": words("tablesample sample"),
    "within": words(")"),
    "zone": words("time"),
}
"""Words that do so after these."""
_BEFORE_TEXT = words(
    """
    all and array as between both by case collate columns date datetime distinct div else end escape
    except for from glob group having ilike in interval is lambda leading like limit mod not of
    offset on or order over passing path placing regexp return rlike select separator similar then
    time timestamp timestamptz timetz to trailing uescape union using values when where with xor
    zone
    """
)
"""Words that may stand before a text without being the name of its type."""
_BEGINNINGS = words("select with values from")
_STATEMENTS = words(
    """
    abort alter analyze attach begin call change checkpoint close cluster comment commit copy create
    deallocate declare delete describe detach discard do drop end execute explain export fetch flush
    force get grant handler import insert install kill listen load lock merge move notify optimize
    pivot pragma prepare purge reassign refresh reindex release rename repair replace reset revoke
    rollback savepoint security set show shutdown start summarize table truncate uninstall unlisten
    unlock unpivot update use vacuum xa
    """
)
_SHOWING = words("desc describe explain pivot show summarize table unpivot")
"""Statements that some engines read within parentheses."""
_FORMS = words("is nfc nfd nfkc nfkd")
"""Words before NORMALIZED where that isn't a name."""
_IN_TYPES = words("array precision unsigned varying with without zone")
_NAMES = frozenset({"word", "quoted"})


def check_tokens(tokens: Sequence[SqlToken], rules: Rules, own: Own) -> None:
    """Raise UnsafeQuery unless the words are those of one query and each name in front of a
    parenthesis may stand there."""
    if not tokens:
        raise UnreadableQuery("there is no query")
    check_nesting(tokens)
    _check_start(tokens)
    for index, token in enumerate(tokens):
        if token.kind == "end":
            raise UnsafeQuery("only one statement may run")
        if token.word in rules.words and not _follows(tokens, index, "."):
            raise UnsafeQuery(f"a query may not contain {token.word.upper()}")
        if token.kind == "text":
            _check_before_text(tokens, index, rules)
        if token.text == "::":
            _check_type(tokens, index + 1, rules, own)
    if rules.attributes_call:
        _check_attributes(tokens)
    _check_clauses(tokens)
    _check_calls(tokens, rules, own)


def _check_start(tokens: Sequence[SqlToken]) -> None:
    first = next((token for token in tokens if token.text != "("), tokens[0])
    if first.word in _STATEMENTS:
        raise UnsafeQuery(f"only a query may run, not {first.word.upper()}")
    if first.word not in _BEGINNINGS:
        raise UnreadableQuery(f"a query starts with SELECT or WITH, not {first.text[:40]!r}")


def _word(tokens: Sequence[SqlToken], index: int) -> str:
    return tokens[index].word if index >= 0 else ""


def _follows(tokens: Sequence[SqlToken], index: int, text: str) -> bool:
    return index > 0 and tokens[index - 1].text == text


def _check_before_text(tokens: Sequence[SqlToken], index: int, rules: Rules) -> None:
    """`regclass 'x'` is a cast, `_latin1 'x'` a change of character set, `'a' 'b'` one text."""
    before = tokens[index - 1] if index else SqlToken("", "")
    allowed = before.kind == "operator" and before.text not in {")", "]", "}", "."}
    if not allowed and before.word not in _BEFORE_TEXT and before.word not in rules.types:
        raise UnreadableQuery(f"a text can't stand right after {before.text[:60]!r}")
    if before.word in {"from", "join"} and not _in_call(tokens, index):
        raise UnsafeQuery("a query may only read what an identifier names")


def _in_call(tokens: Sequence[SqlToken], index: int) -> bool:
    """True within the parentheses of a name, as in trim('x' FROM 'y'), or after DISTINCT FROM."""
    if index > 1 and tokens[index - 2].word == "distinct":
        return True
    depth = 0
    for at in range(index - 1, 0, -1):
        depth += (tokens[at].text == ")") - (tokens[at].text == "(")
        if depth < 0:
            return tokens[at - 1].word in {"extract", "overlay", "substring", "trim"}
    return False


def _check_type(tokens: Sequence[SqlToken], index: int, rules: Rules, own: Own) -> None:
    named = tokens[index] if index < len(tokens) else SqlToken("", "")
    last = index
    while last + 2 < len(tokens) and tokens[last + 1].text == ".":
        last += 2
    known = last == index and _written(named, rules) in rules.types
    if (not known and own_name(tokens, last, rules) not in own.types) or named.kind == "text":
        raise UnsafeQuery(f"casting to {named.text[:60]} is not allowed")


def _check_attributes(tokens: Sequence[SqlToken]) -> None:
    """(x).f and x[1].f call the function f, whatever it is."""
    for index in range(1, len(tokens) - 1):
        dot = tokens[index].text == "." and tokens[index - 1].text in {")", "]"}
        if dot and tokens[index + 1].text != "*":
            raise UnreadableQuery("(x).name may call a function; name the column without it")


def _check_clauses(tokens: Sequence[SqlToken]) -> None:
    """Refuse what is no query within one: locks, sequences, statements in parentheses; and VALUES
    that could be a name."""
    for index, (token, after) in enumerate(pairwise(tokens)):
        locks = token.word == "for" and after.word in {"update", "share", "no", "key"}
        if locks or (token.word == "lock" and after.word == "in"):
            raise UnsafeQuery("a query may not lock what it reads")
        of_sequence = token.text == "." and after.name in {"currval", "nextval"}
        if of_sequence or (token.word == "value" and after.word == "for"):
            raise UnsafeQuery("a query may not use a sequence")
        if after.word == "join" and (
            token.word in {"select", "distinct"} or token.text in {",", "("}
        ):
            raise UnreadableQuery("JOIN stands between two tables")
        if token.text == "(" and after.word in _SHOWING:
            raise UnsafeQuery(f"a query may not contain {after.word.upper()}")
        if after.word == "normalized" and (
            token.word in _FORMS or (token.word == "not" and _word(tokens, index - 1) == "is")
        ):
            raise UnsafeQuery("the forms of Unicode aren't looked at")  # it can't be interrupted
        named = _follows(tokens, index, ".") or (index > 0 and tokens[index - 1].word == "as")
        if token.word == "values" and after.text != "(" and after.word != "row" and not named:
            raise UnreadableQuery("VALUES is a name only in quotes")


def _check_calls(tokens: Sequence[SqlToken], rules: Rules, own: Own) -> None:
    pairs = parentheses(tokens)
    lists = set(column_lists(tokens, pairs)) | set(_alias_lists(tokens, pairs, rules))
    for index, token in enumerate(tokens):
        if token.text != "(" or index == 0:
            continue
        before = tokens[index - 1]
        if before.word in {"cast", "try_cast", "safe_cast"}:
            _check_cast(tokens, index, pairs, rules, own)
        if before.kind not in {"word", "quoted", "text"} or index in lists:
            continue
        if before.kind == "text":
            raise UnreadableQuery(f"{before.text[:60]} can't be called")
        name = _called(tokens, index - 1, rules)
        named = own_name(tokens, index - 1, rules) in own.functions
        reached = fold_name(before.name) if rules.blind_functions else before.name
        if not named and reached in own.others and not _follows(tokens, index - 1, "."):
            raise UnsafeQuery(f"{before.text[:60]} is a function of the database's own")
        earlier = tokens[index - 2] if index > 1 else SqlToken("", "")
        if "." not in name and (
            (before.word in _BEFORE_PARENTHESES and before.word not in rules.not_reserved)
            or before.word in rules.keywords
            or (earlier.word or earlier.text) in _AFTER.get(before.word, ())
            or (before.word == "columns" and _is_of_json_table(tokens, index - 1))
            or (name in rules.types and name not in rules.unsized)
        ):
            continue
        if not named and not may_call(name, rules, own) and name not in rules.table_functions:
            refuse_call(name, rules)


def _is_of_json_table(tokens: Sequence[SqlToken], index: int) -> bool:
    """True for COLUMNS after a path or what is passed: elsewhere that may be a function's name."""
    earlier = tokens[index - 1]
    named = index > 1 and tokens[index - 2].word == "as"
    return named or earlier.kind == "text" or earlier.text == ")"


def _called(tokens: Sequence[SqlToken], index: int, rules: Rules) -> str:
    """The function's name, with its namespace where it has one."""
    name = _written(tokens[index], rules)
    if not _follows(tokens, index, "."):
        return name
    before = tokens[index - 2] if index > 1 else SqlToken("", "")
    alone = not _follows(tokens, index - 2, ".")
    if alone and rules.attributes_call and before.name == "pg_catalog":
        return name
    return f"{before.name if alone else ''}.{name}"


def _written(token: SqlToken, rules: Rules) -> str:
    """A name as the engine looks it up: in some, what is quoted isn't folded."""
    if token.kind == "quoted" and rules.names == "lower":
        return token.text[1:-1]
    return token.name


def own_name(tokens: Sequence[SqlToken], index: int, rules: Rules) -> str:
    """The name that ends there, with its namespace where it has one, as `Own` has it; empty for
    what is none of a function or type of the database's own."""
    parts = [tokens[index]] if index < len(tokens) else []
    while index > 1 and tokens[index - 1].text == ".":
        index -= 2
        parts.insert(0, tokens[index])
    if len(parts) not in {1, 2} or not all(part.kind in _NAMES for part in parts):
        return ""
    names = [_spelled(part, rules, own=part is parts[-1]) for part in parts]
    return "" if any("." in name for name in names) else ".".join(names)


def _spelled(token: SqlToken, rules: Rules, *, own: bool) -> str:
    """A namespace, or a function's or type's `own` name, as it is looked up."""
    if rules.names == "blind" or (own and rules.blind_functions):
        return token.name
    mark = token.text[-1]
    if token.kind == "quoted":
        return token.text[1:-1].replace(mark * 2, mark)
    return fold_name(token.text) if rules.names == "lower" else token.text


def refuse_call(name: str, rules: Rules) -> None:
    """Raise UnsafeQuery for a function that isn't on the list."""
    if rules.dangerous.fullmatch(name.rpartition(".")[2]):
        raise UnsafeQuery(f"the function {name[:60]} is not allowed")
    suggestion = rules.suggestions.get(name)
    more = f"; in {rules.dialect.title} write {suggestion}" if suggestion else ""
    raise UnreadableQuery(
        f"a query may call no function {name[:60]}{more}", cause="unknown_function", name=name
    )


def _check_cast(
    tokens: Sequence[SqlToken],
    opening: int,
    pairs: dict[int, int],
    rules: Rules,
    own: Own,
) -> None:
    """CAST(x AS type): the last AS that is the call's own is followed by a type."""
    depth, named = 0, 0
    for index in range(opening, pairs.get(opening, len(tokens))):
        depth += (tokens[index].text == "(") - (tokens[index].text == ")")
        if depth == 1 and tokens[index].word == "as":
            named = index + 1
    _check_type(tokens, named, rules, own)


def _alias_lists(tokens: Sequence[SqlToken], pairs: dict[int, int], rules: Rules) -> Iterator[int]:
    """The parentheses after `AS name`, or after `) name` where nothing but names is in them: those
    of a table's columns, with types or without."""
    closings = {closing: opening for opening, closing in pairs.items()}
    for opening, closing in pairs.items():
        if opening < 2 or tokens[opening - 1].kind not in _NAMES:
            continue
        before = tokens[opening - 2]
        inside = tokens[opening + 1 : closing]
        named = before.text == ")" and (
            not _is_distinct_on(tokens, closings.get(opening - 2, 0))
            and all(token.kind in _NAMES or token.text == "," for token in inside)
        )
        if (named or before.word == "as") and _is_columns(inside, rules):
            yield opening


def _is_distinct_on(tokens: Sequence[SqlToken], opening: int) -> bool:
    """True if a parenthesis is that of DISTINCT ON or its like, after which anything is called."""
    return opening > 1 and tokens[opening - 1].word in {"on", "all", "distinct", "top"}


def _is_columns(tokens: Sequence[SqlToken], rules: Rules) -> bool:
    """True for names, each with a type or without, and commas between."""
    first, depth = True, 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if first:
            if token.kind not in _NAMES:
                return False
            first = False
        elif token.text == "," and not depth:
            first = True
        elif token.word not in rules.types | _IN_TYPES and (
            token.kind != "number" and token.text not in {"(", ")", "[", "]", ","}
        ):
            return False
    return True
