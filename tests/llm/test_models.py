"""Models by name: providers, keys that go to their own hosts only, prices, replays."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.errors import ConfigError
from sqlwright.llm.keeping.recording import Recorder
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.prices import FREE, load_prices
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.llm.vendors.services import bound_keys, price_of, service_for, split_name
from sqlwright.protocols import Context, LanguageModel
from sqlwright.spending import Budget
from tests.llm.gates import a_run, gate, request, texts
from tests.llm.server import ModelServer

KEYS = {"OPENAI_API_KEY": "sk-canary-openai", "ANTHROPIC_API_KEY": "sk-canary-anthropic"}


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("openai/gpt-4.1", "openai", "gpt-4.1"),
        ("openai:gpt-4.1", "openai", "gpt-4.1"),
        ("ollama/qwen2.5-coder:7b", "ollama", "qwen2.5-coder:7b"),
        ("openrouter/anthropic/claude-sonnet-5", "openrouter", "anthropic/claude-sonnet-5"),
        ("openai-compatible/mine", "openai-compatible", "mine"),
    ],
)
def test_a_name_is_provider_and_model(name: str, provider: str, model: str) -> None:
    found, rest = split_name(name)
    assert (found.name, rest) == (provider, model)


@pytest.mark.parametrize("name", ["gpt-4.1", "nobody/gpt", "openai/", "/gpt", ""])
def test_a_name_that_does_not_fit_is_refused_with_the_providers(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        split_name(name)
    assert "openai" in caught.value.hint
    assert "anthropic" in caught.value.hint


def test_a_recipe_that_needs_a_model_says_how_to_name_one() -> None:
    with pytest.raises(ConfigError) as caught:
        Models({})["llm"]
    assert "-m provider/model" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "options", "environ", "sent"),
    [
        ("openai/m", LlmOptions(), KEYS, "sk-canary-openai"),
        ("anthropic/m", LlmOptions(), KEYS, "sk-canary-anthropic"),
        # Another address, from an option or a project file, gets no vendor's key.
        ("openai/m", LlmOptions("openai/m", "https://evil.example/v1"), KEYS, None),
        ("openai/m", LlmOptions("openai/m", "http://api.openai.com/v1"), KEYS, None),
        ("openai/m", LlmOptions("openai/m", "https://api.openai.com.evil.example/v1"), KEYS, None),
        ("openai/m", LlmOptions("openai/m", "http://127.0.0.1:9/v1"), KEYS, None),
        ("openai-compatible/m", LlmOptions("", "https://evil.example/v1"), KEYS, None),
        # The user's own environment names address and key together.
        (
            "openai/m",
            LlmOptions(),
            KEYS | {"OPENAI_BASE_URL": "https://proxy.example/v1"},
            "sk-canary-openai",
        ),
        (
            "openai-compatible/m",
            LlmOptions("", "https://LLM.example/v1"),
            {"SQLWRIGHT_KEYS": "other.example=no llm.example=yes"},
            "yes",
        ),
        (
            "openai-compatible/m",
            LlmOptions("", "https://evil.example/v1"),
            {"SQLWRIGHT_KEYS": "llm.example=yes"},
            None,
        ),
        # The base URL belongs to the model that is asked by default, not to the others.
        (
            "anthropic/m",
            LlmOptions("openai/m", "https://evil.example/v1"),
            KEYS,
            "sk-canary-anthropic",
        ),
    ],
)
def test_a_key_goes_to_its_own_host_only(
    name: str, options: LlmOptions, environ: dict[str, str], sent: str | None
) -> None:
    assert service_for(name, options, environ).sendable_key == sent


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("", (("openai-organization", "org-1"), ("openai-project", "proj-1"))),
        ("https://gateway.example.com/v1", ()),
        ("http://127.0.0.1:8000/v1", ()),
    ],
)
def test_organisation_and_project_are_told_to_their_own_vendor_only(
    url: str, sent: tuple[tuple[str, str], ...]
) -> None:
    environ = {"OPENAI_API_KEY": "k", "OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-1"}
    options = LlmOptions("openai/gpt-x", url)
    assert service_for(options.model, options, environ).sendable_headers == sent


def test_an_address_with_a_password_in_it_is_refused_without_repeating_it() -> None:
    options = LlmOptions("openai/m", "https://api.openai.com:canary@evil.example/v1")
    with pytest.raises(ConfigError) as caught:
        Models({}, options, environ=KEYS)["llm"]
    assert "canary" not in f"{caught.value}{caught.value.hint}"


@pytest.mark.parametrize("text", ["canary", "=canary", "host=", "https://host=canary"])
def test_keys_bound_wrongly_are_told_without_repeating_them(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        bound_keys({"SQLWRIGHT_KEYS": f"a.example=b {text}"})
    assert "entry 2" in str(caught.value)
    assert "canary" not in f"{caught.value}{caught.value.hint}"


def test_a_missing_key_and_a_missing_address_are_told_when_the_model_is_made() -> None:
    with pytest.raises(ConfigError) as caught:
        Models({}, LlmOptions("openai/gpt-4.1"))["llm"]
    assert "OPENAI_API_KEY" in f"{caught.value} {caught.value.hint}"
    with pytest.raises(ConfigError, match="base URL"):
        Models({}, LlmOptions("openai-compatible/m"))["llm"]


@pytest.mark.parametrize("name", ["ollama/m", "vllm/m", "llamacpp/m", "lmstudio/m"])
def test_servers_on_this_machine_need_no_key_and_cost_nothing(name: str) -> None:
    models = Models({}, LlmOptions(name, budget=Budget(cost=0.01)))
    try:
        assert models["llm"].name == name
        assert not models["llm"].capabilities.remote
        assert price_of(service_for(name, LlmOptions(), {}), load_prices()) == FREE
    finally:
        models.close()


def test_what_a_server_can_do_is_the_users_word_but_not_where_it_is() -> None:
    told = (("n", True), ("remote", False))
    options = LlmOptions("openai-compatible/m", "https://llm.example/v1", capabilities=told)
    models = Models({}, options)
    can = models["llm"].capabilities
    assert (can.n, can.remote) == (True, True)
    assert not Models({}, options)["ollama/m"].capabilities.n


def test_the_user_says_where_a_gateway_or_a_server_of_their_own_is() -> None:
    here, there = "http://localhost:4000", "http://10.0.0.5:8000/v1"
    for url, remote, expected in [
        (here, None, False),
        (here, True, True),
        (there, None, True),
        (there, False, False),
    ]:
        options = LlmOptions("openai-compatible/m", url, remote=remote)
        assert Models({}, options)["llm"].capabilities.remote is expected
    gateway = LlmOptions("openai-compatible/m", here, remote=True)
    assert Models({}, gateway)["ollama/other"].capabilities.remote
    own = LlmOptions("openai-compatible/m", there, remote=False)
    assert Models({}, own)["vllm/m"].capabilities.remote is False  # it is on loopback
    vendors = LlmOptions("openai/m", remote=False)
    with pytest.raises(ConfigError, match=r"is at its vendor's, api\.openai\.com, which"):
        Models({}, vendors, environ={"OPENAI_API_KEY": "x"})["llm"]


def test_a_local_gateway_may_cost_something_so_its_price_is_unknown() -> None:
    options = LlmOptions("openai-compatible/m", "http://localhost:4000")
    assert price_of(service_for(options.model, options, {}), load_prices()) is None
    elsewhere = LlmOptions("vllm/m", "https://gpu.example/v1")
    assert price_of(service_for(elsewhere.model, elsewhere, {}), load_prices()) is None


def test_a_budget_of_money_needs_a_price_and_says_how_to_give_one(tmp_path: Path) -> None:
    options = LlmOptions(
        "openai-compatible/mine", "http://127.0.0.1:9/v1", budget=Budget(cost=0.05)
    )
    with pytest.raises(ConfigError) as caught:
        Models({}, options)["llm"]
    assert '[models."openai-compatible/mine"]' in caught.value.hint
    own = tmp_path / "prices.toml"
    own.write_text('[models."openai-compatible/mine"]\nprompt = 1\nreply = 2\n')
    priced = LlmOptions(options.model, options.base_url, budget=options.budget, prices=own)
    models = Models({}, priced)
    assert models["llm"].name == "openai-compatible/mine"
    models.close()


def test_models_are_made_once_and_found_by_role_or_name() -> None:
    linker, double = object(), ScriptedModel(Script(otherwise="x"))
    models = Models({"linker": linker, "scripted/model": double}, LlmOptions("ollama/m"))
    try:
        assert models["linker"] is linker
        assert models["scripted/model"] is double
        assert models["llm"] is models["ollama/m"] is models["ollama:m"]
        assert set(models) == {"linker", "scripted/model", "llm"}
        assert "critic" not in models
        context = Context(None, a_run(), models)  # type: ignore[arg-type]
        assert context.llm("scripted/model") is double
        assert isinstance(context.llm(), LanguageModel)
    finally:
        models.close()
        models.close()


def test_a_double_of_the_default_model_needs_no_name() -> None:
    double = ScriptedModel(Script(otherwise="x"))
    assert Models({"llm": double})["llm"] is double


def test_a_replay_needs_neither_key_nor_name_nor_network(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with gate("recorded", recorder=Recorder(path)) as (model, _):
        model.complete([request("q")], a_run(), step="s")
    models = Models({}, LlmOptions(replay=path))
    assert models.default == "scripted/model"
    assert texts(models["llm"].complete([request("q")], a_run(), step="s")[0]) == ["recorded"]
    other = Models({}, LlmOptions("openai/gpt-4.1", replay=path))
    assert texts(other["llm"].complete([request("q")], a_run(), step="s")[0]) == ["!unrecorded"]


def test_a_real_server_is_asked_recorded_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    asked = [request("one", n=3, temperature=0.5), request("system", "two")]
    with ModelServer() as server:
        options = LlmOptions("openai-compatible/m", server.url, record=path)
        models = Models({}, options, cache=tmp_path / "kept")
        run = a_run()
        first = models["llm"].complete(asked, run, step="s")
        models.close()
        again = Models({}, options, cache=tmp_path / "kept")
        kept = again["llm"].complete(asked, a_run(), step="s")
        again.close()
        assert len(server.seen) == run.spending.total.calls == 4
        assert {asked.body["model"] for asked in server.seen} == {"m"}
    played = Models({}, LlmOptions(replay=path))["llm"].complete(asked, a_run(), step="s")
    assert texts(first[0]) == ["echo 0: one", "echo 1: one", "echo 2: one"]
    assert (
        [texts(samples) for samples in first]
        == [texts(samples) for samples in kept]
        == [texts(samples) for samples in played]
    )
    assert run.spending.total.cost is None
    assert run.spending.total.prompt_tokens > 0
