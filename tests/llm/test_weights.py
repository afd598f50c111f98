"""Weights in this process: a tiny model of random weights, loaded and asked for real."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from math import exp
from pathlib import Path

import pytest

from sqlwright import api
from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.messages import Effort, Message, Missing, Reply, Request, Sample, Text
from sqlwright.protocols import LanguageModel, context_tokens
from tests.llm.gates import Events, a_run, is_missing, request
from tests.llm.tiny_weights import CAPITALS, CONTEXT, save_tiny
from tests.watched import watch

pytestmark = [
    pytest.mark.weights,
    pytest.mark.skipif(find_spec("transformers") is None, reason="needs the weights extra"),
    pytest.mark.filterwarnings("default"),  # the libraries' own, of other libraries
]
PROMPT = (PlainMessage("system", "Write SQL."), PlainMessage("user", "How many Größen?"))
CALL = Call(PROMPT, n=3, temperature=1.0, max_tokens=24, seed=7)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("weights") / "tiny")


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose replies end with any capital letter."""
    return save_tiny(tmp_path_factory.mktemp("weights") / "endings", ends=CAPITALS)


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has no end token."""
    return save_tiny(tmp_path_factory.mktemp("weights") / "endless", ends=None)


def replies(folder: Path, call: Call) -> Completion:
    from sqlwright.llm.vendors.weights import Weights

    return Weights(folder, "").reply(call, threading.Event(), context=CONTEXT)


@pytest.fixture
def models(tiny: Path) -> Iterator[Models]:
    made = Models({}, LlmOptions(f"weights/{tiny}"))
    yield made
    made.close()


def language_model(models: Models) -> LanguageModel:
    model = models["llm"]
    assert isinstance(model, LanguageModel)
    return model


def ask(models: Models, asked: Request, **options: object) -> tuple[Sample, ...]:
    (samples,) = language_model(models).complete([asked], a_run(**options), step="try")  # type: ignore[arg-type]
    return samples


def test_the_same_seed_gives_the_same_text_alone_and_in_a_batch(tiny: Path) -> None:
    first, again = replies(tiny, CALL), replies(tiny, CALL)
    texts = [reply.text for reply in first.replies]
    assert texts == [reply.text for reply in again.replies]
    assert len(set(texts)) == 3
    for number, text in enumerate(texts):
        alone = replies(tiny, replace(CALL, n=1, seed=CALL.seed + number))
        assert alone.replies[0].text == text


def test_without_temperature_the_likeliest_is_said_whatever_the_seed(tiny: Path) -> None:
    call = replace(CALL, temperature=0.0, logprobs=1)
    one, other = replies(tiny, call), replies(tiny, replace(call, seed=99))
    assert {r.text for r in one.replies} == {r.text for r in other.replies}
    assert len(one.replies) == 3
    assert all(token.token == token.likeliest[0][0] for token in one.replies[0].logprobs)


@pytest.mark.parametrize("text", ["How many Größen?", "columns " * 200])
def test_it_says_what_the_library_says_without_temperature(tiny: Path, text: str) -> None:
    """The longer prompt is read in pieces."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = (
        kind.from_pretrained(str(tiny), local_files_only=True)
        for kind in (AutoModelForCausalLM, AutoTokenizer)
    )
    form = [{"role": "user", "content": text}]
    prompt = tokenizer.apply_chat_template(form, tokenize=False, add_generation_prompt=True)
    tokens = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        whole = model.generate(tokens, max_new_tokens=24, do_sample=False)
    expected = tokenizer.decode(whole[0, tokens.shape[1] :], skip_special_tokens=True)
    call = replace(CALL, messages=(PlainMessage("user", text),), n=1, temperature=0.0)
    said = replies(tiny, call)
    assert said.replies[0].text == expected
    assert said.prompt_tokens == tokens.shape[1]


def test_a_reply_ends_at_an_end_token_or_its_limit(endings: Path) -> None:
    call = replace(CALL, n=8, max_tokens=12)
    found = replies(endings, call).replies
    assert {reply.finish for reply in found} == {"stop", "length"}
    for reply in found:
        assert not set(reply.text) & set(CAPITALS)
        assert reply.reply_tokens == 12 or reply.finish == "stop"


def test_tokens_are_counted_and_the_prompt_once(tiny: Path) -> None:
    done = replies(tiny, CALL)
    assert [reply.reply_tokens for reply in done.replies] == [24] * 3
    assert done.reply_tokens == 72
    assert [reply.prompt_tokens for reply in done.replies] == [done.prompt_tokens, 0, 0]


def test_log_probabilities_are_those_of_the_tokens(tiny: Path) -> None:
    done = replies(tiny, replace(CALL, logprobs=20))
    for reply in done.replies:
        assert len(reply.logprobs) == 24
        for token in reply.logprobs:
            assert token.logprob < 0
            best = [logprob for _, logprob in token.likeliest]
            assert len(best) == 20
            assert best == sorted(best, reverse=True)
            assert token.logprob <= best[0]
            assert 20 / 258 < sum(map(exp, best)) < 1  # more than an equal share of them all
    assert not replies(tiny, CALL).replies[0].logprobs
    assert replies(tiny, replace(CALL, logprobs=0)).replies[0].logprobs[0].likeliest == ()


def test_sampling_follows_the_probabilities(tiny: Path) -> None:
    """Of 2,000 first tokens the likeliest five come about as often as they should."""
    done = replies(tiny, replace(CALL, n=2_000, max_tokens=1, logprobs=5, temperature=0.05))
    cool = replies(tiny, replace(CALL, n=1, max_tokens=1, logprobs=20))
    scores = dict(cool.replies[0].logprobs[0].likeliest)
    weights = {token: exp(score / 0.05) for token, score in scores.items()}
    first, second = list(weights)[:2]
    drawn = [reply.logprobs[0].token for reply in done.replies]
    ratio = drawn.count(first) / max(drawn.count(second), 1)
    assert ratio == pytest.approx(weights[first] / weights[second], rel=0.25)


def test_a_chat_template_that_knows_no_system_is_told_it_by_the_user(tmp_path: Path) -> None:
    strict = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('none') }}{% endif %}"
        "<start>{{ m.role }}: {{ m.content }}\n{% endfor %}<start>assistant: "
    )
    folder = save_tiny(tmp_path / "strict", template=strict)
    merged = (PlainMessage("user", "Write SQL.\n\nHow many Größen?"),)
    assert replies(folder, CALL).replies == replies(folder, replace(CALL, messages=merged)).replies


def test_without_a_chat_template_the_texts_stand_as_they_are(tmp_path: Path) -> None:
    done = replies(save_tiny(tmp_path / "bare", template=None), CALL)
    assert done.prompt_tokens == len("Write SQL.\n\nHow many Größen?".encode())


def test_a_template_that_fails_is_said(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "failing", template="{{ raise_exception('never') }}")
    with pytest.raises(EndpointError, match="chat template") as caught:
        replies(folder, CALL)
    assert not caught.value.retryable


def test_a_thought_is_no_part_of_the_reply(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "thinking", thinks=True, ends=None)
    done = replies(folder, replace(CALL, n=8, max_tokens=200, logprobs=0))
    thought = [reply for reply in done.replies if reply.reasoning_tokens]
    assert 0 < len(thought) < 8
    assert sum(reply.reasoning_tokens for reply in thought) == done.reasoning_tokens
    for reply in done.replies:
        assert "</think>" not in reply.text
        assert len(reply.logprobs) == reply.reply_tokens - reply.reasoning_tokens


def test_an_effort_switches_on_thinking_where_the_template_knows_that(tmp_path: Path) -> None:
    template = "{% if enable_thinking %}think{% endif %}!"
    folder = save_tiny(tmp_path / "switch", template=template)
    efforts: tuple[Effort | None, ...] = (None, "none", "low")
    assert [replies(folder, replace(CALL, reasoning=each)).prompt_tokens for each in efforts] == [
        1,
        1,
        6,
    ]


def test_weights_that_are_not_whole_are_refused(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "part"
    shutil.copytree(tiny, folder)
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("model.layers.1.mlp.up_proj.weight")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(EndpointError, match="aren't whole"):
        replies(folder, CALL)


@pytest.mark.parametrize("content", [b"", b"x" * 1000])
def test_damaged_weights_are_refused(tiny: Path, tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(tiny, folder)
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(EndpointError, match="can't be loaded"):
        replies(folder, CALL)


def test_no_code_of_the_folder_is_run(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own-code"
    shutil.copytree(tiny, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "mine",
        "auto_map": {"AutoConfig": "mine.Mine", "AutoModelForCausalLM": "mine.Mine"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    with pytest.raises(EndpointError, match="can't be loaded"):
        replies(folder, CALL)
    assert not (tmp_path / "ran").exists()


def test_through_the_gate_all_samples_cost_nothing(models: Models) -> None:
    events = Events()
    samples = ask(models, request("a", "b", n=3, temperature=1.0, max_tokens=12), events=events)
    assert [type(sample) for sample in samples] == [Reply] * 3
    (call,) = events.calls
    assert call.cost == 0
    assert call.reply_tokens == sum(s.reply_tokens for s in samples if isinstance(s, Reply))
    assert context_tokens(language_model(models), a_run()) == CONTEXT


def test_stored_values_may_be_shown_to_it(models: Models) -> None:
    events = Events()
    shown = Request((Message("user", Text.of("Oakland", "value")),), max_tokens=12)
    samples = ask(models, shown, privacy="schema-only", events=events)
    assert str(events.calls[0].messages[0].text) == "Oakland"
    assert isinstance(samples[0], Reply)
    assert not language_model(models).capabilities.remote


def test_a_deadline_ends_a_generation(endless: Path) -> None:
    models = Models({}, LlmOptions(f"weights/{endless}"))
    enough = {"max_tokens": 4, "is_whole": lambda text: True}
    assert isinstance(ask(models, request("a", **enough))[0], Reply)
    samples = ask(models, request("b", max_tokens=15_000), seconds=0.5)
    assert is_missing(samples[0], "cancelled")
    # The thread is free again: another question isn't kept waiting for what nobody reads.
    assert isinstance(ask(models, request("c", **enough), seconds=10)[0], Reply)
    models.close()


def test_a_stop_ends_a_generation_before_its_limit(endless: Path) -> None:
    from sqlwright.llm.vendors.weights import Weights

    weights, stop = Weights(endless, ""), threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(EndpointError, match="stopped"):
        weights.reply(replace(CALL, max_tokens=15_000), stop, context=CONTEXT)


def test_a_prompt_that_is_too_long_for_it_is_refused(tiny: Path) -> None:
    from sqlwright.llm.vendors.weights import Weights

    with pytest.raises(EndpointError, match="context of 20"):
        Weights(tiny, "").reply(CALL, threading.Event(), context=20)


def test_sessions_share_what_is_loaded(tiny: Path) -> None:
    """Threads of two sessions at once."""
    seen: list[Sample] = []
    both = [Models({}, LlmOptions(f"weights/{tiny}")) for _ in range(2)]
    threads = [
        threading.Thread(target=lambda m=m: seen.extend(ask(m, request("a", max_tokens=8))))
        for m in both
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in both:
        each.close()
    assert len({sample.text for sample in seen if isinstance(sample, Reply)}) == 1
    assert len(seen) == 4
    assert not any(isinstance(sample, Missing) for sample in seen)


@pytest.mark.slow
def test_the_recipe_msc_runs_over_three_folders(
    database_files: dict[str, Path], tiny: Path, endings: Path, tmp_path: Path
) -> None:
    """Their replies are rubbish; the recipe asks them all and answers by other means."""
    third = save_tiny(tmp_path / "third", seed=3, ends=CAPITALS)
    named = {"first": tiny, "second": endings, "third": third}
    entries = {
        name: ModelOptions(f"weights/{folder}", reply_tokens=24) for name, folder in named.items()
    }
    with api.open(
        database_files["shop"],
        recipe="msc",
        llm=LlmOptions("first", models=entries),
        overrides=[
            "generation.direct[2].sampling.model=second",
            "generation.direct[3].sampling.model=third",
        ],
        home=tmp_path / "home",
    ) as session:
        answer = session.ask("Which customers are from Germany?")
    assert answer.sql
    assert answer.usage.calls >= 3
    assert answer.usage.cost == 0


def test_nothing_is_sent_and_nothing_left_behind(
    database_files: dict[str, Path], endings: Path, tmp_path: Path
) -> None:
    words = ["ask", "-r", "baseline", "-m", f"weights/{endings}", str(database_files["shop"])]
    seen = watch(tmp_path / "watched", [*words, "How many customers are there?"])
    assert "it holds no SQL" in seen.out, seen.errors
    assert seen.heard == ()
    assert seen.sockets == ()
    assert [name for name in seen.files if "sqlwright" not in name] == []
