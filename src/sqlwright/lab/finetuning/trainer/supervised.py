"""Training on the tokens of the right replies alone (SFT), by trl's trainer."""

from __future__ import annotations

from typing import Any

from sqlwright.lab.finetuning.trainer import loading
from sqlwright.lab.finetuning.trainer.chat import tokenized
from sqlwright.lab.finetuning.trainer.running.computing import shared_arguments
from sqlwright.lab.finetuning.trainer.running.training import Prepared, Work


class Supervised:
    """The prompt is read, and the reply is learnt."""

    def prepared(self, work: Work, loaded: loading.Loaded) -> Prepared:
        """The examples as tokens. Raises ConfigError for a chat template that fails."""
        found = tokenized(
            loaded.tokenizer, work.given.examples(), ends=loaded.ends, most=work.most_tokens
        )
        return Prepared(
            found.kept,
            len(found.kept),
            found.too_long,
            found.longest,
            max((len(one.completion) for one in found.kept), default=0),
        )

    def trainer(self, work: Work, loaded: loading.Loaded, prepared: Prepared) -> Any:
        """trl's, fed with our tokens: it renders no template of its own and cuts nothing."""
        from trl import SFTConfig, SFTTrainer
        from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

        from datasets import Dataset

        columns = {
            "input_ids": [_row(one.input_ids) for one in prepared.rows],
            "labels": [_row(one.labels) for one in prepared.rows],
        }
        with loading.explained("the training can't begin"):
            return SFTTrainer(
                model=loaded.model,
                args=SFTConfig(
                    **shared_arguments(work.plan, work.computing, work.aside),
                    max_length=None,  # what is longer was left out
                    dataset_kwargs={"skip_prepare_dataset": True},  # the tokens are ours
                ),
                train_dataset=Dataset.from_dict(columns),
                data_collator=DataCollatorForLanguageModeling(pad_token_id=loaded.ends[0]),
                processing_class=loaded.tokenizer,
            )


def _row(tokens: list[int]) -> Any:
    """Tokens in four bytes each."""
    import numpy as np

    return np.array(tokens, dtype=np.int32)
