"""Differences between the conditions of two queries."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.lab.evaluation.error_classes.classes import Finding
from sqlwright.lab.evaluation.error_classes.reading.conditions import Condition
from sqlwright.lab.evaluation.error_classes.reading.said import Said


def conditions_differ(gold: Said, query: Said) -> Iterator[Finding]:
    """Conditions that only one has, those that differ in one thing told together."""
    missing = [one for one in gold.asked.conditions if one not in query.asked.conditions]
    extra = [one for one in query.asked.conditions if one not in gold.asked.conditions]
    for matches in (_same_but_value, _same_but_operator, _same_but_subject, _other_subject):
        for one in list(missing):
            found = [other for other in extra if matches(one, other)]
            if found:
                missing.remove(one)
                extra.remove(found[0])
                yield from _exchanged(one, found[0], matches is _same_but_value)
    _strike_unknown(missing, extra)
    for one in missing:
        yield Finding("condition", f"gold asks for {one}, the query doesn't")
    for one in extra:
        yield Finding("condition", f"the query asks for {one}, gold doesn't")
    if gold.asked.excludes != query.asked.excludes:
        leaves, keeps = ("gold", "the query")[:: 1 if gold.asked.excludes else -1]
        yield Finding("condition", f"{leaves} leaves out rows that a query finds, {keeps} doesn't")
    same = set(gold.asked.conditions) == set(query.asked.conditions)
    if same and gold.asked.excludes == query.asked.excludes and _either(gold) != _either(query):
        ours, theirs = ("AND", "OR") if _either(query) else ("OR", "AND")
        yield Finding("condition", f"gold joins its conditions by {ours}, the query by {theirs}")
    yield from _moved(gold, query)


def _moved(gold: Said, query: Said) -> Iterator[Finding]:
    """Conditions that one query asks of a part of what it counts, the other of all rows. That
    matters where something is divided by the rest."""
    if not all("/" in said.calculated.functions for said in (gold, query)):
        return
    for one in sorted(gold.asked.within ^ query.asked.within, key=str):
        if one in gold.asked.conditions and one in query.asked.conditions:
            part, rows = ("gold", "the query")[:: 1 if one in gold.asked.within else -1]
            yield Finding(
                "condition", f"{part} asks for {one} within a calculation, {rows} of all rows"
            )


def _strike_unknown(missing: list[Condition], extra: list[Condition]) -> None:
    """Strike out what is asked of a value worked out in FROM where the other query asks the same of
    something that it works out in place."""
    for ours, theirs in ((missing, extra), (extra, missing)):
        for one in [one for one in ours if one.subject.is_unknown]:
            same = [o for o in theirs if (o.operator, o.value) == (one.operator, one.value)]
            same = [other for other in same if not other.subject.is_column]
            if same:
                ours.remove(one)
                theirs.remove(same[0])


def _exchanged(one: Condition, other: Condition, value: bool) -> Iterator[Finding]:
    if value and one.operator == "=":
        second = f"with {other.said}"
        if one.subject.text != other.subject.text:
            second = f"{other.subject} {second}"
        first = f"gold compares {one.subject} with {one.said}"
        yield Finding("literal", f"{first}, the query {second}")
    elif value:
        yield Finding("literal", f"gold asks for {one}, the query for {other}")
    elif one.subject == other.subject:
        yield Finding("condition", f"gold asks for {one}, the query for {other}")
    else:
        yield Finding("column", f"gold asks for {one}, the query for {other}")


def _same_but_value(one: Condition, other: Condition) -> bool:
    constants = all(isinstance(side.value, str | float) for side in (one, other))
    return constants and (one.subject, one.operator) == (other.subject, other.operator)


def _same_but_operator(one: Condition, other: Condition) -> bool:
    return one.subject == other.subject


def _same_but_subject(one: Condition, other: Condition) -> bool:
    if one.value is None:
        return other.value is None and one.operator == other.operator
    return one.value == other.value and not (one.subject.is_unknown or other.subject.is_unknown)


def _other_subject(one: Condition, other: Condition) -> bool:
    """True of two columns compared alike with different texts: one stands in the other's place."""
    texts = isinstance(one.value, str) and isinstance(other.value, str)
    return texts and one.operator == other.operator and one.subject.part == other.subject.part


def _either(said: Said) -> bool:
    """True if conditions on different things are alternatives; on one column they are a list."""
    if any(one.operator in {"union", "union_all"} for one in said.facts.operations):
        return True
    alternatives = sum(one.alternatives for one in said.facts.selects)
    subjects = [one.subject for one in said.asked.conditions if one.operator in {"=", "like"}]
    return alternatives > len(subjects) - len(set(subjects))
