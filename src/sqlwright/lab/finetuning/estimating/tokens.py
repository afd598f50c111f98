"""Tokens of the examples of a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlwright.errors import DatasetError
from sqlwright.lab.finetuning.example import TrainingExample, read_examples
from sqlwright.llm.metering import PER_MESSAGE, estimated_tokens
from sqlwright.local.token_counts import TokenCounter

TRAIN = "train.jsonl"
"""The file of a set's examples to train on."""


@dataclass(frozen=True, slots=True)
class SetTokens:
    """Tokens of the examples to train on, each in the order of the file."""

    prompts: tuple[int, ...]
    completions: tuple[int, ...]
    rejected: tuple[int, ...]
    """Of the first wrong reply to each prompt; 0 where there is none."""
    counted: bool
    """True if a model's own tokenizer counted; else they are estimated, rather too many than too
    few."""

    @property
    def examples(self) -> int:
        """Number of examples."""
        return len(self.prompts)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Tokens of each prompt with its right reply."""
        return tuple(p + c for p, c in zip(self.prompts, self.completions, strict=True))

    @property
    def total(self) -> int:
        """Tokens of all prompts and right replies."""
        return sum(self.lengths)

    @property
    def pairs(self) -> int:
        """Tokens of all prompts twice, with a right and a wrong reply, where there is a wrong
        one."""
        each = zip(self.prompts, self.completions, self.rejected, strict=True)
        return sum(2 * prompt + right + wrong for prompt, right, wrong in each if wrong)

    def share(self, share: float) -> int:
        """The length that so great a share of the examples doesn't exceed."""
        ordered = sorted(self.lengths)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def set_tokens(folder: Path, model: Path | None = None) -> SetTokens:
    """Count what a set's folder holds, by the tokenizer of a model's folder if it has one. Raises
    DatasetError and ConfigError."""
    path = folder / TRAIN
    if not path.is_file():
        raise DatasetError(
            f"{folder} is no set: it has no {TRAIN}",
            hint="Build one with 'sqlwright lab finetune ROLE --build-only --out FOLDER': it is "
            "FOLDER/set.",
        )
    examples = list(read_examples(path))
    if not examples:
        raise DatasetError(f"{path} has no examples", hint="See set.json for what was skipped.")
    return tokens_of(examples, None if model is None else TokenCounter.load(model))


def tokens_of(examples: Sequence[TrainingExample], counter: TokenCounter | None) -> SetTokens:
    """Count examples; without a counter estimate them."""
    frames = [PER_MESSAGE * (len(one.messages) + 1) for one in examples]
    prompts = [" ".join(turn.text for turn in one.messages) for one in examples]
    wrong = ["".join(one.rejected[:1]) for one in examples]
    counts = [
        list(_counts(texts, counter))
        for texts in (prompts, [one.completion for one in examples], wrong)
    ]
    framed = tuple(sum(both) for both in zip(counts[0], frames, strict=True))
    return SetTokens(framed, tuple(counts[1]), tuple(counts[2]), counter is not None)


def _counts(texts: Sequence[str], counter: TokenCounter | None) -> Iterator[int]:
    if counter is not None:
        return counter.counts(texts)
    return (estimated_tokens([text]) for text in texts)
