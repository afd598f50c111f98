"""Several models in one run, each at an address of its own with a key and limits of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.llm.prices import load_prices
from sqlwright.llm.vendors.services import price_of, service_for
from sqlwright.protocols import LanguageModel
from sqlwright.settings.loading import load_settings
from sqlwright.spending import Budget
from sqlwright.types import Answer
from tests.llm.gates import a_run, request, texts
from tests.llm.server import ModelServer, always

SMALL_KEY = "q9ZtL2vB7mK4xW8sR1nY"
BIG_KEY = "Xk3PwJ6uT0aQ5hD2gVeM"
KEYS = {"SMALL_KEY": SMALL_KEY, "BIG_KEY": BIG_KEY}
SQL = "SELECT count(*) FROM customers"
TWO = """
name: two
steps:
  - retrieval.values
  - parallel:
      - tests.llm.asking:AskPlainly: {model: small, n: 1}
      - tests.llm.asking:AskPlainly: {model: big, n: 1}
  - repair.execution_guided
  - selection.first_valid
"""


def two(small: ModelServer, big: ModelServer) -> Mapping[str, ModelOptions]:
    return {
        "small": ModelOptions("openai-compatible/tiny", small.url, key_env="SMALL_KEY"),
        "big": ModelOptions("openai-compatible/large", big.url, key_env="BIG_KEY"),
    }


def ask(
    folder: Path, database: Path, models: Mapping[str, ModelOptions], **options: object
) -> tuple[Answer, str]:
    """The answer, and all that was written meanwhile."""
    recipe = folder / "two.yaml"
    recipe.write_text(TWO)
    with api.open(
        database,
        recipe=recipe,
        allow_code=True,
        llm=LlmOptions(models=models, record=folder / "calls.jsonl", **options),  # type: ignore[arg-type]
        environ=KEYS,
        home=folder / "home",
    ) as session:
        answer = session.ask("How many customers are there?")
    kept = [path for path in folder.rglob("*") if path.suffix in {".json", ".jsonl"}]
    assert len(kept) >= 2
    return answer, "".join(path.read_text("utf-8") for path in kept)


def test_each_model_is_asked_at_its_own_address_with_its_own_key(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    with ModelServer(answer=lambda _: SQL) as small, ModelServer(answer=lambda _: SQL) as big:
        answer, kept = ask(tmp_path, database_files["shop"], two(small, big))
        assert answer.rows == ((4,),)
        for server, model, key, other in (
            (small, "tiny", SMALL_KEY, BIG_KEY),
            (big, "large", BIG_KEY, SMALL_KEY),
        ):
            assert [asked.body["model"] for asked in server.seen] == [model]
            assert [asked.headers["authorization"] for asked in server.seen] == [f"Bearer {key}"]
            assert other not in str(server.seen)
    assert "small (openai-compatible/tiny)" in kept
    assert "big (openai-compatible/large)" in kept
    assert SMALL_KEY not in kept + answer.to_json()
    assert BIG_KEY not in kept + answer.to_json()


@pytest.mark.parametrize("fault", ["unauthorized", "redirect", "bad_request", "html"])
def test_a_key_is_in_no_error_and_follows_no_redirect(
    fault: str, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    with ModelServer(answer=lambda _: SQL) as big:
        with ModelServer(faults=always(fault), redirect_to=big.origin) as small:
            answer, kept = ask(tmp_path, database_files["shop"], two(small, big), retrying=0.01)
            assert small.seen
            assert len(big.seen) == 1
        assert SMALL_KEY not in str(big.seen)
    assert SMALL_KEY not in kept + answer.to_json()
    assert answer.rows == ((4,),)


def test_a_recording_of_two_answers_without_them(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    with ModelServer(answer=lambda _: SQL) as small, ModelServer(answer=lambda _: SQL) as big:
        ask(tmp_path, database_files["shop"], two(small, big))
    played = LlmOptions(replay=tmp_path / "calls.jsonl")
    with api.open(
        database_files["shop"], recipe=tmp_path / "two.yaml", allow_code=True, llm=played
    ) as session:
        assert session.ask("How many customers are there?").rows == ((4,),)


def test_limits_of_an_entry_hold_for_it_and_the_rest_is_as_for_all() -> None:
    own = ModelOptions(
        "vllm/tiny",
        concurrency=2,
        timeout=300.0,
        context_tokens=4_096,
        reply_tokens=700,
        prompt_price=1.0,
        reply_price=2.0,
    )
    options = LlmOptions("small", concurrency=7, retrying=9.0, models={"small": own})
    service = service_for("small", options, {})
    throttle = service.throttle
    assert (throttle.concurrency, throttle.seconds, throttle.retrying) == (2, 300.0, 9.0)
    assert (service.can.context_tokens, service.can.reply_tokens) == (4_096, 700)
    price = price_of(service, load_prices())
    assert price is not None
    assert price.cost(1_000_000, 1_000_000) == 3.0
    assert service_for("vllm/other", options, {}).throttle.concurrency == 7


def test_half_a_price_is_refused() -> None:
    own = {"small": ModelOptions("vllm/tiny", prompt_price=1.0)}
    with pytest.raises(ConfigError, match=r"\[models\.small\].*prompt_price.*reply_price"):
        Models({}, LlmOptions("small", models=own))["llm"]


def test_an_entry_without_a_price_says_what_a_budget_in_money_wants() -> None:
    own = {"small": ModelOptions("vllm/tiny", "http://llm.example.com/v1")}
    with pytest.raises(ConfigError, match="price") as caught:
        Models({}, LlmOptions("small", models=own, budget=Budget(cost=1.0)))["llm"]
    assert "prompt_price = and reply_price = to [models.small]" in caught.value.hint


def test_no_reply_of_an_entry_is_asked_to_be_longer_than_its_limit() -> None:
    with ModelServer(answer=lambda _: SQL) as server:
        own = ModelOptions("openai-compatible/tiny", server.url, reply_tokens=700)
        models = Models({}, LlmOptions("small", models={"small": own}))
        try:
            small = models["llm"]
            assert isinstance(small, LanguageModel)
            for wanted in (400, 4_000):
                small.complete([request("hi", max_tokens=wanted)], a_run(), step="s")
            assert [asked.body["max_tokens"] for asked in server.seen] == [400, 700]
        finally:
            models.close()


def test_an_entry_reasons_and_replies_at_the_length_it_says() -> None:
    with ModelServer(answer=lambda _: SQL) as server:
        each = {
            "small": ModelOptions(
                "vllm/tiny", server.url, reasoning="none", reasoning_tokens=0, verbosity="low"
            ),
            "big": ModelOptions("vllm/large", server.url),
        }
        options = LlmOptions(
            reasoning="high", reasoning_tokens=700, verbosity="medium", models=each
        )
        models = Models({}, options)
        try:
            for name in ("small", "big"):
                model = models[name]
                assert isinstance(model, LanguageModel)
                model.complete([request("hi", max_tokens=100)], a_run(), step="s")
                model.complete([request("hi", max_tokens=100, reasoning="low")], a_run(), step="s")
        finally:
            models.close()
    sent = [asked.body for asked in server.seen if "messages" in asked.body]
    assert [
        (body["model"], body["reasoning_effort"], body["max_tokens"], body["verbosity"])
        for body in sent
    ] == [
        ("tiny", "none", 100, "low"),
        ("tiny", "low", 100, "low"),
        ("large", "high", 800, "medium"),
        ("large", "low", 800, "medium"),
    ]


def test_what_is_said_of_one_model_is_not_said_of_others() -> None:
    """`base_url`, `remote = false` and capabilities of [llm] are those of its own model."""
    options = LlmOptions(
        "openai-compatible/a",
        "https://a.example/v1",
        remote=False,
        capabilities=(("n", True),),
        models={"small": ModelOptions("openai-compatible/b", "https://b.example/v1")},
    )
    service = service_for("small", options, {"SQLWRIGHT_KEYS": "a.example=one b.example=two"})
    assert (service.address, service.sendable_key) == ("https://b.example/v1", "two")
    assert (service.can.remote, service.can.n) == (True, False)
    told = LlmOptions(remote=True, models={"small": ModelOptions("ollama/b")})
    assert service_for("small", told, {}).can.remote


@pytest.mark.parametrize(
    ("model", "base_url", "environ", "sent"),
    [
        # The user's own code says both.
        ("openai-compatible/m", "https://llm.example/v1", {"K": "key"}, "key"),
        ("openai-compatible/m", "http://127.0.0.1:9/v1", {"K": "key"}, "key"),
        ("openai/m", "", {"K": "key", "OPENAI_API_KEY": "other"}, "key"),
        ("openai-compatible/m", "https://llm.example/v1", {"K": "llm.example=key"}, "key"),
        # Without the right host it is no binding, and a key may hold such a mark.
        ("openai-compatible/m", "https://llm.example/v1", {"K": "abc=="}, "abc=="),
    ],
)
def test_a_key_comes_from_the_variable_that_is_named(
    model: str, base_url: str, environ: dict[str, str], sent: str
) -> None:
    own = ModelOptions(model, base_url, key_env="K")
    options = LlmOptions(models={"small": own})
    assert service_for("small", options, environ).sendable_key == sent
    with pytest.raises(ConfigError) as caught:
        Models({}, options, environ={"OPENAI_API_KEY": "canary"})["small"]
    assert "K isn't set" in str(caught.value)
    assert "canary" not in f"{caught.value}{caught.value.hint}"


FILE = """
[models.small]
model = "{model}"
base_url = "{base_url}"
key_env = "K"
"""


@pytest.mark.parametrize(
    ("model", "base_url", "key", "sent"),
    [
        ("openai-compatible/m", "https://evil.example/v1", "canary", None),
        ("openai-compatible/m", "https://evil.example/v1", "llm.example=canary", None),
        ("openai-compatible/m", "https://llm.example/v1", "llm.example=canary", "canary"),
        ("openai-compatible/m", "http://127.0.0.1:9/v1", "canary", "canary"),
        ("openai/m", "", "canary", None),
        ("openai/m", "", "api.openai.com=canary", "canary"),
    ],
)
def test_a_project_file_cannot_say_where_a_key_goes(
    model: str, base_url: str, key: str, sent: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "sqlwright.toml"
    file.write_text(FILE.format(model=model, base_url=base_url))
    environ = {"K": key, "SQLWRIGHT_KEYS": "other.example=no"}
    options = load_settings(environ=environ, folder=tmp_path).llm
    assert service_for("small", options, environ).sendable_key == sent
    if sent is None:
        with pytest.raises(ConfigError) as caught:
            Models({}, options, environ=environ)["small"]
        assert "isn't bound to" in str(caught.value)
        assert "canary" not in f"{caught.value}{caught.value.hint}"
    # Whoever names the file trusts it.
    named = environ | {"SQLWRIGHT_PROJECT": str(file)}
    trusted = load_settings(environ=named, folder=tmp_path).llm
    assert service_for("small", trusted, environ).sendable_key == (sent or key)


@pytest.mark.parametrize(
    ("models", "asked", "says"),
    [
        ({"small": ModelOptions("vllm/m")}, "smal", "no model is called 'smal'"),
        ({"a": ModelOptions("b"), "b": ModelOptions("a")}, "a", "[models.a]"),
        ({"a": ModelOptions("a")}, "a", "write provider/model"),
        ({"a": ModelOptions("nobody/m")}, "a", "unknown provider 'nobody'"),
        ({"a": ModelOptions("openai-compatible/m")}, "a", "needs a base URL"),
        ({"linker": ModelOptions("vllm/m")}, "linker", "'linker'"),
        ({"a/b": ModelOptions("vllm/m")}, "a/b", "'a/b'"),
    ],
)
def test_what_does_not_fit_is_told(models: dict[str, ModelOptions], asked: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Models({}, LlmOptions(models=models))[asked]
    assert says in f"{caught.value} {caught.value.hint}"
    assert caught.value.hint


def test_an_address_for_all_and_an_entry_as_the_model_contradict() -> None:
    own = {"small": ModelOptions("vllm/m")}
    with pytest.raises(ConfigError, match="base_url"):
        Models({}, LlmOptions("small", "http://127.0.0.1:1/v1", models=own))["llm"]


def test_the_project_file_has_a_table_for_each(tmp_path: Path) -> None:
    (tmp_path / "sqlwright.toml").write_text(
        '[llm]\nmodel = "small"\n'
        '[models.small]\nmodel = "ollama/qwen3:4b"\ncontext_tokens = 8192\nreply_tokens = 1000\n'
        "concurrency = 1\nremote = true\nprompt_price = 0.1\nreply_price = 0\n"
        "capabilities = {json_schema = false}\n"
        'reasoning = "low"\nreasoning_tokens = 0\nverbosity = "high"\n'
        '[models.big]\nmodel = "anthropic/claude-x"\ntimeout = 600\n'
    )
    settings = load_settings(folder=tmp_path)
    assert settings.recipe == "chess-ir-ss-cg"
    small, big = settings.llm.models["small"], settings.llm.models["big"]
    assert small == ModelOptions(
        "ollama/qwen3:4b",
        context_tokens=8_192,
        reply_tokens=1_000,
        concurrency=1,
        remote=True,
        prompt_price=0.1,
        reply_price=0.0,
        capabilities=(("json_schema", False),),
        reasoning="low",
        reasoning_tokens=0,
        verbosity="high",
        found=True,
    )
    assert (big.model, big.timeout) == ("anthropic/claude-x", 600.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[models.small]\nmodle = "x/y"\n', "unknown key 'modle'"),
        ("[models.small]\nbase_url = 'http://x'\n", "models.small"),
        ("[models.small]\nmodel = 'vllm/x'\nconcurrency = 0\n", "whole number greater than 0"),
        ("[models.small]\nmodel = 'vllm/x'\ntimeout = 'x'\n", "a number greater than 0"),
        ("[models.small]\nmodel = 'vllm/x'\nreply_price = -1\n", "a number of at least 0"),
        ("[models.small]\nmodel = 'vllm/x'\nremote = 1\n", "true or false"),
        ("[models.small]\nmodel = 5\n", "a text in quotes"),
        ("[models]\nsmall = 'vllm/x'\n", "a table"),
        ("models = 'vllm/x'\n", "a table"),
        ("[models.small]\nmodel = 'vllm/x'\ncapabilities = {n = 3}\n", "true or false"),
        ("[models.small]\nmodel = 'vllm/x'\ncapabilities = {reasoning = 'x'}\n", "true or false"),
        ("[models.small]\nmodel = 'vllm/x'\nreasoning = true\n", "'none' or 'minimal' or 'low'"),
        ("[models.small]\nmodel = 'vllm/x'\nverbosity = 'x'\n", "'low' or 'medium' or 'high'"),
        ("[models.small]\nmodel = 'vllm/x'\nreasoning_tokens = -1\n", "of at least 0, not -1"),
    ],
)
def test_a_table_that_does_not_fit_is_told_with_its_place(
    text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "sqlwright.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(folder=tmp_path)
    assert says in str(caught.value)
    assert "sqlwright.toml" in str(caught.value)
    assert "models" in str(caught.value) or "modle" in str(caught.value)


def test_two_entries_of_one_name_elsewhere_are_two_models(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    """The same model at two servers: replies, and what is kept of them, aren't mixed up."""
    with (
        ModelServer(answer=lambda _: "SELECT 1") as one,
        ModelServer(answer=lambda _: "SELECT 2") as other,
    ):
        models = {
            "small": ModelOptions("openai-compatible/m", one.url),
            "big": ModelOptions("openai-compatible/m", other.url),
        }
        ask(tmp_path, database_files["shop"], models)
        made = Models(
            {},
            LlmOptions(models=models, replay=tmp_path / "calls.jsonl"),
        )
        assert made["small"].name != made["big"].name  # type: ignore[union-attr]
        lines = (tmp_path / "calls.jsonl").read_text("utf-8").splitlines()
        told = [json.loads(line) for line in lines]
        replies = {
            line["request"]["model"]: line["replies"][0]["text"] for line in told if "key" in line
        }
        assert sorted(replies.values()) == ["SELECT 1", "SELECT 2"]
        assert len(one.seen) == len(other.seen) == 1


def test_a_model_asked_under_its_own_name_stays_as_it_was() -> None:
    with ModelServer(answer=lambda _: "yes") as server:
        options = LlmOptions(
            "openai-compatible/m", server.url, models={"small": ModelOptions("vllm/m")}
        )
        models = Models({}, options)
        try:
            model = models["openai-compatible/m"]
            assert isinstance(model, LanguageModel)
            assert model.name == "openai-compatible/m"
            (samples,) = model.complete([request("hi")], a_run(), step="s")
            assert texts(samples) == ["yes"]
        finally:
            models.close()
