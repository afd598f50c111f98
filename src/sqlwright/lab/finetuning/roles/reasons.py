"""Reasons for which a question gives no example, where several roles have the same."""

from __future__ import annotations

UNREAD = "the gold query's tables can't be read"
REFUSED = "the recipe refuses the question"
TOO_LONG = "the prompt doesn't fit the model's context"
