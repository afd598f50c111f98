"""Options of training on preferences, besides those that every training has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from sqlwright.boundary.arguments import Amount, Count, Positive, checked_fields
from sqlwright.lab.finetuning.preferences.pairs import MOST_PAIRS
from sqlwright.lab.finetuning.preferences.rewards import QUERY_SECONDS


@checked_fields
@dataclass(frozen=True, slots=True)
class PairOptions:
    """Of training on pairs of a right and a wrong reply (DPO)."""

    beta: Positive = 0.1  # Rafailov et al. 2023, appendix B; trl's default, too
    """By which leaving the model that training begins with counts: less lets it go further."""
    most_pairs: Count = MOST_PAIRS
    """Pairs of one example at most, drawn by the seed."""


@checked_fields
@dataclass(frozen=True, slots=True)
class RewardOptions:
    """Of training on rewards for replies that the model writes in training (GRPO)."""

    group: Annotated[int, Ge(2)] = 8  # trl's default; the paper has 64 (Shao et al. 2024)
    """Replies to each prompt, which are compared with one another. Divides the batch, which counts
    replies here."""
    temperature: Positive = 1.0  # trl's default
    """At which they are drawn. Nothing is learned of a group whose replies all earn the same."""
    kl: Amount = 0.001  # chosen: small, as in DeepSeek-R1; the paper has 0.04, trl's default is 0
    """By which leaving the model that training begins with counts."""
    max_reply_tokens: Count = 512  # trl's default
    """Tokens of a reply at most; a longer one is cut, and mostly has no query then."""
    query_seconds: Positive = QUERY_SECONDS
    """The time that a reply's query may take."""
