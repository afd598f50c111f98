"""Training tokens: the prompt's are those that inference gives the model, the reply's go on as the
template does."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.example import TrainingExample, Turn
from sqlwright.lab.finetuning.trainer.chat import (
    UNCOUNTED,
    completion_tokens,
    prompt_tokens,
    tokenized,
)
from sqlwright.lab.finetuning.trainer.loading import Loaded, load
from sqlwright.llm.endpoint import Call
from tests.finetuning.trainer.marks import NEEDS
from tests.llm.tiny_weights import CONTEXT, TEMPLATE, save_tiny

pytestmark = NEEDS
ASKS = "{% if add_generation_prompt %}<start>assistant: {% endif %}"
ENDED = (
    "{% for m in messages %}<start>{{ m.role }}: {{ m.content }}<end>\n{% endfor %}" + ASKS
)  # as ChatML
SPACED = (
    "{% for m in messages %}{% if m.role == 'user' %}[Q]{{ m.content }}[/Q]{% else %}"
    " {{ m.content | trim }}<end>{% endif %}{% endfor %}"
)  # a blank before the reply, nothing that asks for it
NO_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{% for m in messages %}<start>{{ 'model' if m.role == 'assistant' else m.role }}: "
    "{{ m.content }}<end>\n{% endfor %}{% if add_generation_prompt %}<start>model: {% endif %}"
)
THINKING = (
    "{% for m in messages %}<start>{{ m.role }}: {{ m.content }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<start>assistant: "
    "{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)  # once there is a reply, its thought is gone: the prompt isn't what the conversation begins with
KEPT_THOUGHT = (
    "{% for m in messages %}<start>{{ m.role }}: "
    "{% if m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}{{ m.content }}<end>\n"
    "{% endfor %}{% if add_generation_prompt %}<start>assistant: "
    "{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
TEMPLATES = {
    "plain": TEMPLATE, "ended": ENDED, "spaced": SPACED, "no system": NO_SYSTEM,
    "thinking": THINKING, "kept thought": KEPT_THOUGHT, "none": None,
}  # fmt: skip
WRITTEN = {"spaced": " SELECT 1;<end>"}
"""The reply as the model learns to write it, where that isn't the reply and its end."""


def example(number: int = 1, text: str = "How many Größen?") -> TrainingExample:
    turns = (Turn("system", "Write SQL."), Turn("user", text))
    return TrainingExample(
        f"e{number}", "generator", "generation.direct", f"q{number}", "shop", "hand", turns,
        "SELECT 1;",
    )  # fmt: skip


@pytest.fixture(scope="module", params=TEMPLATES)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("chat") / "tiny"
    save_tiny(
        folder,
        template=TEMPLATES[request.param],
        thinks=request.param.startswith(("think", "kept")),
    )
    return request.param, load(folder, device="cpu")


def test_the_prompt_is_what_inference_gives_the_model(loaded: tuple[str, Loaded]) -> None:
    """A model's own view: the tokens that its forward pass reads before the first reply's."""
    from sqlwright.llm.vendors.weights import Weights

    _, model = loaded
    read: list[list[int]] = []
    hook = model.model.model.register_forward_pre_hook(
        lambda _module, _args, given: read.append(given["input_ids"][0].tolist()), with_kwargs=True
    )
    try:
        weights = Weights.over(model.tokenizer, model.model, folder=model.folder)
        weights.reply(Call(example().plain, max_tokens=1), threading.Event(), context=CONTEXT)
    finally:
        hook.remove()
    assert [token for piece in read for token in piece] == prompt_tokens(
        model.tokenizer, example().plain
    )


def test_the_reply_goes_on_as_the_template_does(loaded: tuple[str, Loaded]) -> None:
    name, model = loaded
    tokens = completion_tokens(model.tokenizer, example().plain, "SELECT 1;", ends=model.ends)
    assert model.tokenizer.decode(tokens) == WRITTEN.get(name, "SELECT 1;<end>")
    assert tokens[-1] == model.tokenizer.eos_token_id


def test_only_the_reply_counts(loaded: tuple[str, Loaded]) -> None:
    _, model = loaded
    (one,) = tokenized(model.tokenizer, [example()], ends=model.ends, most=CONTEXT).kept
    assert len(one.input_ids) == len(one.labels) == len(one)
    counted = [token for token in one.labels if token != UNCOUNTED]
    assert counted == list(one.completion)
    assert one.input_ids[-len(counted) :] == counted


def test_a_long_example_is_left_out_and_told(loaded: tuple[str, Loaded]) -> None:
    _, model = loaded
    long = example(2, "columns " * 100)
    found = tokenized(model.tokenizer, [example(), long], ends=model.ends, most=400)
    assert [one.id for one in found.kept] == ["e1"]
    assert found.too_long == 1
    assert found.longest > 800


def test_the_turn_s_own_end_is_learnt_where_the_tokenizer_has_another(tmp_path: Path) -> None:
    """As Llama 3: text ends with one token, a turn with another, and both end a reply."""
    template = ENDED.replace("<end>", "<turn>")
    folder = save_tiny(tmp_path / "turns", template=template)
    made = load(folder, device="cpu")
    made.tokenizer.add_special_tokens({"additional_special_tokens": ["<turn>"]})
    turn = made.tokenizer.convert_tokens_to_ids("<turn>")
    ends = [*made.ends, turn]
    for form in (template, THINKING.replace("<end>", "<turn>")):
        made.tokenizer.chat_template = form
        tokens = completion_tokens(made.tokenizer, example().plain, "SELECT 1;", ends=ends)
        assert made.tokenizer.decode(tokens) == "SELECT 1;<turn>"


def test_a_template_that_fails_is_told(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "broken", template="{{ raise_exception('never') }}")
    with pytest.raises(ConfigError, match="chat template"):
        prompt_tokens(load(folder, device="cpu").tokenizer, example().plain)


def test_a_model_without_an_end_is_refused(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "endless", ends=None)
    with pytest.raises(ConfigError, match="no token that ends a reply"):
        load(folder, device="cpu")
