"""Vectors from endpoints: the gate before them, and a server on loopback that misbehaves."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlwright.errors import Cancelled, ConfigError, NotEmbedded
from sqlwright.events import TextsEmbedded
from sqlwright.llm.connection import Connection
from sqlwright.llm.embedding import SHARE, GatedEmbedder
from sqlwright.llm.endpoint import EndpointError
from sqlwright.llm.keeping.cache import ReplyCache, forget
from sqlwright.llm.keeping.recording import Recorder, read_recording
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.prices import Price
from sqlwright.llm.scripted import ScriptedEmbeddings
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.vendors.connecting import Service, connect_embeddings
from sqlwright.llm.vendors.providers import PROVIDERS
from sqlwright.protocols import FloatArray, Run, embedder_role
from sqlwright.spending import Budget, parse_budget
from tests.llm.doubles import QUICK
from tests.llm.gates import Events, a_run
from tests.llm.server import Asked, ModelServer, always, constant, drawn, in_order

TEXTS = [f"text {number}" for number in range(10)]
PRICE = Price(prompt=0.02, reply=0.0)


@contextmanager
def embedder(
    endpoint: ScriptedEmbeddings | None = None, **options: Any
) -> Iterator[tuple[GatedEmbedder, ScriptedEmbeddings]]:
    """A gate in front of a scripted endpoint, through the real engine."""
    chosen = endpoint or ScriptedEmbeddings(drawn)
    engine = Engine()
    try:
        options.setdefault("price", PRICE)
        yield GatedEmbedder(chosen.name, Connection(lambda: chosen, engine), **options), chosen
    finally:
        engine.close()


@contextmanager
def served(server: ModelServer, **options: Any) -> Iterator[Models]:
    """All models of a session whose server is ours."""
    models = Models({}, LlmOptions(model="openai-compatible/x", base_url=server.url, **options))
    try:
        yield models
    finally:
        models.close()


def vectors(
    gate: GatedEmbedder, texts: list[str], run: Run | None = None, **bound: Any
) -> FloatArray:
    bound = {"step": "s", "origin": "schema"} | bound
    return gate.bound(run or a_run(), **bound).embed(texts)


def expected(texts: list[str]) -> FloatArray:
    rows = np.array([drawn(text) for text in texts])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def test_texts_get_unit_vectors_in_their_order_over_http() -> None:
    with ModelServer() as server, served(server) as models:
        gate = models[embedder_role("openai-compatible/x")]
        found = vectors(gate, TEXTS)
        assert np.allclose(found, expected(TEXTS), atol=1e-3)
        assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-3)
        assert gate.bound(a_run(), step="s", origin="schema").dimension == 8
        (asked,) = server.seen
        assert asked.path == "/v1/embeddings"
        assert asked.body["input"] == TEXTS
        assert "authorization" not in asked.headers


def test_equal_texts_are_sent_once_and_blank_ones_not_at_all() -> None:
    with embedder() as (gate, endpoint):
        found = vectors(gate, ["a", " ", "b", "a", ""])
        assert endpoint.texts == ["a", "b"]
        assert (found[0] == found[3]).all()
        assert not found[1].any()
        assert vectors(gate, []).shape == (0, 8)
        assert len(endpoint.calls) == 1


def test_as_many_texts_a_request_as_the_endpoint_takes_side_by_side() -> None:
    texts = [f"text {number}" for number in range(600)]
    with ModelServer(latency=constant(0.2)) as server, served(server) as models:
        vectors(models[embedder_role("openai-compatible/x")], texts)
        assert sorted(len(asked.texts) for asked in server.seen) == [88, 256, 256]
        assert server.most_in_flight == 3


def test_a_server_that_takes_fewer_is_sent_fewer_from_then_on() -> None:
    texts = [f"text {number}" for number in range(300)]

    def too_many(asked: Any) -> str:
        return "unprocessable" if len(asked.texts) > 32 else ""

    with ModelServer(faults=too_many) as server, served(server) as models:
        gate = models[embedder_role("openai-compatible/x")]
        assert np.allclose(vectors(gate, texts), expected(texts), atol=1e-3)
        refused = [len(asked.texts) for asked in server.seen if len(asked.texts) > 32]
        vectors(gate, [f"more {number}" for number in range(100)])
        assert [len(asked.texts) for asked in server.seen if len(asked.texts) > 32] == refused
        assert sorted(refused) == [44, 256]


def test_a_request_that_is_simply_wrong_is_given_up_soon() -> None:
    texts = [f"text {number}" for number in range(300)]
    with ModelServer(faults=always("bad_request")) as server, served(server) as models:
        with pytest.raises(NotEmbedded, match="refused"):
            vectors(models[embedder_role("openai-compatible/x")], texts)
        assert len(server.seen) < 10


@pytest.mark.parametrize(
    "fault", ["rate_limit", "server_error", "drop", "cut", "truncated", "html", "few", "many"]
)
def test_a_bad_reply_is_asked_for_again(fault: str) -> None:
    with ModelServer(faults=in_order(fault)) as server:
        service = Service(PROVIDERS["openai-compatible"], "x", base_url=server.url, throttle=QUICK)
        engine = Engine()
        gate = GatedEmbedder("x", Connection(lambda: connect_embeddings(service), engine))
        assert np.allclose(vectors(gate, TEXTS), expected(TEXTS), atol=1e-3)
        engine.close()
        assert len(server.seen) == 2


@pytest.mark.parametrize(
    "row",
    [[math.nan] * 8, [math.inf] * 8, [0.0] * 8, [], [1.0], "a word"],
    ids=["nan", "infinite", "zero", "empty", "another dimension", "no list"],
)
def test_numbers_that_are_no_vector_are_asked_for_again(row: Any) -> None:
    bad = iter([row])

    def vector(text: str) -> Any:
        return next(bad, drawn(text)) if text == TEXTS[3] else drawn(text)

    with ModelServer(vector=vector) as server:
        service = Service(PROVIDERS["openai-compatible"], "x", base_url=server.url, throttle=QUICK)
        engine = Engine()
        gate = GatedEmbedder("x", Connection(lambda: connect_embeddings(service), engine))
        assert np.allclose(vectors(gate, TEXTS), expected(TEXTS), atol=1e-3)
        engine.close()
        assert len(server.seen) == 2


def test_azure_is_spoken_to_as_azure() -> None:
    with ModelServer() as server:
        service = Service(
            PROVIDERS["azure"],
            "mine",
            base_url=server.origin,
            key="canary",
            key_hosts=("127.0.0.1",),
            throttle=QUICK,
        )
        engine = Engine()
        gate = GatedEmbedder("azure/mine", Connection(lambda: connect_embeddings(service), engine))
        vectors(gate, TEXTS)
        engine.close()
        (asked,) = server.seen
        assert asked.path == "/openai/deployments/mine/embeddings?api-version=2024-10-21"
        assert asked.headers["api-key"] == "canary"


@pytest.mark.parametrize("name", ["anthropic/claude-opus-5", "google/gemini-embedding-001"])
def test_a_provider_without_embeddings_is_told_with_those_that_have_them(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Models({}, environ={"ANTHROPIC_API_KEY": "x", "GEMINI_API_KEY": "x"})[embedder_role(name)]
    assert "openai, azure" in caught.value.hint
    assert name in str(caught.value)


def test_a_missing_key_is_told() -> None:
    with pytest.raises(ConfigError, match="needs a key"):
        Models({})[embedder_role("openai/text-embedding-3-small")]


def test_the_paper_s_embedder_has_a_price_and_one_on_this_machine_is_free() -> None:
    options = LlmOptions(budget=Budget(cost=1.0))
    models = Models({}, options, environ={"OPENAI_API_KEY": "x"})
    models[embedder_role("openai/text-embedding-3-small")]
    models[embedder_role("ollama:nomic-embed-text")]
    with pytest.raises(ConfigError, match="price"):
        models[embedder_role("openai/of-unknown-price")]


@pytest.mark.parametrize(
    ("origin", "local_model_saw_values", "remote", "sent"),
    [
        ("value", False, True, False),
        ("model", True, True, False),
        ("model", False, True, True),
        ("question", True, True, True),
        ("schema", True, True, True),
        ("value", False, False, True),
    ],
)
def test_under_schema_only_nothing_of_the_data_leaves(
    origin: str, local_model_saw_values: bool, remote: bool, sent: bool
) -> None:
    run = a_run(privacy="schema-only")
    if local_model_saw_values:
        run.local_model_saw_values.set()
    with embedder(remote=remote) as (gate, endpoint):
        if sent:
            vectors(gate, TEXTS, run, origin=origin)
        else:
            with pytest.raises(NotEmbedded, match="schema-only"):
                vectors(gate, TEXTS, run, origin=origin)
        assert bool(endpoint.calls) is sent


def test_usage_is_booked_on_the_step_and_the_event_has_counts_only() -> None:
    events = Events()
    run = a_run(events=events)
    with embedder() as (gate, endpoint):
        vectors(gate, TEXTS, run, step="retrieval.context")
        used = run.spending.by_step["retrieval.context"]
    assert (used.calls, used.reply_tokens) == (1, 0)
    assert used.cost == pytest.approx(PRICE.cost(used.prompt_tokens, 0))
    (event,) = events.kept
    assert isinstance(event, TextsEmbedded)
    assert event.embedded == event.texts == 10
    assert event.prompt_tokens == used.prompt_tokens > 0
    assert event.cost == pytest.approx(used.cost)
    assert "text 1" not in repr(event)
    assert len(repr(event)) < 400
    assert endpoint.calls


def test_a_text_is_paid_for_once_and_purge_forgets_it(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "replies")
    first = a_run()
    with embedder(cache=cache) as (gate, endpoint):
        once = vectors(gate, TEXTS, first)
        again = a_run()
        assert (vectors(gate, TEXTS[::-1], again) == once[::-1]).all()
        assert len(endpoint.calls) == 1
        assert (again.spending.total.calls, again.spending.total.cached) == (0, 1)
        vectors(gate, [*TEXTS, "new"])
        assert endpoint.calls[1].messages[0].text == "new"
    with embedder(cache=cache, revision="2026") as (gate, endpoint):
        vectors(gate, TEXTS)
        assert len(endpoint.calls) == 1
    assert forget(tmp_path / "replies") == 21


@pytest.mark.parametrize("change", ["revision", "dimension"])
def test_vectors_of_two_models_are_never_mixed(tmp_path: Path, change: str) -> None:
    cache = ReplyCache(tmp_path / "replies")
    with embedder(ScriptedEmbeddings(drawn, revision="1"), cache=cache) as (gate, _):
        vectors(gate, TEXTS)
        before = gate.identity
    size = 8 if change == "revision" else 6
    revision = "2" if change == "revision" else "1"
    newer = ScriptedEmbeddings(lambda text: drawn(f"{text}!")[:size], revision=revision)
    with embedder(newer, cache=cache) as (gate, endpoint):
        found = vectors(gate, [*TEXTS, "new"])
        assert sorted(endpoint.texts) == sorted([*TEXTS, "new"])
        assert found.shape == (11, size)
        rows = np.array([newer.vector(text) for text in [*TEXTS, "new"]])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        assert np.allclose(found, rows, atol=1e-3)
        assert gate.identity != before


@pytest.mark.parametrize("budget", ["3 calls", "100 tokens", "$0.000001"])
def test_it_takes_half_of_what_the_budget_has_left_or_nothing(budget: str) -> None:
    run = a_run(parse_budget(budget))
    with embedder(ScriptedEmbeddings(drawn, batch=4)) as (gate, endpoint):
        with pytest.raises(NotEmbedded, match="budget"):
            vectors(gate, TEXTS, run)
        assert endpoint.calls == []
        assert run.spending.total.calls == 0
        vectors(gate, TEXTS, a_run(Budget(calls=math.ceil(3 / SHARE), tokens=2_000, cost=1.0)))
        assert len(endpoint.calls) == 3


@pytest.mark.parametrize("keep", [True, False])
def test_an_endpoint_that_is_down_is_told_and_what_came_is_kept(tmp_path: Path, keep: bool) -> None:
    def vector(text: str) -> list[float]:
        if text == TEXTS[9]:
            raise EndpointError("it is down")
        return drawn(text)

    cache = ReplyCache(tmp_path)
    with embedder(ScriptedEmbeddings(vector, batch=5), cache=cache) as (gate, endpoint):
        with pytest.raises(NotEmbedded, match="down"):
            replace(gate.bound(a_run(), step="s", origin="schema"), keep=keep).embed(TEXTS)
        assert len(endpoint.calls) == 3  # the second request twice
        vectors(gate, TEXTS[:5])
        assert len(endpoint.calls) == 3


def test_a_cancelled_run_drops_its_requests() -> None:
    run = a_run()

    def cancelling(_: Asked) -> float:
        run.cancelled.set()  # once it is under way, however long that took
        return 30.0

    with ModelServer(latency=cancelling) as server, served(server) as models:
        with pytest.raises(Cancelled):
            vectors(models[embedder_role("openai-compatible/x")], TEXTS, run)
        assert server.idle()
        assert server.dropped == 1


def test_a_deadline_ends_it_too() -> None:
    with ModelServer(latency=constant(30)) as server, served(server) as models:
        with pytest.raises(Cancelled):
            vectors(models[embedder_role("openai-compatible/x")], TEXTS, a_run(seconds=0.3))
        assert server.idle()


def test_a_recording_plays_back_the_same_vectors(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with embedder(recorder=Recorder(path)) as (gate, _):
        live = vectors(gate, TEXTS)
    Recorder(path)  # one that goes on with it
    recording = read_recording(path)
    assert recording.embedders == {"scripted/vectors": True}
    assert recording.models == {}
    models = Models({}, LlmOptions(replay=path))
    replayed = models[embedder_role("scripted/vectors")]
    run = a_run()
    assert (vectors(replayed, TEXTS[3:], run) == live[3:]).all()
    assert run.spending.total.calls == 0
    assert replayed.remote
    with pytest.raises(NotEmbedded, match="recording"):
        vectors(replayed, ["never asked"])


def test_a_colon_and_a_name_given_by_hand_are_understood() -> None:
    mine = object()
    models = Models({"embedder": "embedded", "mine": mine})
    assert models[embedder_role()] == "embedded"
    assert models[embedder_role("mine")] is mine
    one = models[embedder_role("ollama:nomic-embed-text")]
    assert one is models[embedder_role("ollama/nomic-embed-text")]
    assert (one.name, one.remote) == ("ollama/nomic-embed-text", False)


def test_the_canary_is_in_no_request_that_leaves_and_the_body_is_as_told() -> None:
    """Over HTTP, with an endpoint that counts as remote although it is on loopback."""
    with ModelServer() as server:
        service = Service(PROVIDERS["openai-compatible"], "x", base_url=server.url)
        engine = Engine()
        gate = GatedEmbedder(
            "x", Connection(lambda: connect_embeddings(service), engine), remote=True
        )
        run = a_run(privacy="schema-only")
        vectors(gate, ["a description"], run)
        with pytest.raises(NotEmbedded):
            vectors(gate, ["canary"], run, origin="value")
        engine.close()
        assert "canary" not in json.dumps([asked.body for asked in server.seen])
        assert len(server.seen) == 1
