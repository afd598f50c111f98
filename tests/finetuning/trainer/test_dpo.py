"""Training on pairs: the right reply becomes likelier than the wrong one, by more than it was; the
tokens are those of inference; a run goes on, and begins with the adapter of another."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwright.errors import Cancelled, ConfigError
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.lab.finetuning.trainer.record import RunFolder
from sqlwright.lab.finetuning.trainer.train import train
from tests.finetuning.trainer.marks import NEEDS
from tests.finetuning.trainer.sets import SETTINGS, SPREAD, a_plan, examples, save_set
from tests.llm.tiny_weights import save_tiny

pytestmark = NEEDS

PAIRED = replace(SETTINGS, epochs=30.0, batch=6, learning_rate=5e-3, warm_up=0.0)


def with_rejected() -> list[TrainingExample]:
    """Each query is the wrong reply to the next question."""
    known = examples()
    return [
        replace(one, rejected=(other.completion,))
        for one, other in zip(known, [*known[1:], known[0]], strict=True)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dpo")
    save_set(made / "set", with_rejected())
    save_tiny(made / "tiny", spread=SPREAD)
    return made


def plan(folder: Path, out: str, **changed: object) -> TrainingPlan:
    return a_plan(folder, out=folder / out, objective="dpo", settings=PAIRED, **changed)


@pytest.fixture(scope="module")
def trained(folder: Path) -> RunFolder:
    return train(plan(folder, "run"))


def margin(folder: Path, adapter: Path | None) -> list[float]:
    """By how much the right reply of each example is likelier than the wrong one."""
    import torch

    from sqlwright.lab.finetuning.trainer.chat import completion_tokens, prompt_tokens
    from sqlwright.lab.finetuning.trainer.loading import load

    loaded = load(folder / "tiny", adapter=adapter, device="cpu", precision="fp32")
    loaded.model.eval()

    def likely(example: TrainingExample, reply: str) -> float:
        prompt = prompt_tokens(loaded.tokenizer, example.plain)
        said = completion_tokens(loaded.tokenizer, example.plain, reply, ends=loaded.ends)
        with torch.no_grad():
            logits = loaded.model(torch.tensor([prompt + said])).logits[0, len(prompt) - 1 : -1]
        return float(logits.log_softmax(-1).gather(-1, torch.tensor(said)[:, None]).sum())

    return [likely(one, one.completion) - likely(one, one.rejected[0]) for one in with_rejected()]


def test_the_right_reply_becomes_likelier_than_it_was(folder: Path, trained: RunFolder) -> None:
    before, after = margin(folder, None), margin(folder, trained.adapter)
    assert all(late > early + 1 for early, late in zip(before, after, strict=True))
    steps = [row for row in trained.logged() if "loss" in row]
    assert steps[-1]["rewards/accuracies"] == 1.0
    assert steps[-1]["rewards/margins"] > 0.3 > steps[0]["rewards/margins"]
    assert steps[-1]["loss"] < steps[0]["loss"]


def test_the_record_says_what_it_was_trained_on(trained: RunFolder) -> None:
    record = trained.record()
    assert record["objective"] == "dpo"
    assert record["settings"]["beta"] == 0.1
    assert record["examples"]["trained"] == 6
    assert record["examples"]["pairs"]["pairs"] == 6
    assert record["start"] is None
    config = json.loads((trained.adapter / "adapter_config.json").read_text("utf-8"))
    assert config["r"] == PAIRED.rank
    assert sorted(file.name for file in trained.adapter.glob("*.safetensors")) == [
        "adapter_model.safetensors"
    ]


def test_the_tokens_are_those_of_inference(folder: Path) -> None:
    """The very batches that it reads: the prompt that inference gives, the reply, its end."""
    from sqlwright.lab.finetuning.building.set_folder import SetFolder
    from sqlwright.lab.finetuning.trainer.loading import load, quiet, with_lora
    from sqlwright.lab.finetuning.trainer.objectives import Preference
    from sqlwright.lab.finetuning.trainer.train import Work
    from sqlwright.lab.finetuning.trainer.work import computing_of
    from sqlwright.llm.endpoint import Call
    from sqlwright.llm.vendors.weights import Weights

    quiet()
    chosen = plan(folder, "tokens")
    work = Work(chosen, SetFolder.open(folder / "set"), RunFolder(chosen.out), computing_of(chosen))
    loaded = with_lora(load(folder / "tiny", device="cpu"), chosen.settings, seed=0)
    way = Preference()
    trainer = way.trainer(work, loaded, way.prepared(work, loaded))
    asked = Weights(folder / "tiny", "")
    prompts = [asked._prompt(Call(one.plain)) for one in with_rejected()]
    found = set()
    for batch in trainer.get_train_dataloader():
        rows = zip(batch["input_ids"].tolist(), batch["completion_mask"].tolist(), strict=True)
        for tokens, counts in rows:
            begins = counts.index(1)
            said = tokens[begins : begins + sum(counts)]
            assert said[-1] in loaded.ends
            found.add((prompts.index(tokens[:begins]), loaded.tokenizer.decode(said[:-1])))
    expected = {(n, text) for n, one in enumerate(with_rejected())
                for text in (one.completion, *one.rejected)}  # fmt: skip
    assert found == expected


def test_a_run_goes_on_to_the_same_weights(folder: Path, trained: RunFolder) -> None:
    interrupted = plan(folder, "interrupted", checkpoint_steps=10)

    def interrupt(step: int, _of: int, _loss: float, _left: float) -> None:
        if step == 13:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Cancelled):
        train(interrupted, progress=interrupt)
    again = train(interrupted)
    weights = "adapter_model.safetensors"
    assert (again.adapter / weights).read_bytes() == (trained.adapter / weights).read_bytes()


def test_training_begins_with_the_adapter_of_a_run(folder: Path, tmp_path: Path) -> None:
    first = train(a_plan(folder, out=folder / "sft", settings=replace(SETTINGS, epochs=4.0)))
    begun = plan(folder, "begun", start=first.path)
    then = train(replace(begun, settings=replace(PAIRED, epochs=2.0)))
    steps = [row for row in then.logged() if "loss" in row]
    assert abs(steps[0]["rewards/margins"]) < 1e-4  # the reference is the adapter, not the base
    assert then.record()["start"]["digest"]
    assert margin(folder, then.adapter) != margin(folder, first.adapter)
    save_tiny(tmp_path / "other", seed=7)
    with pytest.raises(ConfigError, match="another base model"):
        train(replace(begun, model=tmp_path / "other", out=tmp_path / "out"))
    with pytest.raises(ConfigError, match="holds no adapter"):
        train(replace(begun, start=tmp_path, out=tmp_path / "out"))


def test_a_set_without_wrong_replies_is_refused(tmp_path: Path) -> None:
    save_set(tmp_path / "set", examples())
    save_tiny(tmp_path / "tiny")
    with pytest.raises(ConfigError, match="none of the 6 examples has a wrong reply"):
        train(plan(tmp_path, "run"))
