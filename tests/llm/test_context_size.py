"""The context size of a model is asked of its server, where that tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sqlwright.llm.gate import GatedModel
from sqlwright.llm.keeping.recording import read_recording
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.protocols import LanguageModel, TellsContext, context_tokens
from sqlwright.spending import Budget
from tests.llm.gates import a_run, request
from tests.llm.server import Asked, ModelServer


def listed(**entry: Any) -> Mapping[str, Any]:
    return {"/v1/models": {"data": [{"id": "m", **entry}]}}


SHOWN = {"parameters": 'stop "x"\nnum_ctx    6144', "model_info": {"q.context_length": 40_960}}
UNSET = {"parameters": "stop x", "model_info": {"q.context_length": 40_960}}
SMALL = {"model_info": {"q.context_length": 2_048}}


def running(*models: tuple[str, int]) -> Mapping[str, Any]:
    return {"models": [{"model": name, "context_length": size} for name, size in models]}


def of_ollama(size: str) -> Mapping[str, Any]:
    entry = {"model": "m", "context_length": 8_192, "details": {"parameter_size": size}}
    return {"models": [entry]}


@contextmanager
def model(
    server: ModelServer, name: str = "vllm/m", path: str = "/v1", **options: Any
) -> Iterator[LanguageModel]:
    own = ModelOptions(name, f"{server.origin}{path}", **options)
    models = Models({}, LlmOptions("m", models={"m": own}), environ={"K": "q9ZtL2vB7mK4xW8sR1nY"})
    try:
        made = models["llm"]
        assert isinstance(made, LanguageModel)
        yield made
    finally:
        models.close()


TOLD: list[tuple[str, str, Mapping[str, Any], int]] = [
    # vLLM
    ("vllm/m", "max_model_len", listed(max_model_len=3), 3),
    (
        "vllm/m",
        "of several",
        {
            "/v1/models": {
                "data": [{"id": "n", "max_model_len": 3}, {"id": "m", "max_model_len": 4}]
            }
        },
        4,
    ),
    # llama.cpp
    ("llamacpp/m", "props", {"/props": {"default_generation_settings": {"n_ctx": 4_608}}}, 4_608),
    ("llamacpp/m", "props of old", {"/props": {"n_ctx": 4_608}}, 4_608),
    (
        "openai-compatible/m",
        "a llama.cpp that isn't called one",
        {
            "/v1/models": {"data": [{"id": "x.gguf", "owned_by": "llamacpp"}]},
            "/props": {"default_generation_settings": {"n_ctx": 1_024}},
        },
        1_024,
    ),
    (
        "openai-compatible/m",
        "n_ctx",
        listed(meta={"n_ctx": 9}),
        9,
    ),
    # Ollama: what it gave the model, then what the model asks for, then what it gives at least
    ("ollama/m", "loaded", {"/api/ps": running(("o", 1), ("m:latest", 5_000))}, 5_000),
    ("ollama/m", "asked for", {"/api/ps": running(("o", 1)), "/api/show": SHOWN}, 6_144),
    ("ollama/m", "least", {"/api/ps": running(), "/api/show": UNSET}, 4_096),
    ("ollama/m", "a small one", {"/api/ps": running(), "/api/show": SMALL}, 2_048),
    # LM Studio
    (
        "lmstudio/m",
        "loaded",
        {"/api/v0/models/m": {"max_context_length": 9_000, "loaded_context_length": 7_000}},
        7_000,
    ),
    # Nobody tells, or nonsense
    ("llamacpp/m", "silent", {}, 8_192),
    (
        "vllm/m",
        "nonsense",
        listed(max_model_len="many"),
        128_000,
    ),
    (
        "vllm/m",
        "below nothing",
        listed(max_model_len=-4),
        128_000,
    ),
    ("vllm/m", "a list", {"/v1/models": [1, 2]}, 128_000),
    ("vllm/m", "elsewhere", {"/v1/models": "redirect"}, 128_000),
]


@pytest.mark.parametrize(
    ("name", "told", "size"),
    [(name, told, size) for name, _, told, size in TOLD],
    ids=[f"{name} {what}" for name, what, _, _ in TOLD],
)
def test_a_server_is_asked_for_its_context(name: str, told: Mapping[str, Any], size: int) -> None:
    with ModelServer() as other, ModelServer(told=told, redirect_to=other.origin) as server:
        with model(server, name, key_env="K") as asked:
            assert isinstance(asked, TellsContext)
            assert not server.looked_up
            assert context_tokens(asked, a_run()) == size
            assert asked.capabilities.context_tokens == size
            many = len(server.looked_up)
            assert context_tokens(asked, a_run()) == size
            assert len(server.looked_up) == many
        assert not other.looked_up
        assert not server.seen
        if name != "ollama/m":
            assert all("q9ZtL2" in each.headers["authorization"] for each in server.looked_up)


PROPS = {"/props": {"default_generation_settings": {"n_ctx": 4_608}}}


@pytest.mark.parametrize(
    ("name", "told", "options", "small"),
    [
        ("llamacpp/m", {**listed(meta={"n_params": 630_167_424}), **PROPS}, (), True),
        ("openai-compatible/m", listed(meta={"n_ctx": 9, "n_params": 1_543_714_304}), (), True),
        ("openai-compatible/m", listed(meta={"n_ctx": 9, "n_params": 7_615_616_512}), (), False),
        ("openai-compatible/m", listed(meta={"n_ctx": 9, "n_params": "few"}), (), False),
        ("openai-compatible/m", listed(max_model_len=9), (), False),
        ("openai-compatible/m", listed(meta={"n_params": 5}), (("small", False),), False),
        ("openai-compatible/m", {}, (("small", True),), True),
        ("ollama/m", {"/api/ps": of_ollama("494.03M")}, (), True),
        ("ollama/m", {"/api/ps": of_ollama("7.6B")}, (), False),
        ("ollama/m", {"/api/ps": of_ollama("some")}, (), False),
        ("ollama/m", {"/api/show": {**UNSET, "details": {"parameter_size": "1.5B"}}}, (), True),
    ],
)
def test_a_small_model_is_known_by_its_weights(
    name: str, told: Mapping[str, Any], options: tuple[tuple[str, bool], ...], small: bool
) -> None:
    with ModelServer(told=told) as server, model(server, name, capabilities=options) as asked:
        assert asked.capabilities.small == bool(options and options[0][1])
        context_tokens(asked, a_run())
        assert asked.capabilities.small == small


def test_ollama_tells_once_the_model_is_loaded() -> None:
    loaded: list[str] = []

    def load(body: Mapping[str, Any]) -> Mapping[str, Any]:
        loaded.append(body["model"])
        return {"done": True}

    told = {
        "/api/ps": lambda _: running(*((name, 32_768) for name in loaded)),
        "/api/show": UNSET,
        "/api/generate": load,
    }
    with ModelServer(told=told) as server, model(server, "ollama/m") as asked:
        assert context_tokens(asked, a_run()) == 32_768
        assert loaded == ["m"]


def test_what_the_user_says_is_not_asked_for() -> None:
    told = listed(max_model_len=3)
    with ModelServer(told=told) as server:
        for options in ({"context_tokens": 77}, {"capabilities": (("context_tokens", 77),)}):
            with model(server, **options) as asked:
                assert context_tokens(asked, a_run()) == 77
        assert not server.looked_up


def test_a_vendor_is_not_asked() -> None:
    with ModelServer() as server:
        with model(server, "openrouter/openai/gpt-4.1") as asked:
            assert context_tokens(asked, a_run()) == asked.capabilities.context_tokens
        assert not server.looked_up


def test_openais_name_at_another_address_is_not_openais() -> None:
    told = listed(max_model_len=3_000)
    with ModelServer(told=told) as server, model(server, "openai/m") as asked:
        assert context_tokens(asked, a_run()) == 3_000
        assert asked.name == "m (openai-compatible/m)"
        assert not asked.capabilities.n
        assert not asked.capabilities.json_schema
        assert isinstance(asked, GatedModel)
        assert asked.price is None


def test_one_that_does_not_answer_is_asked_once_a_question() -> None:
    with ModelServer() as gone:
        pass
    with model(gone) as asked:
        run = a_run()
        assert context_tokens(asked, run) == context_tokens(asked, run) == 128_000


def test_a_question_that_ended_does_not_wait_for_it() -> None:
    told = listed(max_model_len=3)
    with ModelServer(told=told) as server, model(server) as asked:
        ended = a_run()
        ended.cancelled.set()
        assert context_tokens(asked, ended) == 128_000
        assert context_tokens(asked, a_run()) == 3


def test_a_recording_remembers_the_size(tmp_path: Path) -> None:
    told = {"/v1/models": {"data": [{"id": "m", "max_model_len": 5_000}]}}
    path = tmp_path / "calls.jsonl"
    with ModelServer(told=told) as server:
        models = Models({}, LlmOptions("vllm/m", server.url, record=path))
        try:
            asked = models["llm"]
            assert isinstance(asked, LanguageModel)
            assert context_tokens(asked, a_run()) == 5_000
            asked.complete([request("hi")], a_run(), step="s")
        finally:
            models.close()
    assert read_recording(path).models["vllm/m"].context_tokens == 5_000
    played = Models({}, LlmOptions(replay=path))["llm"]
    assert isinstance(played, LanguageModel)
    assert context_tokens(played, a_run()) == 5_000


HOLDING = {"type": "object", "properties": {"colour": {"type": "string"}}}
KEPT = '{"colour": "q7-violet-anvil"}'


@pytest.mark.parametrize("name", ["openai-compatible/m", "llamacpp/m"])
@pytest.mark.parametrize(
    ("probed", "holds"), [(KEPT, True), ("Blue.", False), ('{"colour": "blue"}', False)]
)
def test_a_server_is_seen_to_hold_replies_to_a_schema(name: str, probed: str, holds: bool) -> None:
    told = {**listed(owned_by="llamacpp"), **PROPS}
    with ModelServer(told=told, answer=lambda _: probed) as server, model(server, name) as asked:
        run = a_run()
        for _ in range(2):
            asked.complete([request("q", reply_schema=HOLDING)], run, step="s")
        sent = ["response_format" in each.body for each in server.seen]
        assert sent == [True, holds, holds]
        assert asked.capabilities.json_schema == holds
        assert run.spending.total.calls == 3
        assert server.seen[0].body["response_format"]["json_schema"]["schema"]["required"]


def refuses_schema(asked: Asked) -> str:
    return "says:json_schema is not supported" if "response_format" in asked.body else ""


def test_a_server_that_refuses_a_schema_holds_none() -> None:
    told = {**listed(owned_by="llamacpp"), **PROPS}
    with ModelServer(told=told, answer=lambda _: "Blue.", faults=refuses_schema) as server:
        with model(server, "openai-compatible/m") as asked:
            ((sample,),) = asked.complete([request("q", reply_schema=HOLDING)], a_run(), step="s")
        assert sample.text == "Blue."  # type: ignore[union-attr]
        assert not asked.capabilities.json_schema


@pytest.mark.parametrize(
    ("told", "options", "calls"),
    [({}, (), None), ({"/props": {"n_ctx": 9_000}}, (("json_schema", True),), None),
     ({"/props": {"n_ctx": 9_000}}, (), 4)],
)  # fmt: skip
def test_a_server_is_not_tried_out(
    told: Mapping[str, Any], options: tuple[tuple[str, bool], ...], calls: int | None
) -> None:
    """One that tells nothing of itself, one of which the user told, and with few calls left."""
    with ModelServer(told=told, answer=lambda _: "Blue.") as server:
        with model(server, "llamacpp/m", capabilities=options) as asked:
            run = a_run(Budget(calls=calls))
            asked.complete([request("q", reply_schema=HOLDING)], run, step="s")
        assert ["response_format" in each.body for each in server.seen] == [True]


def test_no_server_is_tried_out_where_no_schema_is_wanted() -> None:
    told = {**listed(owned_by="llamacpp"), **PROPS}
    with ModelServer(told=told, answer=lambda _: "Blue.") as server, model(server) as asked:
        asked.complete([request("q")], a_run(), step="s")
        assert len(server.seen) == 1


def test_a_recording_knows_what_was_found_out_in_between(tmp_path: Path) -> None:
    told = {**listed(owned_by="llamacpp", meta={"n_params": 5, "n_ctx": 4_608}), **PROPS}
    asking = [request("q"), request("r", reply_schema=HOLDING)]
    path = tmp_path / "calls.jsonl"
    with ModelServer(told=told, answer=lambda _: KEPT) as server:
        for options in (LlmOptions("openai-compatible/m", server.url, record=path),
                        LlmOptions("openai-compatible/m", replay=path)):  # fmt: skip
            models = Models({}, options)
            try:
                asked = models["llm"]
                assert isinstance(asked, LanguageModel)
                for one in asking:
                    ((sample,),) = asked.complete([one], a_run(), step="s")
                    assert sample.text == KEPT  # type: ignore[union-attr]
                assert asked.capabilities.json_schema
                assert asked.capabilities.small
            finally:
                models.close()
        assert len(server.seen) == 3
