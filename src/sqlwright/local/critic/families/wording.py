"""Features of how a query's clauses fit the cue words of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlwright.english.vocabulary import NUMBERS
from sqlwright.local.critic.cues import patterns
from sqlwright.local.critic.parts import Parts
from sqlwright.sql.facts import OrderKey, Term

Features = dict[str, float]

COUNTED = {word: str(number) for word, number in NUMBERS.items() if 2 <= number <= 10}
"""Words that are a number wherever they stand: "one" may be a pronoun."""

_ASKED = patterns("wording")
"""Cues of a question by the kind of clause that they ask for."""

_ORDERED = re.compile(r"\b(?:order|sort)(?:ed)?\s+(?:\w+\s+){0,2}(?:by|in)\b", re.IGNORECASE)
_ALPHABET = re.compile(r"\balphabet", re.IGNORECASE)
_NAMING = re.compile(r"name|title|label", re.IGNORECASE)
"""Names of columns that an alphabetical order goes by."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_YEAR = re.compile(r"(?:1[89]|20)\d\d\b")


def form_features(question: str, parts: Parts) -> Features:
    """For each kind of form: asked for and there, asked for and missing, there unasked."""
    features: Features = {}
    there = _clauses(parts)
    for name, cue in _ASKED.items():
        asked = bool(cue.search(question))
        features[f"{name} kept"] = float(asked and there[name])
        features[f"{name} lost"] = float(asked and not there[name])
        features[f"{name} made up"] = float(there[name] and not asked)
    facts, first = parts.facts, parts.facts.first
    items = len(first.shown) if first.tables or first.derived else 0
    asked_items = _asked_items(question)
    features |= {
        "selects": float(min(len(facts.selects), 4)),
        "joins": float(min(parts.joins, 8)),
        "conditions": float(min(sum(one.connectives for one in facts.selects), 4)),
        "set operation": float(bool(facts.operations)),
        "items": float(min(items, 6)),
        "items too few": float(max(asked_items - items, 0)),
        "items too many": float(max(items - asked_items, 0)),
    }
    return features | _literals(question, parts) | _oddities(question, parts)


def _clauses(parts: Parts) -> dict[str, bool]:
    """True for each kind of clause of `_ASKED` that a query has."""
    facts = parts.facts
    operators = {one.operator for one in facts.comparisons}
    combined = {one.operator for one in facts.operations}
    more, less = bool(operators & {">", ">="}), bool(operators & {"<", "<="})
    between = "between" in operators
    return {
        "count": facts.calls("count"),
        "average": facts.calls("avg"),
        "sum": facts.calls("sum"),
        "most": any(key.descending for keys in facts.extremes for key in keys)
        or facts.calls("max"),
        "least": any(map(_rising, facts.extremes)) or facts.calls("min"),
        "each": bool(parts.grouping),
        "not": any(one.negated or one.operator == "!=" for one in facts.comparisons)
        or "except" in combined,
        "distinct": any(one.distinct for one in facts.selects)
        or any(call.distinct for call in facts.aggregates),
        "order": bool(facts.orders),
        "greater": more or between,
        "less": less or between,
        "between": between or (more and less),
        "frequent": any(_counts(keys[0].term) for keys in facts.orders)
        or any(one.clause == "having" and _counts(one.left) for one in facts.comparisons),
        "or": any(one.alternatives for one in facts.selects)
        or bool({"union", "union_all"} & combined)
        or "in" in operators,
        "both": "intersect" in combined,
        "like": "like" in operators,
    }


def _rising(keys: Sequence[OrderKey]) -> bool:
    """True if rows come from the lowest value of a column on. Of what is worked out, none does:
    the weights were fitted so."""
    return all(key.term.column is not None and not key.descending for key in keys)


def _counts(term: Term) -> bool:
    return term.aggregate is not None and term.aggregate.function == "count"


def _literals(question: str, parts: Parts) -> Features:
    text = question.casefold()
    for word, digits in COUNTED.items():
        text = re.sub(rf"\b{word}\b", digits, text)
    numbers = _NUMBER.findall(text.replace(",", ""))
    facts = parts.facts
    cuts = [cut for one in facts.selects for cut in (one.limit, one.offset) if cut is not None]
    if facts.combines and facts.limit is not None:
        cuts.append(facts.limit)
    literals = [one.text.casefold().lstrip("-") for one in facts.constants] + list(map(str, cuts))
    used = [
        number
        for number in numbers
        if any(re.search(rf"(?<![\d.]){re.escape(number)}", literal) for literal in literals)
    ]
    told = [literal.strip("%") for literal in literals]
    unasked = sum(bool(one) and one not in text and one not in {"1", "0"} for one in told)
    limit = str(facts.limits[0]) if facts.limits else "1"
    return {
        "numbers": float(min(len(numbers), 3)),
        "numbers lost": float(min(len(numbers) - len(used), 3)),
        "literals unasked": float(min(unasked, 3)),
        "limit unasked": float(limit not in {"1", *numbers}),
    }


def _oddities(question: str, parts: Parts) -> Features:
    """Shapes that are legal and hardly ever meant."""
    facts, first = parts.facts, parts.facts.first
    shown = {ref.column.casefold() for term in first.shown for ref in term.columns}
    keys = [{ref.column.casefold() for ref in term.columns} for term in parts.grouping]
    inner = bool(first.derived or any(term.queries for term in first.shown))
    lone = len(first.shown) == 1 and first.shown[0].aggregate is not None and not keys
    group_shown = any(key & shown for key in keys)
    ordered = bool(facts.orders)
    firsts = [keys[0].term.column for keys in facts.orders]
    by_name = any(ref is not None and _NAMING.search(ref.column) for ref in firsts)
    return {
        "year as count": float(
            any(
                _counts(one.left) and one.constant and bool(_YEAR.match(one.constant.text))
                for one in facts.comparisons
            )
        ),
        "aggregate ordered": float(lone and ordered and not inner),
        "group shown": float(group_shown),
        "group hidden": float(bool(keys) and not group_shown),
        "group aggregated": float(bool(keys) and bool(first.aggregates)),
        "alphabet by number": float(bool(_ALPHABET.search(question)) and not by_name),
        "ordered in words": float(bool(_ORDERED.search(question)) and not ordered),
        "limit without order": float(bool(facts.limits) and not ordered),
    }


def _asked_items(question: str) -> int:
    head = re.split(
        r"\b(?:of|for|from|in|that|which|who|whose|with|where|ordered|sorted|whom)\b",
        re.sub(r"^\W*(?:which|who|what|show|list|find)\b", "", question, flags=re.IGNORECASE),
        maxsplit=1,
        flags=re.IGNORECASE,
    )[0]
    joined = re.sub(r",?\s+and\s+", ",", head)
    return min(max(len([part for part in joined.split(",") if part.strip()]), 1), 6)
