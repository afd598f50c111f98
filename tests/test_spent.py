"""The words for what an answer took of a language model, and why."""

from __future__ import annotations

import pytest

from sqlwright.presentation.answer import spent_words
from sqlwright.types import Answer, TierEnd, TierRecord, Usage

ONE, FIVE = Usage(1, 1_500, 61, 0.0041), Usage(5, 20_000, 91, None)


def tier(end: TierEnd, before: float | None, usage: Usage = Usage()) -> TierRecord:  # noqa: B008
    return TierRecord("t", "openai/m", end, before, usage)


@pytest.mark.parametrize(
    ("tiers", "words"),
    [
        ((), ""),
        (
            (tier("sure", 0.913),),
            "answered locally at 91%, nothing was spent: that is sure enough",
        ),
        (
            (tier("agrees", 0.5, ONE),),
            "50% sure locally, so asked openai/m once (1,561 tokens, $0.0041): it agrees",
        ),
        (
            (tier("differs", 0.4, ONE), tier("agrees", 0.4, FIVE)),
            "40% sure locally, so asked openai/m once (1,561 tokens, $0.0041): it doesn't agree; "
            "so asked it 5 times (20,091 tokens): more of its queries bear it out",
        ),
        (
            (tier("differs", None, ONE), tier("differs", None, FIVE)),
            "nothing found locally, so asked openai/m once (1,561 tokens, $0.0041): it wrote a "
            "query; so asked it 5 times (20,091 tokens): more of its queries don't bear that out",
        ),
        (
            (tier("nothing", None, Usage(cached=2)), tier("budget", None)),
            "nothing found locally, so asked openai/m (2 from the cache): it wrote no query that "
            "runs; stopped: the budget doesn't reach for asking it",
        ),
    ],
)
def test_what_was_spent_is_said_with_the_reason(tiers: tuple[TierRecord, ...], words: str) -> None:
    assert spent_words(Answer("answered", "?", "SELECT 1", "sqlite", tiers=tiers)) == words


def test_a_threshold_at_which_nobody_is_asked() -> None:
    refused = Answer("refused", "?", None, "sqlite", tiers=(tier("sure", None),))
    assert spent_words(refused) == "nothing was spent: none is to be asked"


def test_a_refusal_is_no_answer() -> None:
    refused = Answer("refused", "?", None, "sqlite", tiers=(tier("budget", 0.2),))
    assert spent_words(refused).startswith("nothing was spent: the budget doesn't reach for")
