"""Contents of registers in words of the query: columns, constants, what is computed of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlwright.sql.tokens import quote_text


@dataclass(frozen=True)
class Value:
    """A value as text, with what it is made of."""

    text: str
    columns: frozenset[str] = frozenset()
    """As `table.column`."""
    constants: frozenset[str] = frozenset()
    """As SQL writes them."""
    compound: bool = False
    """Stands in brackets within a larger text."""
    of_set: str = ""
    """The set of values that it is any one of, in words."""
    verdict: tuple[str, str] = ("", "")
    """Said where it is true, and where it is false; empty: that it is true or isn't."""
    never_null: bool = False
    internal: bool = False
    """The program made it for itself; no query can name it."""

    @property
    def bracketed(self) -> str:
        return f"({self.text})" if self.compound else self.text

    @property
    def is_constant(self) -> bool:
        return not self.columns and self.constants == {self.text}


NULL = Value("NULL")
UNKNOWN = Value("a value")


def constant(text: str) -> Value:
    """A constant as SQL writes it."""
    return Value(text, constants=frozenset({text}), never_null=True)


def text_constant(text: str) -> Value:
    """A text constant."""
    return constant(quote_text(text))


def made_of(text: str, parts: Iterable[Value], *, compound: bool = False) -> Value:
    """A value computed from others."""
    parts = tuple(parts)
    return Value(
        text,
        frozenset().union(*(p.columns for p in parts)),
        frozenset().union(*(p.constants for p in parts)),
        compound,
    )


def call(name: str, arguments: Iterable[Value]) -> Value:
    """A function of values."""
    parts = tuple(arguments)
    return made_of(f"{name}({', '.join(p.text for p in parts)})", parts)


def operation(left: Value, operator: str, right: Value) -> Value:
    """Two values joined by an operator."""
    return made_of(f"{left.bracketed} {operator} {right.bracketed}", (left, right), compound=True)


@dataclass(frozen=True)
class Condition:
    """The reason of a jump: a text for when it is taken, one for when it isn't."""

    taken: Value
    passed: Value

    def turned(self) -> Condition:
        """The opposite."""
        return Condition(self.passed, self.taken)


@dataclass(frozen=True)
class Joined:
    """Conditions joined by `and` or by `or`."""

    word: str
    parts: tuple[Joined | Value, ...]

    def without_last(self) -> Formula:
        """The others."""
        return self.parts[0] if len(self.parts) == 2 else Joined(self.word, self.parts[:-1])


Formula = Joined | Value | bool
"""A condition: true, false, or made of values."""


def both(first: Formula, second: Formula) -> Formula:
    """True where both are."""
    if first is False or second is False:
        return False
    return _joined("and", first, second)


def either(first: Formula, second: Formula) -> Formula:
    """True where one of them is."""
    if first is True or second is True:
        return True
    return _joined("or", first, second)


def _joined(word: str, first: Formula, second: Formula) -> Formula:
    parts: list[Joined | Value] = []
    for one in (first, second):
        if isinstance(one, Joined) and one.word == word:
            parts += one.parts
        elif not isinstance(one, bool):
            parts.append(one)
    return Joined(word, tuple(parts)) if len(parts) > 1 else parts[0] if parts else first


def said(formula: Formula) -> Value | bool:
    """A formula as text."""
    if not isinstance(formula, Joined):
        return formula
    texts, parts = [], []
    for one in formula.parts:
        part = said(one)
        assert isinstance(part, Value)
        parts.append(part)
        open_ended = isinstance(one, Joined) or " or " in part.text or " if " in part.text
        texts.append(f"({part.text})" if open_ended else part.text)
    return made_of(f" {formula.word} ".join(texts), parts, compound=True)


_MIRRORED = {"=": "=", "≠": "≠", "<": ">", "≤": "≥", ">": "<", "≥": "≤"}
_INVERSE = {"=": "≠", "≠": "=", "<": "≥", "≥": "<", ">": "≤", "≤": ">"}
JUMP_IF_NULL, NULLS_EQUAL = 0x10, 0x80
"""Bits of P5: a comparison with NULL jumps; NULL equals NULL."""


def comparison(
    left: Value, operator: str, right: Value, flags: int, collation: str = ""
) -> Condition:
    """The condition of a comparing jump."""
    if left.is_constant and not right.is_constant:
        left, operator, right = right, _MIRRORED[operator], left
    if flags & NULLS_EQUAL and operator in "=≠":
        same = made_of(f"{left.bracketed} is the same as {right.bracketed}", (left, right))
        other = made_of(f"{left.bracketed} is another than {right.bracketed}", (left, right))
        return Condition(same, other) if operator == "=" else Condition(other, same)
    for one, of in ((left, right), (right, left)):
        if one.of_set and operator == "≠" and not flags & JUMP_IF_NULL:
            known = made_of(f"neither {of.bracketed} nor any of {one.of_set} is NULL", (of,))
            return Condition(
                known, made_of(f"{of.bracketed} or one of {one.of_set} is NULL", (of,))
            )
    jumps = bool(flags & JUMP_IF_NULL)
    yes = operation(left, operator, right)
    no = operation(left, _INVERSE[operator], right)
    unsure = "".join(
        f" or {value.bracketed} is NULL" for value in (left, right) if not value.never_null
    )
    case = ignoring_case(collation)
    return Condition(
        replace(yes, text=yes.text + case + (unsure if jumps else "")),
        replace(no, text=no.text + case + ("" if jumps else unsure)),
    )


def ignoring_case(collation: str) -> str:
    """An addition for a comparison in which capitals make no difference."""
    return " (ignoring case)" if collation.lstrip("-").startswith("NOCASE") else ""


def truth(value: Value, *, if_null: bool) -> Condition:
    """The condition of a jump that is taken where a value is true."""
    yes, no = value.verdict
    if not yes:
        yes, no = f"{value.bracketed} is true", f"{value.bracketed} is false"
    unsure = "" if value.never_null else f" or {value.bracketed} is NULL"
    return Condition(
        made_of(yes + (unsure if if_null else ""), (value,)),
        made_of(no + ("" if if_null else unsure), (value,)),
    )


def untruth(value: Value, *, if_null: bool) -> Condition:
    """The condition of a jump that is taken where a value is false."""
    return truth(value, if_null=not if_null).turned()


def nullness(value: Value) -> Condition:
    """The condition of a jump that is taken where a value is NULL."""
    return Condition(
        made_of(f"{value.bracketed} is NULL", (value,)),
        made_of(f"{value.bracketed} is not NULL", (value,)),
    )
