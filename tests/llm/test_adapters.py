"""Adapters over weights in this process: made with peft, loaded and asked for real."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Call, EndpointError, PlainMessage
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.llm.vendors.weights_folder import context_tokens, state_of, told_of
from sqlwright.messages import Reply
from sqlwright.protocols import LanguageModel
from tests.llm.gates import a_run, is_missing, request
from tests.llm.test_weights import replies
from tests.llm.tiny_weights import CONTEXT, save_tiny

pytestmark = [
    pytest.mark.finetune,
    pytest.mark.skipif(find_spec("peft") is None, reason="needs the finetune extra"),
    pytest.mark.filterwarnings("default"),  # the libraries' own, of other libraries
]
CALL = Call((PlainMessage("user", "How many Größen?"),), max_tokens=24, logprobs=5)
Lay = Callable[..., Path]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("adapters") / "base")


def save_adapter(
    folder: Path, base: Path, *, seed: int, named: str = "", merged: bool = False
) -> Path:
    """An adapter of random weights over a model, and beside it the two merged."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(str(base))
    torch.manual_seed(seed)
    config = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
    adapted: Any = get_peft_model(model, config)
    adapted.save_pretrained(folder)
    written = folder / "adapter_config.json"
    form = json.loads(written.read_text()) | {"base_model_name_or_path": named or str(base)}
    written.write_text(json.dumps(form))
    if merged:
        adapted.merge_and_unload().save_pretrained(folder.with_name(f"{folder.name}-merged"))
        tokenizer = AutoTokenizer.from_pretrained(str(base))
        tokenizer.save_pretrained(folder.with_name(f"{folder.name}-merged"))
    return folder


@pytest.fixture(scope="module")
def first(base: Path) -> Path:
    return save_adapter(base.parent / "first", base, seed=1, merged=True)


@pytest.fixture(scope="module")
def second(base: Path) -> Path:
    """One that names its model as seen from its own folder."""
    return save_adapter(base.parent / "second", base, seed=2, named="../base", merged=True)


@pytest.fixture
def models(base: Path, first: Path, second: Path) -> Iterator[Models]:
    folders = {"base": base, "first": first, "second": second}
    entries = {name: ModelOptions(f"weights/{folder}") for name, folder in folders.items()}
    made = Models({}, LlmOptions("base", models=entries))
    yield made
    made.close()


def said(models: Models, name: str) -> str:
    model = models[name]
    assert isinstance(model, LanguageModel)
    asked = request("How many Größen?", max_tokens=24, is_whole=lambda text: True)
    ((sample,),) = model.complete([asked], a_run(), step="try")
    assert isinstance(sample, Reply), sample
    return sample.text


def test_an_adapter_replies_as_the_merged_model_does(
    base: Path, first: Path, second: Path, models: Models
) -> None:
    """Whatever was asked before it: each call has its own adapter."""
    merged = {
        name: replies(base.parent / f"{name}-merged", CALL).replies[0].text
        for name in ("first", "second")
    }
    merged["base"] = replies(base, CALL).replies[0].text
    assert len(set(merged.values())) == 3
    for name in ("first", "base", "second", "first", "second", "base"):
        assert said(models, name) == merged[name], name


def test_log_probabilities_are_those_of_the_merged_model(base: Path, first: Path) -> None:
    from sqlwright.llm.vendors.in_process import SharedModel

    shared = SharedModel(base, "")
    adapted = shared.weights(first, "").reply(CALL, threading.Event(), context=CONTEXT).replies[0]
    whole = replies(base.parent / "first-merged", CALL).replies[0]
    for one, other in zip(adapted.logprobs, whole.logprobs, strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
        assert dict(one.likeliest) == pytest.approx(dict(other.likeliest), abs=1e-4)


def test_the_model_is_in_memory_once_for_all_of_its_adapters(
    base: Path, first: Path, second: Path
) -> None:
    from sqlwright.llm.vendors.in_process import SharedModel

    shared = SharedModel(base, "")
    held = [shared.weights(folder, "")._model for folder in (base, first, second)]
    assert len({id(model) for model in held}) == 1
    layer = held[0].model.layers[0].self_attn.q_proj
    assert len(layer.lora_A) == 2
    assert layer.base_layer.weight.shape == (64, 64)


def test_an_adapter_that_was_trained_further_is_loaded_again(
    base: Path, first: Path, second: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "further"
    shutil.copytree(first, folder)
    before, seen = state_of(folder), []
    for source in (first, second):
        shutil.copy(source / "adapter_model.safetensors", folder)
        made = Models({}, LlmOptions(f"weights/{folder}"))
        seen.append(said(made, "llm"))
        made.close()
    assert len(set(seen)) == 2
    assert state_of(folder) != before


def test_what_an_adapter_is_told_of_it_has_from_its_model(base: Path, first: Path) -> None:
    assert context_tokens(first) == CONTEXT
    assert told_of(first).startswith(f"llama, 0.0 GB of weights in {base} under an adapter")


def test_the_state_is_that_of_adapter_and_model(base: Path, tmp_path: Path) -> None:
    shutil.copytree(base, tmp_path / "base")
    folder = save_adapter(tmp_path / "own", tmp_path / "base", seed=3)
    seen = {state_of(folder)}
    for changed in (folder / "README.md", tmp_path / "base" / "note.txt"):
        changed.write_text("changed")
        seen.add(state_of(folder))
    assert len(seen) == 3


def test_an_adapter_that_does_not_fit_its_model_is_refused(first: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "part"
    shutil.copytree(first, folder)
    tensors = load_file(folder / "adapter_model.safetensors")
    tensors.popitem()
    save_file(tensors, folder / "adapter_model.safetensors")
    made = Models({}, LlmOptions(f"weights/{folder}"))
    model = made["llm"]
    assert isinstance(model, LanguageModel)
    ((sample,),) = model.complete([request("a")], a_run(), step="try")
    made.close()
    assert is_missing(sample, "rejected")
    assert "doesn't fit the weights" in str(sample)


@pytest.mark.parametrize("content", [b"", b"x" * 1_000])
def test_a_damaged_adapter_is_refused_and_its_model_goes_on(
    content: bytes, base: Path, first: Path, tmp_path: Path
) -> None:
    from sqlwright.llm.vendors.in_process import SharedModel

    folder = tmp_path / "damaged"
    shutil.copytree(first, folder)
    (folder / "adapter_model.safetensors").write_bytes(content)
    shared = SharedModel(base, "")
    before = shared.weights(base, "").reply(CALL, threading.Event(), context=CONTEXT).replies
    with pytest.raises(EndpointError, match="can't be loaded"):
        shared.weights(folder, "")
    assert (
        shared.weights(base, "").reply(CALL, threading.Event(), context=CONTEXT).replies == before
    )


def test_a_model_that_is_no_folder_here_is_refused_when_it_is_named(
    base: Path, tmp_path: Path
) -> None:
    folder = save_adapter(tmp_path / "hub", base, seed=1, named="mistralai/Mistral-7B-v0.3")
    with pytest.raises(ConfigError, match="mistralai/Mistral-7B") as caught:
        Models({}, LlmOptions(f"weights/{folder}"))["llm"]
    assert "Nothing is downloaded" in caught.value.hint
