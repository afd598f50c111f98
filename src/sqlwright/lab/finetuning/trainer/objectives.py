"""The objectives, each by trl's trainer: the tokens of the right replies alone (SFT), pairs of a
right and a wrong reply (DPO, Rafailov et al. 2023), rewards by execution for replies that the model
writes meanwhile (GRPO, Shao et al. 2024).

By pairs it is learnt to prefer one to the other, more than the model did with which training began.
By rewards, each step draws a group of replies to each of some prompts; a reply that earns more than
its group's mean becomes likelier, and one that earns less unlikelier, and a model that is never
right learns nothing of it. So both begin best with the adapter of a training on the right replies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.trainer import loading
from sqlwright.lab.finetuning.trainer.chat import completion_tokens, prompt_tokens, tokenized
from sqlwright.lab.finetuning.trainer.pairs import paired
from sqlwright.lab.finetuning.trainer.rewards import RIGHT, QuestionKey, Rewards, read_gold
from sqlwright.lab.finetuning.trainer.work import Prepared, Work


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
                    **work.arguments(),
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
                    **work.arguments(),
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


ROLE = "generator"
"""The role whose replies can be executed."""


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """A prompt as tokens, and the question whose answer earns a reward."""

    tokens: Sequence[int]
    question: QuestionKey


class Rewarded:
    """Replies of the model's own are drawn and judged."""

    def prepared(self, work: Work, loaded: loading.Loaded) -> Prepared:
        """The prompts of the set as tokens. Raises ConfigError for another role and for a batch of
        partial groups, DatasetError for data that isn't there, and DatabaseUnavailable."""
        _check_role(work)
        unjudged: Counter[str] = Counter()
        rows, longest, longest_reply = [], 0, 0
        with _rewards(work) as rewards:
            for example in work.given.examples():
                key = QuestionKey.of(example)
                if rewards.problem(key):
                    unjudged[example.db_id] += 1
                    continue
                rows.append(PromptTokens(prompt_tokens(loaded.tokenizer, example.plain), key))
                longest = max(longest, len(rows[-1].tokens))
        room = work.most_tokens - work.plan.rewards.max_reply_tokens
        kept = [row for row in rows if len(row.tokens) <= room]
        longest_reply = work.plan.rewards.max_reply_tokens
        _check_groups(work, len(kept))
        return Prepared(
            kept,
            len(kept),
            len(rows) - len(kept),
            longest + longest_reply,
            longest_reply,
            {"not_judged": dict(sorted(unjudged.items()))},
        )

    def trainer(self, work: Work, loaded: loading.Loaded, prepared: Prepared) -> Any:
        """trl's, fed with our tokens: it renders no template of its own."""
        from trl import GRPOConfig, GRPOTrainer
        from trl.trainer.utils import RepeatSampler

        from datasets import Dataset

        rows: Sequence[PromptTokens] = prepared.rows
        options = work.plan.rewards
        rewards = _rewards(work)

        class Sampler(RepeatSampler):
            """Draws the order of an epoch by the seed and the epoch: a run that goes on has the
            same one."""

            def set_epoch(self, epoch: int) -> None:
                self.generator.manual_seed(work.plan.seed + epoch)

        class Trainer(GRPOTrainer):
            """Knows prompts by their number, and takes their tokens for what they are."""

            def _get_train_sampler(self, dataset: Any = None) -> Any:
                known = super()._get_train_sampler(dataset)
                return Sampler(
                    known.data_source, known.mini_repeat_count, known.batch_size,
                    known.repeat_count, known.shuffle, known.seed,
                )  # fmt: skip

            def _tokenize_prompts(self, prompts: list[str]) -> Any:
                return [list(rows[int(number)].tokens) for number in prompts], None, {}

            def train(self, *given: Any, **named: Any) -> Any:
                with rewards:
                    return super().train(*given, **named)

        with loading.explained("the training can't begin"):
            loading.with_padding(loaded)
            return Trainer(
                model=loaded.model,
                reward_funcs=execution(rows, rewards),
                args=GRPOConfig(
                    **work.arguments(),
                    num_generations=options.group,
                    temperature=options.temperature,
                    beta=options.kl,
                    max_completion_length=options.max_reply_tokens,
                ),
                train_dataset=Dataset.from_dict({"prompt": [str(n) for n in range(len(rows))]}),
                processing_class=loaded.tokenizer,
            )


def execution(rows: Sequence[PromptTokens], rewards: Rewards) -> Callable[..., list[float]]:
    """The rewards of replies, as trl asks for them: prompts are numbers of rows."""

    def execution(
        prompts: Sequence[str], completions: Sequence[str], log_metric: Any, **_: Any
    ) -> list[float]:
        asked = zip(prompts, completions, strict=True)
        found = [rewards.of(rows[int(number)].question, said) for number, said in asked]
        right = sum(one.value == RIGHT for one in found)
        by_luck = sum(one.finding == "right by luck" for one in found)
        log_metric("right", right / len(found))
        log_metric("right_by_luck", by_luck / len(found))
        return [one.value for one in found]

    return execution


def _rewards(work: Work) -> Rewards:
    return Rewards(
        read_gold(work.given.about.sources),
        seconds=work.plan.rewards.query_seconds,
        seed=work.plan.seed,
    )


def _check_role(work: Work) -> None:
    """Raise ConfigError for a role whose replies aren't queries."""
    role = work.given.about.role
    if role != ROLE:
        raise ConfigError(
            f"rewards by execution are for the {ROLE}, not for the {role}: its replies are no "
            "queries",
            hint="Train it by the objective sft or dpo.",
        )


def _check_groups(work: Work, prompts: int) -> None:
    """Raise ConfigError for a batch that doesn't consist of whole groups, and for fewer prompts
    than a batch has groups."""
    batch, group = work.plan.settings.batch, work.plan.rewards.group
    if batch % group:
        raise ConfigError(
            f"a batch of {batch} replies can't be divided into groups of {group}",
            hint=f"Give --training batch=N a multiple of {group}; it counts replies with rewards.",
        )
    if 0 < prompts < batch // group:
        raise ConfigError(
            f"a batch has {batch // group} prompts with {group} replies to each, and there are "
            f"{prompts} prompts",
            hint=f"Give --training batch={prompts * group} or less, or build the set of more data.",
        )
