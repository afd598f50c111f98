"""Things that the evidence of a question names, gold uses, and the query doesn't."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.english.words import split_name
from sqlwright.lab.evaluation.error_classes.classes import Finding
from sqlwright.lab.evaluation.error_classes.reading.said import Said

FORMULAS = {
    "sum": ("sum",), "total": ("sum", "total"), "avg": ("avg", "average"), "count": ("count",),
    "max": ("max",), "min": ("min",),
}  # fmt: skip
"""Words for aggregates in formulas."""


def ignored_evidence(gold: Said, query: Said, evidence: str) -> Iterator[Finding]:
    """Columns, values and formulas of the evidence that only gold has."""
    words, names = split_name(evidence), _names(evidence)
    if not words:
        return
    read = {query.same.root(ref) for ref in query.facts.columns}
    doubled = {ref.column for ref in query.facts.columns}
    for ref in gold.facts.columns:
        named = ref.column.casefold() in names or _within(split_name(ref.column), names)
        if named and gold.same.root(ref) not in read and ref.column not in doubled:
            yield Finding("evidence", f"the evidence names {ref}, the query doesn't read it")
    # A double quote around a text and a number written as text say the same.
    used = {one.text.strip("%").casefold() for one in query.facts.constants}
    for one in gold.facts.constants:
        text = one.text.strip("%")
        plain = one.is_format or (not one.is_text and one.text in {"0", "1", "100"})
        if plain or text.casefold() in used or _bounded(one.value, query):
            continue
        if _within(split_name(text), words):
            yield Finding("evidence", f"the evidence names {text!r}, the query doesn't use it")
    formulas = "".join(evidence.casefold().split())
    ends = {"max" if highest else "min" for _, highest in query.extremes}
    taken = {query.subjects.aggregate(call).function for call in query.facts.aggregates} | ends
    for call in map(gold.subjects.aggregate, gold.facts.aggregates):
        written = any(f"{word}(" in formulas for word in FORMULAS.get(call.function, ()))
        if written and call.function not in taken and not _mean(call.function, taken):
            yield Finding(
                "evidence", f"the evidence names {call.function.upper()}, the query doesn't take it"
            )


def _names(text: str) -> tuple[str, ...]:
    """The words of a text, names with an underscore whole: `first_name` doesn't name `name`."""
    plain = "".join(c if c.isalnum() or c == "_" else " " for c in text)
    return tuple(plain.casefold().split())


def _within(name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """True if the words of a name stand one after another in the text."""
    size = len(name)
    return size > 0 and any(words[i : i + size] == name for i in range(len(words) - size + 1))


def _mean(function: str, taken: set[str]) -> bool:
    """True if a mean is taken as a sum divided by a count, or the other way round."""
    if function == "avg":
        return {"sum", "count"} <= taken
    return function in {"sum", "count"} and "avg" in taken


def _bounded(value: str | float, query: Said) -> bool:
    """True of a number whose neighbour bounds the query, as in >= 6 for > 5."""
    values = {one.value for one in query.asked.conditions if isinstance(one.value, float)}
    return not isinstance(value, str) and float(value) in values
