"""Estimates of time, memory and price, against sums by hand and figures that others measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.finetuning.estimating.estimate import EstimatePlan, estimate
from sqlwright.lab.finetuning.estimating.memory import training_memory
from sqlwright.lab.finetuning.estimating.operations import (
    Passes,
    forward_operations,
    preference_operations,
    training_operations,
)
from sqlwright.lab.finetuning.estimating.shape import SHAPES, ModelShape, shape_of
from sqlwright.lab.finetuning.estimating.throughput import (
    PUBLISHED,
    Published,
    find_gpu,
    utilisation,
)
from sqlwright.lab.finetuning.estimating.tokens import SetTokens, set_tokens
from sqlwright.lab.finetuning.example import TrainingExample, Turn, write_examples

TINY = ModelShape("tiny", layers=2, hidden=4, heads=4, keys=2, intermediate=8, vocabulary=10)
"""Small enough for sums by hand: each layer has 2*16 + 2*8 of attention and 3*32 of its network."""
ADAPTER = Passes("lora", rank=1, recomputed=False)
RIGHT = TrainingExample(
    "1", "critic", "selection.multi_sample", "q", "db", "s", (Turn("user", "one two"),), "A"
)


def test_the_parameters_of_a_shape() -> None:
    assert TINY.linear == 2 * (32 + 16 + 96)
    assert TINY.parameters == 288 + 80
    assert TINY.multiplied == 288 + 40
    assert TINY.adapter(1) == 2 * (2 * (4 + 4) + 2 * (4 + 2) + 3 * (4 + 8))


@pytest.mark.parametrize(("size", "parameters"), [("3B", 3.09e9), ("7B", 7.61e9), ("32B", 32.5e9)])
def test_the_named_sizes_have_as_many_parameters_as_their_makers_say(
    size: str, parameters: float
) -> None:
    assert SHAPES[size].parameters == pytest.approx(parameters, rel=0.01)


@pytest.mark.parametrize(
    ("passes", "lengths", "operations"),
    [
        # 10 tokens by 4 * 328 and 6 * 128 of the adapter; attention 6 * 2 layers * 4 * 10 * 10.
        (ADAPTER, [10], 10 * (1312 + 768) + 4800),
        # Twice: attention is counted for each text by itself.
        (ADAPTER, [10, 10], 2 * 25_600),
        # Recomputed: 2 more of each.
        (Passes("lora", 1, recomputed=True), [10], 10 * (6 * 328 + 8 * 128) + 6400),
        (Passes("full", 0, recomputed=False), [10], 10 * 6 * 328 + 4800),
        (Passes("full", 0, recomputed=True), [10], 10 * 8 * 328 + 6400),
        (ADAPTER, [], 0),
    ],
)
def test_operations_by_hand(passes: Passes, lengths: list[int], operations: float) -> None:
    assert training_operations(TINY, passes, lengths) == operations


def test_preferences_are_read_by_the_reference_too() -> None:
    assert forward_operations(TINY, [10]) == 10 * 2 * 328 + 1600
    assert preference_operations(TINY, ADAPTER, [10, 10]) == 2 * (25_600 + 8160)


def test_memory_by_hand() -> None:
    memory = training_memory(TINY, Passes("full", 0), tokens=100)
    assert memory.weights * 1e9 == pytest.approx(368 * 2)
    assert memory.trained * 1e9 == pytest.approx(368 * 16)
    assert memory.logits * 1e9 == pytest.approx(100 * 10 * 10)
    # Of each layer 4 numbers of 16 bits; of the one at work 12 * 4 + 4 * 8.
    assert memory.activations * 1e9 == pytest.approx(100 * (2 * 4 * 2 + 2 * 80))
    quarter = training_memory(TINY, Passes("qlora", 1), tokens=100)
    assert quarter.weights * 1e9 == pytest.approx(288 * 0.5625 + 80 * 2)
    assert quarter.trained * 1e9 == pytest.approx(128 * 16)
    halved = training_memory(TINY, Passes("full", 0), tokens=100, copies=2)
    assert halved.trained == pytest.approx(memory.trained / 2)


@pytest.mark.parametrize("row", [row for row in PUBLISHED if row.memory])
def test_memory_is_near_what_others_measured(row: Published) -> None:
    memory = training_memory(row.shape, Passes(row.method, row.rank), tokens=row.tokens)
    near = 0.25 if row.shape.parameters < 2e9 else 0.12
    assert memory.total == pytest.approx(row.memory, rel=near)


@pytest.mark.parametrize("row", PUBLISHED)
def test_no_published_rate_is_faster_than_its_gpu(row: Published) -> None:
    assert 0.2 < row.operations / find_gpu(row.gpu).peak < 1.0


def test_hours_by_hand() -> None:
    tokens = SetTokens((900_000,), (100_000,), (0,), counted=True)
    plan = EstimatePlan(TINY, find_gpu("h100"), passes=ADAPTER, epochs=3, price=2.0)
    found = estimate(plan, tokens)
    each = 1_000_000 * 2080 + 1e12 * 48
    assert found.operations == pytest.approx(3 * each)
    assert found.hours.high == pytest.approx(3 * each / (989e12 * 0.20) / 3600)
    assert found.hours.low == pytest.approx(3 * each / (989e12 * 0.45) / 3600)
    assert found.source == ""
    assert found.cost is not None
    assert found.cost.high == pytest.approx(2 * found.hours.high)


def test_eight_gpus_are_less_than_eight_times_as_fast() -> None:
    tokens = SetTokens((900,) * 10, (100,) * 10, (0,) * 10, counted=False)
    one = estimate(EstimatePlan(SHAPES["7B"], find_gpu("A100")), tokens)
    eight = estimate(EstimatePlan(SHAPES["7B"], find_gpu("A100"), gpus=8), tokens)
    assert one.hours.low / 8 < eight.hours.low < one.hours.low / 7
    assert eight.hours.high == pytest.approx(one.hours.high / 8 / 0.80)
    assert (one.cost, one.source.startswith("https")) == (None, True)


def test_estimated_tokens_may_be_fewer() -> None:
    plan = EstimatePlan(SHAPES["7B"], find_gpu("A100"))
    counted = estimate(plan, SetTokens((900,), (100,), (0,), counted=True))
    guessed = estimate(plan, SetTokens((900,), (100,), (0,), counted=False))
    assert guessed.hours.low == pytest.approx(counted.hours.low / 1.6)
    assert guessed.hours.high == counted.hours.high


def test_ranges_that_nobody_published_are_chosen() -> None:
    assert utilisation(find_gpu("RTX 4090"), "qlora")[1] == ""
    seen, source = utilisation(find_gpu("A100"), "qlora")
    assert 0.2 < seen.low < seen.high < 0.6
    assert "Qwen" in source


def test_a_model_of_3b_fits_where_one_of_32b_does_not() -> None:
    tokens = SetTokens((3000,), (100,), (0,), counted=True)
    fits = {
        size: estimate(EstimatePlan(SHAPES[size], find_gpu("H100")), tokens).fits
        for size in ("3B", "7B", "32B")
    }
    assert fits["3B"] == {24: True, 48: True, 80: True}
    assert fits["7B"] == {24: True, 48: True, 80: True}
    assert fits["32B"] == {24: False, 48: True, 80: True}


def test_a_set_is_counted_by_pairs_where_it_has_wrong_replies(tmp_path: Path) -> None:
    wrong = TrainingExample(**{**_fields(RIGHT), "id": "2", "rejected": ("B",)})
    write_examples(tmp_path / "train.jsonl", [RIGHT, wrong])
    tokens = set_tokens(tmp_path)
    assert (tokens.examples, tokens.counted) == (2, False)
    assert tokens.prompts == (3 + 16, 3 + 16)
    assert tokens.total == 2 * (19 + 1)
    assert tokens.pairs == 2 * 19 + 2
    assert tokens.share(0.95) == 20


def test_a_tokenizer_counts_where_there_is_one(tmp_path: Path) -> None:
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"one": 0, "two": 1, "?": 2}, "unk_token": "?"},
    }  # fmt: skip
    write_examples(tmp_path / "train.jsonl", [RIGHT])
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    tokens = set_tokens(tmp_path, tmp_path)
    assert (tokens.prompts, tokens.completions, tokens.counted) == ((2 + 16,), (1,), True)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ConfigError, match=r"tokenizer\.json can't be read"):
        set_tokens(tmp_path, tmp_path)


CONFIG = {
    "num_hidden_layers": 2, "hidden_size": 4, "intermediate_size": 8, "vocab_size": 10,
    "num_attention_heads": 2, "num_key_value_heads": 1,
}  # fmt: skip


@pytest.mark.parametrize("config", [CONFIG, {"text_config": CONFIG}, {**CONFIG, "head_dim": 2}])
def test_a_shape_is_read_from_a_folder(tmp_path: Path, config: dict[str, Any]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert shape_of(str(tmp_path)).parameters == TINY.parameters


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"hidden_size": true}', None])
def test_a_folder_without_a_decoder_is_told(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(ConfigError, match=r"config\.json"):
        shape_of(str(tmp_path))


def test_what_is_no_set_and_no_gpu_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is no set"):
        set_tokens(tmp_path)
    (tmp_path / "train.jsonl").write_text("")
    with pytest.raises(DatasetError, match="has no examples"):
        set_tokens(tmp_path)
    with pytest.raises(ConfigError, match="no GPU"):
        find_gpu("abacus")


def _fields(one: TrainingExample) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}
