"""The words for what an answer took of a language model, and why."""

from __future__ import annotations

import pytest

from sqlwright.presentation.spent import spent_words
from sqlwright.types import Answer, TierEnd, TierRecord, Usage

ONE, FIVE = Usage(1, 1_500, 61, 0.0041), Usage(5, 20_000, 91, None)


def tier(
    end: TierEnd,
    before: float | None,
    after: float | None,
    usage: Usage = Usage(),  # noqa: B008 - frozen
    *,
    gain: float = 0.1,
    cost: float | None = None,
) -> TierRecord:
    return TierRecord("t", "openai/m", end, before, after, gain, 24_540, cost, "$1", usage)


@pytest.mark.parametrize(
    ("tiers", "words"),
    [
        ((), ""),
        (
            (tier("not_worth", 0.913, 0.913, gain=0.001),),
            "answered locally at 91%, nothing was spent: asking openai/m would hardly help",
        ),
        (
            (tier("agrees", 0.5, 0.886, ONE), tier("not_worth", 0.886, 0.886, cost=0.14)),
            "50% sure locally, so asked openai/m once (1,561 tokens, $0.0041): it agrees, 88% now; "
            "stopped: asking it (about 24,540 tokens, $0.14) may gain 10 in 100, too little where "
            "a right answer is worth $1",
        ),
        (
            (tier("differs", 0.4, 0.6, ONE), tier("agrees", 0.6, 0.8, FIVE)),
            "40% sure locally, so asked openai/m once (1,561 tokens, $0.0041): it doesn't agree, "
            "60% now; so asked it 5 times (20,091 tokens): more of its queries bear it out, "
            "80% now",
        ),
        (
            (tier("differs", None, 0.7, ONE), tier("agrees", 0.7, 0.2, FIVE)),
            "nothing found locally, so asked openai/m once (1,561 tokens, $0.0041): it wrote a "
            "query, 70% now; so asked it 5 times (20,091 tokens): its queries disagree, none is "
            "likelier, 20% now",
        ),
        (
            (tier("nothing", None, None, Usage(cached=2)), tier("budget", None, None)),
            "nothing found locally, so asked openai/m (2 from the cache): it wrote no query that "
            "runs; stopped: the budget doesn't reach for asking it (about 24,540 tokens)",
        ),
    ],
)
def test_what_was_spent_is_said_with_the_reason(tiers: tuple[TierRecord, ...], words: str) -> None:
    assert spent_words(Answer("answered", "?", "SELECT 1", "sqlite", tiers=tiers)) == words


def test_a_refusal_is_no_answer() -> None:
    refused = Answer("refused", "?", None, "sqlite", tiers=(tier("budget", 0.2, 0.2),))
    assert spent_words(refused).startswith("nothing was spent: the budget doesn't reach for")
