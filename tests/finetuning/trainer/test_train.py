"""A tiny model learns a few replies by heart; a run that was killed goes on to the same losses."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.finetuning.trainer.loading import load
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.lab.finetuning.trainer.record import RunFolder
from sqlwright.lab.finetuning.trainer.train import train
from sqlwright.llm.endpoint import Call
from tests.finetuning.trainer.marks import NEEDS
from tests.finetuning.trainer.sets import SETTINGS, a_plan, examples, query, save_set
from tests.llm.tiny_weights import CONTEXT

pytestmark = NEEDS
ROOT = Path(__file__).parents[3]
SHORT = replace(SETTINGS, epochs=6.0, dropout=0.1, batch=2, learning_rate=1e-3)
"""Eighteen steps, with dropout: what is drawn on the way counts."""
CHILD = """
import sys
from pathlib import Path
from dataclasses import replace
from sqlwright.cli.main import main
from sqlwright.errors import Cancelled
from sqlwright.lab.finetuning.trainer.train import train
from tests.finetuning.trainer.sets import a_plan
from tests.finetuning.trainer.test_train import SHORT

plan = a_plan(Path(sys.argv[1]), settings=SHORT, checkpoint_steps=3)
print("begun", flush=True)
try:
    train(plan, progress=lambda step, *_: print(step, flush=True))
except Cancelled as error:
    raise SystemExit(error.exit_code)
"""


def losses(folder: RunFolder) -> list[float]:
    return [row["loss"] for row in folder.logged() if "loss" in row]


def replies(plan: TrainingPlan, folder: RunFolder, prompts: Sequence[Any]) -> list[str]:
    """Greedy replies of the model with its adapter, as inference gives them."""
    from sqlwright.llm.vendors.weights import Weights

    loaded = load(plan.model, adapter=folder.adapter, device="cpu")
    weights = Weights.over(loaded.tokenizer, loaded.model.get_base_model(), folder=plan.model)
    calls = [Call(prompt, max_tokens=100) for prompt in prompts]
    done = [weights.reply(call, threading.Event(), context=CONTEXT) for call in calls]
    return [one.replies[0].text for one in done]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainingPlan, RunFolder]:
    plan = a_plan(tmp_path_factory.mktemp("trained"))
    return plan, train(plan)


def test_the_loss_goes_to_nothing_and_the_model_says_what_it_learnt(
    trained: tuple[TrainingPlan, RunFolder],
) -> None:
    plan, folder = trained
    assert losses(folder)[-1] < 0.05
    asked = [one.plain for one in examples()]
    assert replies(plan, folder, asked) == [one.completion for one in examples()]


def test_the_record_says_what_came_of_what(trained: tuple[TrainingPlan, RunFolder]) -> None:
    _, folder = trained
    record = folder.record()
    assert record["role"] == "generator"
    assert record["settings"]["rank"] == SETTINGS.rank
    assert record["steps"] == len(losses(folder)) == 80
    assert record["losses"]["last"] == losses(folder)[-1]
    assert record["examples"] == {"trained": 6, "too_long": 0, "longest": 92}
    assert record["ended"]
    assert record["device"] == "cpu"
    assert {"torch", "peft", "trl"} <= set(record["versions"])
    assert all({"step", "epoch", "loss", "learning_rate", "seconds"} <= set(row)
               for row in folder.logged())  # fmt: skip


def test_a_run_that_is_through_is_left_as_it_is(
    trained: tuple[TrainingPlan, RunFolder],
) -> None:
    plan, folder = trained
    before = folder.record()
    told: list[str] = []
    assert train(plan, notice=told.append) == folder
    assert folder.record() == before
    assert told == [f"{folder.path} is trained already"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"settings": replace(SETTINGS, rank=4)}, "rank was 16 and is 4"),
        ({"seed": 1}, "seed was 0 and is 1"),
        ({"micro_batch": 1}, "micro_batch was 3 and is 1"),
    ],
    ids=["settings", "seed", "micro batch"],
)
def test_another_plan_is_refused(
    trained: tuple[TrainingPlan, RunFolder], changed: dict[str, Any], told: str
) -> None:
    plan, _ = trained
    with pytest.raises(ConfigError, match=told):
        train(replace(plan, **changed))


def test_another_set_is_refused(trained: tuple[TrainingPlan, RunFolder], tmp_path: Path) -> None:
    plan, _ = trained
    other = save_set(tmp_path / "other", examples()[:3])
    with pytest.raises(ConfigError, match="another set"):
        train(replace(plan, set_folder=other.path))


def test_another_model_is_refused(trained: tuple[TrainingPlan, RunFolder], tmp_path: Path) -> None:
    plan, _ = trained
    from tests.llm.tiny_weights import save_tiny

    with pytest.raises(ConfigError, match="base model is another"):
        train(replace(plan, model=save_tiny(tmp_path / "other", seed=5)))


def run_child(folder: Path) -> subprocess.Popen[str]:
    environ = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder)], stdout=subprocess.PIPE, text=True, env=environ
    )


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    plan = a_plan(tmp_path_factory.mktemp("unbroken"), settings=SHORT)
    return losses(train(plan))


def test_after_a_kill_the_losses_are_the_same(tmp_path: Path, unbroken: list[float]) -> None:
    """Killed twice, each time somewhere between two checkpoints, or while one is written."""
    draw = random.Random(os.urandom(8))
    plan = a_plan(tmp_path, settings=SHORT, checkpoint_steps=3)
    for _ in range(2):
        child = run_child(tmp_path)
        assert child.stdout is not None
        wanted = draw.randint(4, 15)
        for line in child.stdout:
            if line.strip().isdigit() and int(line) >= wanted:
                break
        time.sleep(draw.random() * 0.05)
        child.kill()
        child.wait()
        child.stdout.close()
    folder = train(plan)
    assert [row["step"] for row in folder.logged()] == list(range(1, 19))
    assert losses(folder) == pytest.approx(unbroken, abs=1e-6)


def test_ctrl_c_saves_a_checkpoint_and_ends_with_130(tmp_path: Path, unbroken: list[float]) -> None:
    plan = a_plan(tmp_path, settings=SHORT, checkpoint_steps=3)
    child = run_child(tmp_path)
    assert child.stdout is not None
    next(line for line in child.stdout if line.strip() == "4")
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 130
    child.stdout.close()
    (checkpoint,) = (RunFolder(plan.out).checkpoints).glob("checkpoint-*")
    reached = int(checkpoint.name.partition("-")[2])
    assert 5 <= reached <= 17
    assert [row["step"] for row in RunFolder(plan.out).logged()][-1] == reached
    assert losses(train(plan)) == pytest.approx(unbroken, abs=1e-6)


def test_the_seed_decides_order_and_dropout(tmp_path: Path, unbroken: list[float]) -> None:
    again = train(a_plan(tmp_path, settings=SHORT))
    assert losses(again) == unbroken
    other = train(a_plan(tmp_path, settings=SHORT, seed=1, out=tmp_path / "other"))
    assert losses(other) != unbroken


def test_long_examples_are_left_out_and_told(tmp_path: Path) -> None:
    long = query(9, "columns " * 100, "SELECT 1;")
    save_set(tmp_path / "set", [*examples(), long])
    told: list[str] = []
    folder = train(a_plan(tmp_path, settings=replace(SHORT, epochs=1.0)), notice=told.append)
    assert told == [
        "1 of 7 examples are left out: they have more than 400 tokens, up to 850 (--max-tokens)"
    ]
    assert folder.record()["examples"] == {"trained": 6, "too_long": 1, "longest": 850}


def test_a_set_of_long_examples_alone_is_refused(tmp_path: Path) -> None:
    save_set(tmp_path / "set", [query(9, "columns " * 100, "SELECT 1;")])
    with pytest.raises(ConfigError, match="all 1 examples have more than 400 tokens"):
        train(a_plan(tmp_path))


def test_a_set_that_was_changed_is_refused(tmp_path: Path) -> None:
    plan = a_plan(tmp_path)
    path = plan.set_folder / "train.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), "utf-8")
    with pytest.raises(DatasetError, match="isn't as it was built"):
        train(plan)


def test_qlora_needs_a_gpu(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, settings=replace(SETTINGS, quantized="nf4"))
    with pytest.raises(ConfigError, match="needs an NVIDIA GPU"):
        train(plan)


def test_a_loss_that_is_no_number_ends_the_training(tmp_path: Path) -> None:
    wild = replace(SETTINGS, learning_rate=1e38, max_grad_norm=0.0, warm_up=0.0)
    with pytest.raises(ConfigError, match="is no number any more"):
        train(a_plan(tmp_path, settings=wild))


def test_nothing_is_sent_and_the_record_is_plain(trained: tuple[TrainingPlan, RunFolder]) -> None:
    _, folder = trained
    json.dumps(folder.record(), allow_nan=False)
    assert os.environ["HF_HUB_OFFLINE"] == "1"
