"""Training on pairs of a right and a wrong reply (DPO, Rafailov et al. 2023), by trl's trainer.

What is learnt is to prefer one to the other, more than the model did with which training began. So
it begins best with the adapter of a training on the right replies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.preferences.pairs import paired
from sqlwright.lab.finetuning.trainer import loading
from sqlwright.lab.finetuning.trainer.chat import completion_tokens, prompt_tokens
from sqlwright.lab.finetuning.trainer.running.computing import shared_arguments
from sqlwright.lab.finetuning.trainer.running.training import Prepared, Work


@dataclass(frozen=True, slots=True)
class PairTokens:
    """A pair as tokens."""

    prompt: Sequence[int]
    chosen: Sequence[int]
    """With the token that ends it, as the other one."""
    rejected: Sequence[int]

    def __len__(self) -> int:
        return len(self.prompt) + max(len(self.chosen), len(self.rejected))


class Preference:
    """The right reply is to become likelier than a wrong one."""

    def prepared(self, work: Work, loaded: loading.Loaded) -> Prepared:
        """The pairs of the set as tokens. Raises ConfigError for a set without wrong replies, and
        for a chat template that fails."""
        options = work.plan.pairs
        found = paired(work.given.examples(), most=options.most_pairs, seed=work.plan.seed)
        if found.examples and not found.pairs:
            raise ConfigError(
                f"none of the {found.examples:,} examples has a wrong reply to learn from",
                hint="Build the set with --candidates, or train by the objective sft.",
            )
        tokenizer, rows = loaded.tokenizer, []
        for pair in found.pairs:
            messages = pair.example.plain
            chosen, rejected = (
                completion_tokens(tokenizer, messages, text, ends=loaded.ends)
                for text in (pair.chosen, pair.rejected)
            )
            rows.append(PairTokens(prompt_tokens(tokenizer, messages), chosen, rejected))
        kept = [row for row in rows if len(row) <= work.most_tokens]
        return Prepared(
            kept,
            len(kept),
            len(rows) - len(kept),
            max(map(len, rows), default=0),
            max((len(row.chosen) for row in kept), default=0),
            {"pairs": found.statistics},
        )

    def trainer(self, work: Work, loaded: loading.Loaded, prepared: Prepared) -> Any:
        """trl's, fed with our tokens: it renders no template of its own and cuts nothing."""
        from trl import DPOConfig, DPOTrainer
        from trl.trainer.dpo_trainer import DataCollatorForPreference

        from datasets import Dataset

        class Trainer(DPOTrainer):
            """Takes tokens for what they are. trl would tokenize texts of its own, and text cut
            after the prompt may be other tokens."""

            def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
                return dataset

        with loading.explained("the training can't begin"):
            loading.with_padding(loaded)
            return Trainer(
                model=loaded.model,
                args=DPOConfig(
                    **shared_arguments(work.plan, work.computing, work.aside),
                    beta=work.plan.pairs.beta,
                    max_length=None,  # what is longer was left out
                ),
                train_dataset=Dataset.from_dict(columns(prepared.rows)),
                data_collator=DataCollatorForPreference(pad_token_id=loaded.ends[0]),
                processing_class=loaded.tokenizer,
            )


def columns(rows: Sequence[PairTokens]) -> dict[str, list[list[int]]]:
    """Pairs under the names that trl has for their parts."""
    return {
        "prompt_ids": [list(row.prompt) for row in rows],
        "chosen_ids": [list(row.chosen) for row in rows],
        "rejected_ids": [list(row.rejected) for row in rows],
    }
