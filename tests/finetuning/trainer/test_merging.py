"""An adapter as it is saved, loaded, and merged: the same model each time."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.trainer.loading import load
from sqlwright.lab.finetuning.trainer.merging import merge
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.lab.finetuning.trainer.record import RunFolder
from sqlwright.lab.finetuning.trainer.train import train
from sqlwright.llm.endpoint import Call
from tests.finetuning.trainer.marks import NEEDS
from tests.finetuning.trainer.sets import SETTINGS, a_plan, examples
from tests.llm.tiny_weights import CONTEXT, save_tiny

pytestmark = NEEDS


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainingPlan, RunFolder]:
    plan = a_plan(tmp_path_factory.mktemp("merging"))
    return plan, train(plan)


def logits(model: Any, tokenizer: Any) -> Any:
    import torch

    with torch.inference_mode():
        return model(**tokenizer("How many shops?", return_tensors="pt")).logits


def test_saved_loaded_and_merged_it_gives_the_same(
    trained: tuple[TrainingPlan, RunFolder], tmp_path: Path
) -> None:
    import torch

    plan, folder = trained
    merged = merge(folder.adapter, plan.model, tmp_path / "whole")
    alone = load(plan.model, device="cpu")
    with_adapter = load(plan.model, adapter=folder.adapter, device="cpu")
    whole = load(merged, device="cpu")
    first, second, base = (
        logits(one.model.eval(), one.tokenizer) for one in (with_adapter, whole, alone)
    )
    assert torch.allclose(first, second, atol=1e-4)
    assert not torch.allclose(first, base, atol=1e-1)
    assert list(merged.glob("*.safetensors"))
    assert not (merged / "adapter_config.json").exists()


def test_the_merged_folder_is_served_as_weights(
    trained: tuple[TrainingPlan, RunFolder], tmp_path: Path
) -> None:
    from sqlwright.llm.vendors.weights import Weights

    plan, folder = trained
    weights = Weights(merge(folder.adapter, plan.model, tmp_path / "whole"), "")
    for one in examples():
        done = weights.reply(Call(one.plain, max_tokens=100), threading.Event(), context=CONTEXT)
        assert done.replies[0].text == one.completion
        assert done.replies[0].finish == "stop"


def test_what_can_t_be_merged_is_told(
    trained: tuple[TrainingPlan, RunFolder], tmp_path: Path
) -> None:
    plan, folder = trained
    with pytest.raises(ConfigError, match="holds no adapter"):
        merge(tmp_path, plan.model, tmp_path / "whole")
    other = save_tiny(tmp_path / "other", seed=9)
    with pytest.raises(ConfigError, match="isn't the model that the adapter was trained on"):
        merge(folder.adapter, other, tmp_path / "whole")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(ConfigError, match="there already"):
        merge(folder.adapter, plan.model, tmp_path / "full")
    assert not (tmp_path / "whole").exists()


def test_a_kill_after_the_last_step_costs_nothing(tmp_path: Path) -> None:
    """The last checkpoint is whole, the adapter isn't there yet."""
    import shutil

    plan = a_plan(tmp_path, settings=replace(SETTINGS, epochs=2.5))
    folder = train(plan)
    kept = (folder.adapter / "adapter_model.safetensors").read_bytes()
    logged = folder.log.read_bytes()
    shutil.rmtree(folder.adapter)
    folder.card.unlink()
    folder.write({**folder.record(), "ended": None})
    train(plan)
    assert (folder.adapter / "adapter_model.safetensors").read_bytes() == kept
    assert folder.log.read_bytes() == logged
    assert folder.card.exists()
    assert folder.record()["ended"]


def test_the_card_says_what_it_is(trained: tuple[TrainingPlan, RunFolder]) -> None:
    plan, folder = trained
    card = folder.card.read_text("utf-8")
    record = folder.record()
    for told in (
        "generation.direct", "msc-tuned", str(plan.model), record["base"]["digest"],
        record["set"]["train.jsonl"], "| rank | 16 |", "| schedule | cosine |",
        f"{record['losses']['last']:.4f}", "licences", "[models.tuned-generator]",
    ):  # fmt: skip
        assert told in card
