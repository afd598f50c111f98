"""Folders of weights as they are named, before anything is loaded. Needs no extra."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.llm.prices import FREE, Prices
from sqlwright.llm.vendors.connecting import check
from sqlwright.llm.vendors.services import price_of, service_for
from sqlwright.llm.vendors.weights_folder import context_tokens, model_of, state_of, told_of

CONFIG = {"model_type": "llama", "max_position_embeddings": 2048}
LORA = '{"peft_type": "LORA", "base_model_name_or_path": "some/model"}'
LAID = {"adapter_model.safetensors": "x"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like a model."""
    path = tmp_path / "tiny"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(CONFIG))
    (path / "model.safetensors").write_bytes(b"x" * 200)
    (path / "tokenizer.json").write_text("{}")
    return path


def refusal(model: str, **options: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        check(service_for(model, LlmOptions(**options), {}))
    return caught.value


@pytest.mark.parametrize("colon", [False, True])
def test_a_folder_is_a_model_of_this_machine(folder: Path, colon: bool) -> None:
    service = service_for(f"weights{':' if colon else '/'}{folder}", LlmOptions(), {})
    assert service.address == folder.as_uri()
    assert not service.can.remote
    assert service.can.n
    assert service.sendable_key is None
    assert price_of(service, Prices()) == FREE
    assert service.throttle.concurrency == 1
    assert service.throttle.seconds == 3600


def test_the_user_says_that_it_counts_as_elsewhere(folder: Path) -> None:
    assert service_for(f"weights/{folder}", LlmOptions(remote=True), {}).can.remote


def test_an_entry_says_its_timeout_and_context(folder: Path) -> None:
    entry = ModelOptions(f"weights/{folder}", timeout=60.0, context_tokens=1024)
    service = service_for("mine", LlmOptions(models={"mine": entry}), {})
    assert service.throttle.seconds == 60
    assert service.can.context_tokens == 1024


@pytest.mark.parametrize("given", [{"base_url": "http://127.0.0.1:1/v1"}, {"key_env": "MINE"}])
def test_what_only_a_server_has_is_refused(folder: Path, given: Mapping[str, str]) -> None:
    entry = ModelOptions(f"weights/{folder}", **given)  # type: ignore[arg-type]
    error = refusal("mine", models={"mine": entry})
    assert next(iter(given)) in str(error)
    assert "Leave it out" in error.hint


@pytest.mark.skipif(find_spec("transformers") is not None, reason="the weights extra is installed")
def test_without_the_extra_it_is_said_how_to_get_it(folder: Path) -> None:
    error = refusal(f"weights/{folder}")
    assert "transformers" in str(error)
    assert error.hint == "pip install 'sqlwright[weights]'"


@pytest.mark.parametrize(
    ("files", "lost", "words"),
    [
        ({}, "config.json", "config.json"),
        ({"config.json": "[1]"}, "", "config.json"),
        ({"config.json": "{"}, "", "config.json"),
        ({}, "model.safetensors", "holds no weights"),
        ({"pytorch_model.bin": "x"}, "model.safetensors", "pickles only (pytorch_model.bin)"),
        ({"model.gguf": "x"}, "model.safetensors", "GGUF"),
        ({}, "tokenizer.json", "no tokenizer"),
        ({"adapter_config.json": "{}"}, "", "isn't a plain LoRA adapter"),
        ({"adapter_config.json": "{"}, "", "isn't a plain LoRA adapter"),
        ({"adapter_config.json": '{"peft_type": "PREFIX_TUNING"}'}, "", "plain LoRA"),
        ({"adapter_config.json": '{"peft_type": "LORA", "megatron_config": {}}'}, "", "plain LoRA"),
        ({"adapter_config.json": LORA}, "", "no adapter_model.safetensors"),
        ({"adapter_config.json": LORA, "adapter_model.bin": "x"}, "", "as a pickle only"),
        ({"adapter_config.json": LORA, **LAID}, "", "laid over 'some/model', which is no folder"),
        ({"adapter_config.json": '{"peft_type": "LORA"}', **LAID}, "", "laid over None"),
        ({"adapter_config.json": LORA.replace("some/model", "."), **LAID}, "", "laid over '.'"),
    ],
)
def test_what_is_no_model_is_refused(
    folder: Path, files: Mapping[str, str], lost: str, words: str
) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)
    if lost:
        (folder / lost).unlink()
    error = refusal(f"weights/{folder}")
    assert words in str(error)
    assert error.hint


def test_a_folder_that_is_missing_or_a_name_of_a_hub_is_refused() -> None:
    error = refusal("weights/mistralai/Mistral-7B")
    assert "there is no folder" in str(error)
    assert "Nothing is downloaded" in error.hint


@pytest.mark.parametrize(
    ("config", "size"),
    [
        (CONFIG, 2048),
        ({"model_type": "gemma3", "text_config": {"max_position_embeddings": 8192}}, 8192),
        ({"model_type": "gpt2", "n_positions": 1024}, 1024),
        ({"model_type": "odd", "max_position_embeddings": "many"}, 0),
    ],
)
def test_the_context_is_read_from_the_configuration(
    folder: Path, config: Mapping[str, Any], size: int
) -> None:
    (folder / "config.json").write_text(json.dumps(config))
    assert context_tokens(folder) == size


def test_other_weights_in_the_same_folder_are_another_model(folder: Path) -> None:
    before = state_of(folder)
    assert service_for(f"weights/{folder}", LlmOptions(), {}).revision == before
    (folder / "model.safetensors").write_bytes(b"y" * 201)
    assert state_of(folder) != before
    assert told_of(folder) == "llama, 0.0 GB of weights, a context of 2,048 tokens"


def laid_over(folder: Path, named: str) -> Path:
    """A folder that looks like an adapter, beside the one that looks like a model."""
    path = folder.parent / "adapter"
    path.mkdir()
    told = {"peft_type": "LORA", "base_model_name_or_path": named}
    (path / "adapter_config.json").write_text(json.dumps(told))
    (path / "adapter_model.safetensors").write_bytes(b"x" * 50)
    return path


@pytest.mark.parametrize("named", ["../tiny", "{folder}"])
def test_an_adapter_has_size_and_context_of_the_model_it_names(folder: Path, named: str) -> None:
    path = laid_over(folder, named.format(folder=folder))
    assert model_of(path) == folder.resolve()
    assert context_tokens(path) == 2048
    before = service_for(f"weights/{path}", LlmOptions(), {}).revision
    (folder / "model.safetensors").write_bytes(b"y" * 201)
    assert service_for(f"weights/{path}", LlmOptions(), {}).revision != before


def test_the_model_of_an_adapter_is_looked_at_like_any(folder: Path) -> None:
    path = laid_over(folder, "../tiny")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    if find_spec("peft") is None:
        assert refusal(f"weights/{path}").hint == "pip install 'sqlwright[finetune]'"
    else:
        assert "pickles only" in str(refusal(f"weights/{path}"))


@pytest.mark.parametrize("named", ["", "mistralai/Mistral-7B", "../none", "a\0b", "x" * 5_000])
def test_a_name_that_is_no_folder_is_not_followed(folder: Path, named: str) -> None:
    path = laid_over(folder, named)
    assert model_of(path) is None
    assert "no folder with a whole model on this machine" in str(refusal(f"weights/{path}"))
