"""Does a query's form fit the question's form? Cue words on one side, clauses on the other."""

from __future__ import annotations

import re

Features = dict[str, float]

COUNTED = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10",
}  # fmt: skip
"""Words that are a number wherever they stand."""

_PAIRS: dict[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    name: (re.compile(cue, re.IGNORECASE), re.compile(clause, re.IGNORECASE))
    for name, (cue, clause) in {
        "count": (
            r"\bhow many\b|\bnumbers? of\b|\bcount\b|\bamount of\b|\bhow often\b", r"\bcount\s*\(",
        ),
        "average": (r"\baverage|\bavg\b|\bmean\b", r"\bavg\s*\("),
        "sum": (
            r"\btotal\b|\bsum\b|\baltogether\b|\boverall\b|\bcombined\b|\bin all\b", r"\bsum\s*\(",
        ),
        "most": (
            r"\bmost\b|\bhighest|\blargest|\bbiggest|\bmax|\boldest|\blongest|\btop\b|\bbest\b|"
            r"\blatest|\bgreatest|\brichest|\btallest|\bheaviest|\bnewest|\bmost recent|\blast\b",
            r"\bdesc\b[^)]*\blimit\b|\bmax\s*\(",
        ),
        "least": (
            r"(?<!at )\bleast\b|\blowest|\bsmallest|\bmin\b|\bminimum|\byoungest|\bshortest|"
            r"\bfewest|\bcheapest|\bearliest|\bworst|\bfirst\b",
            r"\border by\b(?![^)]*\bdesc\b)[^)]*\blimit\b|\bmin\s*\(",
        ),
        "each": (r"\beach\b|\bevery\b|\bper\b|\bby\b|\brespective", r"\bgroup\s+by\b"),
        "not": (
            r"\bnot\b|n't\b|\bnever\b|\bwithout\b|\bno\b|\bexcept|\bother than\b|\bneither\b|"
            r"\bexclud|\black",
            r"\bnot\b|\bexcept\b|!=|<>",
        ),
        "distinct": (r"\bdistinct|\bdifferent|\bunique|\bvarious", r"\bdistinct\b"),
        "order": (
            r"\border|\bsort|\bascend|\bdescend|\balphabet|\brank|\bincreasing|\bdecreasing",
            r"\border\s+by\b",
        ),
        "greater": (
            r"\bmore than\b|\bgreater|\babove\b|\bover\b|\bexceed|\bat least\b|\bafter\b|"
            r"\blarger than|\bhigher than|\bolder than|\blonger than|\bsince\b|\bor more\b",
            r">|\bbetween\b",
        ),
        "less": (
            r"\bless than\b|\bbelow\b|\bunder\b|\bat most\b|\bbefore\b|\bfewer than|\bsmaller than|"
            r"\blower than|\byounger than|\bshorter than|\bcheaper than|\bor less\b",
            r"<(?!>)|\bbetween\b",
        ),
        "between": (r"\bbetween\b", r"\bbetween\b|>.*<|<.*>"),
        "frequent": (
            r"\b(?:most|least)\s+(?:common|popular|frequent|often|used|prevalent)|"
            r"\bmost frequently|"
            r"\b(?:most|fewest|least|largest|smallest|highest|lowest|greatest|maximum|minimum)\s+"
            r"(?:number|count)\b|\bfewest\b|\bappears? most\b",
            r"\border by count\s*\(|\bhaving count\s*\(",
        ),
        "or": (r"\bor\b|\beither\b", r"\bor\b|\bunion\b|\bin\s*\("),
        "both": (
            r"\bboth\b|\bas well as\b|\band also\b|\bshared by\b|\bcommon\b", r"\bintersect\b",
        ),
        "like": (
            r"\bcontain|\bstart|\bbegin|\bend(?:s|ing)? with|\bsubstring|\bletter|\binclud",
            r"\blike\b",
        ),
    }.items()
}  # fmt: skip

_LIMIT = re.compile(r"\blimit\s+(\d+)", re.IGNORECASE)
_LITERAL = re.compile(r"'((?:[^']|'')*)'|(?<![\w.])(\d+(?:\.\d+)?)")


def form_features(question: str, sql: str) -> Features:
    """For each kind of form: asked for and there, asked for and missing, there unasked."""
    features: Features = {}
    for name, (cue, clause) in _PAIRS.items():
        asked, there = bool(cue.search(question)), bool(clause.search(sql))
        features[f"{name} kept"] = float(asked and there)
        features[f"{name} lost"] = float(asked and not there)
        features[f"{name} made up"] = float(there and not asked)
    lowered = sql.casefold()
    items = _select_items(sql)
    asked_items = _asked_items(question)
    features |= {
        "selects": float(min(lowered.count("select"), 4)),
        "joins": float(min(lowered.count(" join "), 8)),
        "conditions": float(min(lowered.count(" and ") + lowered.count(" or "), 4)),
        "set operation": float(bool(re.search(r"\b(?:union|intersect|except)\b", lowered))),
        "items": float(min(items, 6)),
        "items too few": float(max(asked_items - items, 0)),
        "items too many": float(max(items - asked_items, 0)),
    }
    return features | _literals(question, sql) | _oddities(question, lowered)


def _literals(question: str, sql: str) -> Features:
    text = question.casefold()
    for word, digits in COUNTED.items():
        text = re.sub(rf"\b{word}\b", digits, text)
    numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text.replace(",", ""))
    lowered = sql.casefold()
    used = [number for number in numbers if re.search(rf"(?<![\d.]){re.escape(number)}", lowered)]
    limit = _LIMIT.search(sql)
    unasked = 0
    for literal, number in _LITERAL.findall(sql):
        part = (literal or number).casefold().strip("%")
        if part and part not in text and part not in {"1", "0"}:
            unasked += 1
    return {
        "numbers": float(min(len(numbers), 3)),
        "numbers lost": float(min(len(numbers) - len(used), 3)),
        "literals unasked": float(min(unasked, 3)),
        "limit unasked": float(bool(limit and limit.group(1) not in {"1", *numbers})),
    }


_YEAR_COUNT = re.compile(r"count\s*\([^)]*\)\s*[<>=!]+\s*'?(?:1[89]|20)\d\d\b")
_GROUPED = re.compile(r"\bgroup\s+by\s+(.+?)(?:\bhaving\b|\border\b|\blimit\b|$|\))", re.DOTALL)
_AGGREGATED = re.compile(r"\b(?:count|sum|avg|min|max)\s*\(")
_AGGREGATE = re.compile(r"^\s*select\s+(?:distinct\s+)?(?:count|sum|avg|min|max)\s*\(")


def _oddities(question: str, lowered: str) -> Features:
    """Shapes that are legal and hardly ever meant."""
    grouped = _GROUPED.search(lowered)
    shown = lowered.split(" from ", 1)[0]
    keys = [part.strip() for part in grouped.group(1).split(",")] if grouped else []
    head = lowered.split(" where ", 1)[0]
    lone = bool(_AGGREGATE.match(lowered)) and not grouped and "," not in shown
    return {
        "year as count": float(bool(_YEAR_COUNT.search(lowered))),
        "aggregate ordered": float(lone and " order by " in lowered and "(select" not in head),
        "group shown": float(any(key.split(".")[-1] in shown for key in keys)),
        "group hidden": float(bool(keys) and not any(k.split(".")[-1] in shown for k in keys)),
        "group aggregated": float(bool(keys) and bool(_AGGREGATED.search(shown))),
        "alphabet by number": float(
            bool(re.search(r"\balphabet", question, re.IGNORECASE))
            and not re.search(r"order by [\w.\"]*(?:name|title|label)", lowered)
        ),
        "ordered in words": float(
            bool(re.search(r"\b(?:order|sort)(?:ed)?\s+(?:\w+\s+){0,2}(?:by|in)\b", question,
                           re.IGNORECASE)) and " order by " not in lowered
        ),
        "limit without order": float(" limit " in lowered and " order by " not in lowered),
    }  # fmt: skip


def _select_items(sql: str) -> int:
    match = re.search(r"\bselect\b(.*?)\bfrom\b", sql, re.IGNORECASE | re.DOTALL)
    if not match:
        return 0
    return len(list_items(match.group(1)))


def list_items(text: str) -> list[str]:
    """A list's items, split at commas that no parenthesis encloses."""
    items, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    return items


def _asked_items(question: str) -> int:
    head = re.split(
        r"\b(?:of|for|from|in|that|which|who|whose|with|where|ordered|sorted|whom)\b",
        re.sub(r"^\W*(?:which|who|what|show|list|find)\b", "", question, flags=re.IGNORECASE),
        maxsplit=1,
        flags=re.IGNORECASE,
    )[0]
    joined = re.sub(r",?\s+and\s+", ",", head)
    return min(max(len([part for part in joined.split(",") if part.strip()]), 1), 6)
