"""Examples as the tokens that a model is trained on: those of the prompt as inference gives them,
then those of the reply with what ends it, which alone count in the loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.llm.endpoint import EndpointError, PlainMessage
from sqlwright.llm.vendors import chat_text

UNCOUNTED = -100
"""The label of a token that doesn't count in the loss, as torch has it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """An example as tokens."""

    id: str
    prompt: Sequence[int]
    completion: Sequence[int]
    """With the token that ends it."""

    def __len__(self) -> int:
        return len(self.prompt) + len(self.completion)

    @property
    def input_ids(self) -> list[int]:
        """All of them."""
        return [*self.prompt, *self.completion]

    @property
    def labels(self) -> list[int]:
        """Those of the completion; the prompt's don't count."""
        return [UNCOUNTED] * len(self.prompt) + list(self.completion)


@dataclass(frozen=True, slots=True)
class Tokenized:
    """Those of a set, and how many were left out."""

    kept: Sequence[Tokens]
    too_long: int
    """Examples left out because they have more tokens than the model is to read."""
    longest: int
    """Tokens of the longest example, those left out included."""


def prompt_tokens(tokenizer: Any, messages: Sequence[PlainMessage]) -> list[int]:
    """Tokens of a prompt, the same as inference gives a model in this process. Raises ConfigError
    for a chat template that fails."""
    try:
        return chat_text.prompt_tokens(tokenizer, messages)
    except EndpointError as error:
        raise ConfigError(error.message, hint="Train a model with another template.") from None


def completion_tokens(
    tokenizer: Any, messages: Sequence[PlainMessage], completion: str, *, ends: Sequence[int]
) -> list[int]:
    """Tokens of the right reply to a prompt, with the one that ends it. Raises ConfigError."""
    try:
        return chat_text.reply_tokens(tokenizer, messages, completion, ends=ends)
    except EndpointError as error:
        raise ConfigError(error.message, hint="Train a model with another template.") from None


def tokenized(
    tokenizer: Any, examples: Iterable[TrainingExample], *, ends: Sequence[int], most: int
) -> Tokenized:
    """Examples as tokens; those of more than `most` are left out and counted."""
    kept, too_long, longest = [], 0, 0
    for example in examples:
        tokens = Tokens(
            example.id,
            prompt_tokens(tokenizer, example.plain),
            completion_tokens(tokenizer, example.plain, example.completion, ends=ends),
        )
        longest = max(longest, len(tokens))
        if len(tokens) > most:
            too_long += 1
        else:
            kept.append(tokens)
    return Tokenized(kept, too_long, longest)
