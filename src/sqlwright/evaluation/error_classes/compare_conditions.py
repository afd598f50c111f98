"""Differences between the conditions of two queries."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.evaluation.error_classes.classes import Finding
from sqlwright.evaluation.error_classes.conditions import Condition
from sqlwright.evaluation.error_classes.said import Said


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
    return one.value == other.value


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
