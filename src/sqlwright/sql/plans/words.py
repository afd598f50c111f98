"""Steps of a plan as numbered sentences under headings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from sqlwright.sql.plans.steps import PlanStep, StepKind

_HEADINGS: Mapping[StepKind, str] = {
    "open": "Prepare", "together": "Group", "aggregate": "Compute", "count": "Compute",
    "sort": "Order",
    "merge": "Put together", "deliver": "Deliver", "limit": "Deliver", "offset": "Deliver",
}  # fmt: skip
_FINDING = "Find the rows"


def plan_text(steps: Sequence[PlanStep]) -> str:
    """A plan in plain words: a numbered sentence for each step, under headings."""
    lines, heading = [], ""
    for number, (headed, said) in enumerate(_sentences(steps), start=1):
        if headed != heading:
            lines.append(headed)
            heading = headed
        lines.append(f"  {number}. {said}")
    return "\n".join(lines)


def sentence(step: PlanStep) -> str:
    """One step as a sentence."""
    return _SENTENCES[step.kind](step)


def _sentences(steps: Sequence[PlanStep]) -> Iterator[tuple[str, str]]:
    """Each sentence with its heading; what is opened is told in one."""
    before: dict[str, str] = {}
    for (part, opens), group in groupby(steps, key=lambda s: (s.part, s.kind == "open")):
        members = list(group)
        for step in members[:1] if opens else members:
            heading = _HEADINGS.get(step.kind, _FINDING)
            last = before.get(part, "")
            if step.kind in {"keep", "aggregate"} and last in {"Group", "Compute"}:
                heading = last
            before[part] = heading
            said = opened(members) if opens else sentence(step)
            yield f"{heading}, for {part}" if part else heading, said


def opened(steps: Sequence[PlanStep]) -> str:
    """One sentence for what is opened one after another."""
    tables = {step.table for step in steps if not step.by}
    parts = []
    for step in steps:
        name = step.table if step.table == step.stored or not step.stored else (
            f"{step.stored} again as {step.table}"
        )  # fmt: skip
        listed = _index(step)
        if not step.by:
            parts.append(name)
        elif step.table in tables:
            parts.append(f"the index of {step.table} on {listed}")
        else:
            parts.append(f"{name} (its index on {listed} alone)")
    return f"Open {_listed(parts)}."


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _index(step: PlanStep) -> str:
    columns = ", ".join(column or "an expression" for column in step.by)
    return f"({columns})" if len(step.by) > 1 else columns


def _values(step: PlanStep, joint: str = ", ") -> str:
    return joint.join(value.text for value in step.values)


def _given(step: PlanStep) -> str:
    return ", ".join(v.bracketed if " if " in v.text else v.text for v in step.values)


def _number(step: PlanStep) -> str:
    return "row" if _values(step) == "1" else f"{_values(step)} rows"


def _by(step: PlanStep) -> str:
    if step.text == "temporary":
        return " by the temporary index"
    if not step.by:
        return ""
    return f" by its index on {_index(step)}"


def _scan(step: PlanStep) -> str:
    order = f" in the order of its index on {_index(step)}" if step.by else ""
    return f"Scan {step.table}{order}{_backwards(step)}."


def _backwards(step: PlanStep) -> str:
    return ", from the last to the first" if step.backwards else ""


def _search(step: PlanStep) -> str:
    wanted = f" where {_values(step, ' and ')}" if step.values else ""
    return f"Look up the rows of {step.table}{wanted}{_by(step)}{_backwards(step)}."


def _sort(step: PlanStep) -> str:
    directions = step.descending or (False,) * len(step.values)
    keys = [
        f"{value.text} {'descending' if down else 'ascending'}"
        for value, down in zip(step.values, directions, strict=True)
    ]
    return f"Sort by {', '.join(keys)}."


_SETS = {
    "UNION": "each different row once",
    "UNION ALL": "every row",
    "EXCEPT": "the rows of the first that the second lacks",
    "INTERSECT": "the rows that both have",
}

_SENTENCES: Mapping[StepKind, Callable[[PlanStep], str]] = {
    "open": lambda step: opened([step]),
    "scan": _scan,
    "search": _search,
    "look_up": lambda step: f"Look up the row of {step.table} where {_values(step)}.",
    "keep": lambda step: f"Keep the row only if {_values(step)}.",
    "match": lambda step: f"Take it for a match only if {_values(step)}.",
    "while": lambda step: f"Go on only as long as {_values(step)}.",
    "once": lambda _: "Stop there: one row is enough.",
    "unmatched": lambda step: (
        f"Where nothing in {step.table} matched, go on once with NULL in all its columns."
    ),
    "fill": lambda step: f"Put {_values(step)} into {step.table}.",
    "together": lambda step: f"Take rows with the same {_values(step)} together.",
    "count": lambda step: f"Count the rows of {step.table}: {_values(step)}.",
    "aggregate": lambda step: f"Add the row to {_values(step)}.",
    "sort": _sort,
    "limit": lambda step: f"Stop after the first {_number(step)}.",
    "offset": lambda step: f"Leave out the first {_number(step)}.",
    "distinct": lambda step: f"Leave the row out if the same {_values(step)} came before.",
    "merge": lambda step: f"Merge both parts by {step.text}: {_SETS.get(step.text, 'every row')}.",
    "deliver": lambda step: f"Give {_given(step)}.",
    "jump": lambda step: f"Carry out the next step only if {_values(step)}.",
    "result": lambda step: f"Hand over {_given(step)}.",
    "other": lambda step: f"Carry out {step.text}.",
}
