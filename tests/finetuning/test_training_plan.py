"""What a training goes by: presets of the papers, and plans that don't fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlwright.cli.commands.finetune.checks import SPARE, run_bytes
from sqlwright.errors import ConfigError, UserError
from sqlwright.lab.finetuning.trainer.plan import PRESETS, Settings, TrainingPlan, find_preset


def a_plan(**changed: Any) -> TrainingPlan:
    return TrainingPlan(Path("set"), Path("model"), Path("run"), **changed)


def test_presets_are_those_of_the_papers() -> None:
    chess, msc, chase = (find_preset(name) for name in ("chess", "msc", "chase-selector"))
    assert (chess.rank, chess.alpha, chess.epochs, chess.batch) == (128, 256, 2, 32)
    assert (chess.learning_rate, chess.schedule, chess.quantized) == (1e-4, "cosine", "nf4")
    assert (msc.rank, msc.alpha, msc.dropout, msc.batch, msc.quantized) == (
        32,
        128,
        0.05,
        12,
        "nf4",
    )
    assert (chase.rank, chase.epochs) == (16, 10)
    assert set(PRESETS) >= {"small", "msc-code-simple", "msc-code-ampere"}


def test_an_unknown_preset_is_told() -> None:
    with pytest.raises(ConfigError, match="ches"):
        find_preset("ches")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"rank": 0}, "`rank` of Settings must be a whole number of at least 1, not 0"),
        ({"dropout": 1.0}, "`dropout` of Settings must be a number of at least 0, less than 1"),
        ({"schedule": "steps"}, "`schedule` of Settings must be 'cosine' or 'linear'"),
        ({"learning_rate": -1.0}, "greater than 0, not -1.0"),
        ({"target_modules": ()}, "names no layers"),
    ],
)
def test_settings_that_don_t_fit_are_told(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as error:
        Settings(**changed)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("batch", "micro", "processes", "expected"),
    [
        (16, 0, 1, (4, 4)), (12, 0, 1, (4, 3)), (6, 0, 1, (3, 2)), (7, 0, 1, (1, 7)),
        (16, 0, 4, (4, 1)), (16, 2, 4, (2, 2)), (1, 0, 1, (1, 1)),
    ],
)  # fmt: skip
def test_a_batch_is_read_in_parts(
    batch: int, micro: int, processes: int, expected: tuple[int, int]
) -> None:
    plan = a_plan(settings=Settings(batch=batch), micro_batch=micro)
    assert plan.micro_batches(processes) == expected


@pytest.mark.parametrize(
    ("batch", "micro", "processes", "told"),
    [
        (12, 5, 1, "no multiple of the 5"),
        (12, 0, 8, "can't be shared out to 8 devices"),
        (2, 0, 4, "can't be shared out to 4 devices"),
    ],
)
def test_a_batch_that_can_t_be_shared_out_is_told(
    batch: int, micro: int, processes: int, told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        a_plan(settings=Settings(batch=batch), micro_batch=micro).micro_batches(processes)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('{"num_hidden_layers": 2, "hidden_size": 4, "intermediate_size": 8}', 2 * (44 + 24)),
        (
            '{"text_config": {"num_hidden_layers": 1, "hidden_size": 4, "intermediate_size": 8}}',
            44 + 24,
        ),
        ("{", 0),
        ("[]", 0),
        ('{"hidden_size": true}', 0),
    ],
)
def test_the_room_of_a_run_follows_from_the_model(tmp_path: Path, text: str, numbers: int) -> None:
    (tmp_path / "config.json").write_text(text, "utf-8")
    plan = TrainingPlan(Path("set"), tmp_path, Path("run"), settings=Settings(rank=2))
    assert run_bytes(plan) - SPARE == 2 * numbers * 12 * 3
