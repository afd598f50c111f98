"""Statistics of examples: how long they are, how their labels are balanced. Nothing is run."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.llm.metering import PER_MESSAGE, estimated_tokens

Balance = Callable[[Sequence[TrainingExample]], Mapping[str, Any]]


def statistics(examples: Iterable[TrainingExample], *, context_tokens: int) -> dict[str, Any]:
    """Numbers of examples and databases, tokens, balance of labels; as JSON.

    Tokens are estimated, rather too many than too few: a tokenizer makes 0.6 to 0.8 times as many.
    """
    listed = list(examples)
    prompts = [prompt_tokens(one) for one in listed]
    replies = [estimated_tokens([one.completion]) for one in listed]
    roles = dict.fromkeys(one.role for one in listed)
    whole = list(map(sum, zip(prompts, replies, strict=True)))
    return {
        "examples": len(listed),
        "questions": len({(one.source, one.question_id) for one in listed}),
        "databases": len({one.db_id for one in listed}),
        "rejected": sum(len(one.rejected) for one in listed),
        "tokens": distribution(whole) | {"over_context": share_over(whole, context_tokens)},
        "completion_tokens": distribution(replies),
        "balance": {
            role: balance([one for one in listed if one.role == role], role) for role in roles
        },
    }


def prompt_tokens(example: TrainingExample) -> int:
    """About how many tokens a prompt has, the frames of its messages included."""
    texts = [turn.text for turn in example.messages]
    return estimated_tokens(texts) + PER_MESSAGE * len(texts)


def distribution(numbers: Sequence[int]) -> dict[str, float]:
    """Mean, median, 95th percentile (the nearest rank) and largest; zeros of no numbers."""
    ranked = sorted(numbers)
    if not ranked:
        return {"mean": 0.0, "p50": 0, "p95": 0, "max": 0}
    return {
        "mean": round(sum(ranked) / len(ranked), 1),
        "p50": _percentile(ranked, 0.5),
        "p95": _percentile(ranked, 0.95),
        "max": ranked[-1],
    }


def share_over(numbers: Sequence[int], most: int) -> float:
    """The share of numbers that are more than `most`."""
    return round(sum(number > most for number in numbers) / len(numbers), 4) if numbers else 0.0


def balance(examples: Sequence[TrainingExample], role: str) -> Mapping[str, Any]:
    """The labels of a role's examples, by what it is asked."""
    return BALANCES.get(role, _completions)(examples)


def _linker(examples: Sequence[TrainingExample]) -> Mapping[str, Any]:
    listed = [len(json.loads(one.completion)["tables"]) for one in examples]
    schemas = [one.facts.get("schema_tables", "") for one in examples]
    return {"tables_in_reply": _counts(listed), "tables_in_schema": _counts(schemas)}


def _generator(examples: Sequence[TrainingExample]) -> Mapping[str, Any]:
    return {
        fact: _counts(one.facts.get(fact, "") for one in examples)
        for fact in ("hardness", "distractors", "injected")
    }


def _critic(examples: Sequence[TrainingExample]) -> Mapping[str, Any]:
    """The right candidate's number, by the number of candidates."""
    sizes = sorted({int(one.facts.get("candidates", 0)) for one in examples})
    return {
        f"of_{size}": _counts(
            one.completion.strip()
            for one in examples
            if int(one.facts.get("candidates", 0)) == size
        )
        for size in sizes
    }


def _completions(examples: Sequence[TrainingExample]) -> Mapping[str, Any]:
    return {"completions": _counts(one.completion.strip() for one in examples)}


BALANCES: Mapping[str, Balance] = {
    "linker": _linker,
    "generator": _generator,
    "critic": _critic,
    "selector": _completions,
}
"""The balance of labels by role."""


def _counts(labels: Iterable[object]) -> dict[str, int]:
    return {str(label): count for label, count in sorted(Counter(labels).items(), key=_order)}


def _order(counted: tuple[object, int]) -> tuple[bool, float, str]:
    label = counted[0]
    number = isinstance(label, int | float) and not isinstance(label, bool)
    return not number, float(label) if isinstance(label, int | float) else 0.0, str(label)


def _percentile(ranked: Sequence[int], share: float) -> int:
    return ranked[math.ceil(share * len(ranked)) - 1]
