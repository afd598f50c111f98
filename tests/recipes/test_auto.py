"""`auto`: nothing is asked where that is sure enough; else a model, over a real connection, as far
as it pays and the budget reaches; and the answer says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.answering import Responder

import sqlwright
from sqlwright import GoldenQuestion, api
from sqlwright.cli.commands.trace import trace_lines
from sqlwright.cli.terminal.console import Glyphs
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.errors import ConfigError
from sqlwright.llm.options import LlmOptions
from sqlwright.recipes.loading import load_recipe, parse_recipe
from sqlwright.running.trace import find_trace, read_trace
from sqlwright.session import Session
from sqlwright.spending import parse_budget
from sqlwright.steps.escalation import BORNE_OUT
from sqlwright.types import Answer, State
from tests.llm.server import Asked, ModelServer
from tests.scripted import ScriptedCritic, scripted_models

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "recipes" / "auto.yaml").read_text("utf-8")
)
QUESTION = "How many customers are there?"
PLAIN = DisplayOptions(1_000, Glyphs(), False, 10)
WOMBATS = "How many wombats are there?"


def writing(*queries: str) -> Any:
    """A server that writes these queries, from the second request for one on always the last, and
    does all else by rules."""
    responder = Responder(faulty=0.0)
    left = list(queries)

    def reply(asked: Asked) -> list[str]:
        said = list(responder(asked))
        wrote = "```sql" in said[0]
        query = left.pop(0) if wrote and len(left) > 1 else left[0]
        return [f"```sql\n{query}\n```" if query else "No."] * len(said) if wrote else said

    return reply


def passing_all(writes: Any) -> Any:
    """The same for whom every query passes every test."""
    verdicts = [{"number": number, "verdict": "passed"} for number in range(1, 41)]
    passed = json.dumps({"reasoning": "", "verdicts": verdicts})

    def reply(asked: Asked) -> list[str]:
        judges = "Give a verdict" in str(asked.body["messages"])
        return [passed] * asked.n if judges else writes(asked)

    return reply


def ask(
    shop: Path, home: Path, case: dict[str, Any], answer: Any = None, **options: Any
) -> tuple[Answer, State, int]:
    """The answer and state to a case, and how many requests the model's server saw."""
    embedded: dict[str, float] = case["embedded"]
    models = scripted_models(*embedded, critic=ScriptedCritic(embedded, missing=()))
    del models["llm"]
    written = case.get("models", [case.get("model", "")])
    with ModelServer(answer=answer or writing(*written)) as server:
        llm = LlmOptions(model="openai-compatible/small", base_url=server.url, cache=False)
        with api.open(
            shop,
            recipe="auto",
            models=models,
            home=home,
            llm=llm,
            overrides=[f"escalate.sure={case['sure']}"] if "sure" in case else [],
            budget=case.get("budget"),
            environ={},
            **options,
        ) as session:
            answer, state = session.run(case.get("question", QUESTION))
        return answer, state, len(server.seen)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_is_asked_and_said(
    case: dict[str, Any], database_files: dict[str, Path], tmp_path: Path
) -> None:
    answer, _, seen = ask(database_files["shop"], tmp_path, case)
    assert [tier.end for tier in answer.tiers] == case["ends"]
    assert (answer.status, answer.answered_by, answer.sql) == (
        "answered",
        case["answered_by"],
        case["sql"],
    )
    assert answer.confidence == case["confidence"]
    assert seen == answer.usage.calls <= case["calls"]
    assert (seen == 0) == (case["calls"] == 0)
    told = json.loads(answer.to_json())
    assert fnmatch(told["spent"], f"*{case.get('spent', '*').removeprefix('*')}*")
    assert f"spent: {told['spent']}" in str(answer)
    assert [tier["end"] for tier in told["tiers"]] == case["ends"]
    assert case.get("says", "") in str(answer)
    if answer.confidence is not None:
        assert answer.basis.kind == "calibrated"
    else:
        compared = answer.basis.of > 1 or not answer.basis.agreeing
        assert answer.basis.kind == ("agreement" if compared else "none")
    trace = read_trace(find_trace(tmp_path / "traces", answer.trace_id))
    assert [e["tier"]["end"] for e in trace.events if e["kind"] == "tier"] == case["ends"]
    shown = "\n".join(line.plain for line in trace_lines(trace, PLAIN))
    assert shown.count(", end ") == len(case["ends"])


def test_what_each_tier_took_is_all_that_was_taken(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    case = {
        "embedded": {"SELECT count(*) FROM customers": 0.5},
        "models": ["SELECT max(id) FROM orders", "SELECT min(id) FROM orders"],
    }
    answer, state, _ = ask(database_files["shop"], tmp_path, case)
    assert [tier.end for tier in answer.tiers][:2] == ["differs", "differs"]
    assert len(answer.tiers) == 3
    assert sum(tier.usage.calls for tier in answer.tiers) == answer.usage.calls
    tokens = sum(tier.usage.prompt_tokens for tier in answer.tiers)
    assert tokens == answer.usage.prompt_tokens
    # Nothing is asked twice: CHESS's twenty candidates are the four of the tier before and sixteen.
    of = [one for one in state.candidates if one.by_model]
    assert len(of) == 21
    assert len({(one.prompt, one.sample) for one in of}) == 21
    assert answer.usage_by_step["retrieval.extract_keywords"].calls == 1


def test_without_a_model_it_is_local_and_says_nothing_of_it(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    embedded = {"SELECT count(*) FROM customers": 0.3}
    models = scripted_models(*embedded, critic=ScriptedCritic(embedded, missing=()))
    del models["llm"]
    answers = []
    for recipe in ("auto", "local"):
        with api.open(
            database_files["shop"], recipe=recipe, models=models, home=tmp_path, environ={}
        ) as session:
            told = session.ask(QUESTION).to_dict()
            foreign = session.ask("Wie viele Kunden wohnen in Deutschland?")
        assert foreign.refusal == "language"
        answers.append({
            key: value
            for key, value in told.items()
            if key not in {"recipe", "times", "seconds", "trace_id"}
        })  # fmt: skip
    assert answers[0] == answers[1]
    assert (answers[0]["spent"], answers[0]["tiers"]) == ("", [])


@pytest.mark.parametrize(
    ("question", "budget", "model", "status", "ends", "seen"),
    [
        (WOMBATS, None, "SELECT 1", "answered", ["differs", "agrees"], 6),
        (WOMBATS, "0 calls", "SELECT 1", "refused", ["budget"], 0),
        (WOMBATS, None, "", "refused", ["nothing"], 2),
        (WOMBATS, None, "SELECT 1", "refused", ["sure"], 0),
        ("Delete all customers", None, "SELECT 1", "refused", [], 0),
    ],
)
def test_only_a_doubt_of_the_embedded_models_is_put_to_a_language_model(
    question: str,
    budget: str | None,
    model: str,
    status: str,
    ends: list[str],
    seen: int,
    database_files: dict[str, Path],
) -> None:
    critic = ScriptedCritic({}, otherwise=0.2, answerable=0.1, missing=("wombats",))
    models = scripted_models("SELECT 2", critic=critic)
    del models["llm"]
    with ModelServer(answer=writing(model)) as server:
        llm = LlmOptions(model="openai-compatible/small", base_url=server.url, cache=False)
        with api.open(
            database_files["shop"], recipe="auto", models=models, llm=llm, budget=budget,
            overrides=["escalate.sure=0"] if ends == ["sure"] else [], record=False, environ={},
        ) as session:  # fmt: skip
            answer = session.ask(question)
    assert (answer.status, [tier.end for tier in answer.tiers]) == (status, ends)
    assert len(server.seen) == seen
    told = any("wombats" in note.text for note in answer.warnings)
    assert told == (status == "answered")


def test_a_model_that_cannot_be_reached_costs_nothing_but_its_part(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    embedded = {"SELECT count(*) FROM customers": 0.5}
    models = scripted_models(*embedded, critic=ScriptedCritic(embedded, missing=()))
    del models["llm"]
    with ModelServer() as server:
        address = server.url
    llm = LlmOptions(
        model="openai-compatible/gone", base_url=address, cache=False, retrying=0.2, timeout=1.0
    )
    with api.open(
        database_files["shop"], recipe="auto", models=models, llm=llm, record=False, environ={}
    ) as session:
        answer = session.ask(QUESTION)
    assert (answer.status, answer.confidence) == ("answered", 0.5)
    assert answer.tiers[0].end == "nothing"
    assert any(note.kind == "left_out" for note in answer.warnings)


@pytest.mark.parametrize(
    ("budget", "asked"),
    [
        *((f"{calls} calls", True) for calls in (1, 3, 8, 20)),
        *((f"{tokens} tokens", tokens > 2_000) for tokens in (1_000, 3_000, 9_000, 30_000)),
        ("$0.000001", False),
        ("$0.01", True),
        ("$0.05", True),
    ],
)
def test_it_never_spends_more_than_the_budget_and_says_what_it_spent(
    budget: str, asked: bool, database_files: dict[str, Path], tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."openai-compatible/small"]\nprompt = 2.5\nreply = 10\n')
    embedded = {"SELECT count(*) FROM customers": 0.3}
    models = scripted_models(*embedded, critic=ScriptedCritic(embedded, missing=()))
    del models["llm"]
    with ModelServer(answer=writing("SELECT max(id) FROM orders")) as server:
        llm = LlmOptions(
            model="openai-compatible/small", base_url=server.url, cache=False, prices=prices
        )
        with api.open(
            database_files["shop"], recipe="auto", models=models, llm=llm, budget=budget,
            record=False, environ={},
        ) as session:  # fmt: skip
            answer = session.ask(QUESTION)
    limit, used = parse_budget(budget), answer.usage
    tokens = used.prompt_tokens + used.reply_tokens
    assert used.cost is not None
    assert len(server.seen) == used.calls <= (limit.calls or used.calls)
    assert tokens <= (limit.tokens or tokens)
    assert used.cost <= (limit.cost or used.cost)
    assert (used.calls > 0) is asked
    assert sum(tier.usage.calls for tier in answer.tiers) == used.calls
    assert answer.tiers[-1].end in {"budget", "cut_short", "agrees"}
    said = json.loads(answer.to_json())["spent"]
    assert ("nothing was spent" in said) is not asked
    assert said.count("budget doesn't reach") == (answer.tiers[-1].end == "budget")
    for tier in answer.tiers:
        if tier.usage.calls:
            whole = tier.usage.prompt_tokens + tier.usage.reply_tokens
            assert f"({whole:,} tokens, $" in said


def test_replies_that_decline_count_against_a_query(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    """Of six replies in all three give the same result, which three declines and a local answer of
    two in five outweigh."""
    answers = []
    for rest in ("SELECT max(id) FROM orders", '{"cannot": "no such thing is stored"}'):
        queries = iter(["SELECT max(id) FROM orders"] * 3)

        def reply(asked: Asked, queries: Iterator[str] = queries, rest: str = rest) -> list[str]:
            said = list(Responder(faulty=0.0)(asked))
            query = next(queries, rest)
            text = query if query.startswith("{") else f"```sql\n{query}\n```"
            return [text] * len(said) if "```sql" in said[0] else said

        case = {"embedded": {QUERY: 0.45}, "budget": "6 calls"}
        answer, state, _ = ask(database_files["shop"], tmp_path, case, answer=reply)
        answers.append((answer.answered_by, len(state.declines) > 0, answer.basis.agreeing))
        assert answer.basis.of == sum(one.by_model for one in state.candidates) + len(
            state.declines
        )
    assert answers[0][:2] == ("language_model", False)
    assert answers[1][:2] == ("embedded", True)


QUERY = "SELECT count(*) FROM customers"
GOLDEN = [
    *[GoldenQuestion(QUESTION, QUERY)] * 12,
    *[GoldenQuestion(QUESTION, "SELECT name FROM customers")] * 28,
]


@contextmanager
def sure_and_mostly_wrong(
    shop: Path, home: Path, model: str, **options: Any
) -> Iterator[tuple[Session, ModelServer]]:
    """A critic that is sure of a query that answers 12 of 40 questions, and a model's server."""
    models = scripted_models(QUERY, critic=ScriptedCritic(otherwise=0.95, missing=()))
    del models["llm"]
    with ModelServer(answer=writing(model)) as server:
        llm = LlmOptions(model="openai-compatible/small", base_url=server.url, cache=False)
        with api.open(
            shop, recipe="auto", models=models, llm=llm, home=home, record=False, environ={},
            **options,
        ) as session:  # fmt: skip
            yield session, server


def test_what_the_user_fitted_is_what_it_decides_by(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    """Without a call to spend, only the embedded models' answers are fitted."""
    shop, model = database_files["shop"], "SELECT count(id) FROM customers"
    with sure_and_mostly_wrong(shop, tmp_path, model, budget="0 calls") as (session, server):
        before = session.ask(QUESTION)
        report = sqlwright.calibrate(session, GOLDEN)
        assert (report.recipe, report.embedded, report.right) == ("auto", True, 12)
        alone = session.ask(QUESTION)
        assert not server.seen
    assert ([tier.end for tier in before.tiers], before.confidence) == (["sure"], 0.95)
    assert alone.basis.fitted_to == "40 of your own questions (12 answered right)"
    assert (alone.confidence or 0.0) < 0.8
    with sure_and_mostly_wrong(shop, tmp_path, model) as (session, _):
        after = session.ask(QUESTION)
    assert after.tiers[0].end == "agrees"
    assert after.tiers[0].before == alone.confidence
    # What a language model bears out is as sure as was fitted without one.
    assert after.confidence == alone.confidence
    assert (after.interval, after.basis.fitted_to) == (alone.interval, alone.basis.fitted_to)
    assert [sign.text for sign in after.basis.signs] == [BORNE_OUT]


@pytest.mark.parametrize(
    ("model", "by", "right"),
    [
        ("SELECT count(id) FROM customers", "embedded", 12),
        ("SELECT name FROM customers", "language_model", 28),
        ("SELECT max(id) FROM orders", "language_model", 0),
    ],
)
def test_what_both_say_gets_a_confidence_of_its_own(
    model: str, by: str, right: int, database_files: dict[str, Path], tmp_path: Path
) -> None:
    shop = database_files["shop"]
    with sure_and_mostly_wrong(shop, tmp_path, model) as (session, server):
        report = sqlwright.calibrate(session, GOLDEN)
        assert (report.recipe, report.embedded, report.right) == ("auto", False, right)
        assert report.model == "openai-compatible/small"
        assert len(server.seen) >= 40
        answer = session.ask(QUESTION)
        assert session.calibrations.forget("auto")
        assert session.ask(QUESTION).confidence == 0.95
    assert answer.answered_by == by
    assert answer.tiers[0].entered
    assert answer.confidence == pytest.approx(right / 40, abs=0.08)
    assert answer.basis.kind == "calibrated"
    assert answer.basis.fitted_to == f"40 of your own questions ({right} answered right)"
    assert answer.interval is not None
    assert answer.interval[0] <= (answer.confidence or 0.0) <= answer.interval[1]


def test_it_decides_by_the_confidence_that_local_shows(database_files: dict[str, Path]) -> None:
    shop = database_files["shop"]
    question = "How many customers live in Germany?"
    with api.open(shop, recipe="local", record=False, environ={}) as session:
        local = session.ask(question)
    with ModelServer(answer=writing("SELECT 1")) as server:
        llm = LlmOptions(model="openai-compatible/small", base_url=server.url, cache=False)
        with api.open(
            shop, recipe="auto", llm=llm, overrides=["escalate.sure=0"], record=False, environ={}
        ) as session:
            auto = session.ask(question)
    assert local.basis.kind == "calibrated"
    assert local.interval is not None
    assert (auto.confidence, auto.interval, auto.basis, auto.sql) == (
        local.confidence,
        local.interval,
        local.basis,
        local.sql,
    )
    assert auto.tiers[0].before == local.confidence


def test_what_was_found_stays_when_time_runs_out(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    """The model answers at first, and then never; the question is cancelled."""
    cancelled = threading.Event()

    def ends() -> float:
        cancelled.set()
        return 60.0

    embedded = {"SELECT count(*) FROM customers": 0.2}
    models = scripted_models(*embedded, critic=ScriptedCritic(embedded, missing=()))
    del models["llm"]
    with ModelServer(
        answer=writing("SELECT max(id) FROM orders"),
        latency=lambda asked: 0.0 if len(server.seen) <= 1 else ends(),
    ) as server:
        llm = LlmOptions(model="openai-compatible/small", base_url=server.url, cache=False)
        with api.open(
            database_files["shop"], recipe="auto", models=models, llm=llm,
            record=False, environ={},
        ) as session:  # fmt: skip
            session.warm()
            answer = session.ask(QUESTION, cancelled=cancelled)
    assert [tier.end for tier in answer.tiers] == ["differs", "cut_short"]
    assert (answer.status, answer.sql) == ("answered", "SELECT max(id) FROM orders")
    assert (answer.basis.kind, answer.basis.of, answer.confidence) == ("none", 1, None)
    assert any(note.kind == "stopped" for note in answer.warnings)
    assert "so asked it once" in str(answer)
    assert "cut short before it wrote another query" in str(answer)


def test_a_models_query_that_leaves_a_condition_out_is_held_to_be_wrong(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    question = "How many customers live in Germany?"
    right = "SELECT count(*) FROM customers WHERE country = 'Germany'"
    for wrong in ("", "SELECT count(*) FROM customers"):
        models = [wrong, right] if wrong else [right]
        case = {"embedded": {}, "models": models, "question": question}
        answer, _, _ = ask(database_files["shop"], tmp_path, case, passing_all(writing(*models)))
        assert answer.account is not None
        assert answer.sql == right
        assert answer.doubt == ""
    case = {"embedded": {}, "model": wrong, "question": question}
    answer, _, _ = ask(database_files["shop"], tmp_path, case)
    assert "Germany" in answer.doubt


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ("[repair.execute]", "takes tiers"),
        ("[tier: {name: a, least_calls: 0, steps: [repair.execute]}]", "least_calls must be"),
        ("[tier: {name: a, steps: [repair.execute]}], sure: 1.5", "sure must be"),
    ],
)
def test_tiers_that_do_not_fit_are_refused(steps: str, says: str) -> None:
    text = (
        "name: t\nsteps:\n  - generation.embedded\n"
        f"  - escalate: {{steps: {steps}}}\n  - selection.first_valid\n"
    )
    with pytest.raises(ConfigError, match=says):
        parse_recipe(text)


def test_it_can_do_without_a_model_and_others_cannot() -> None:
    assert not load_recipe("auto").needs_model
    assert load_recipe("chess-ir-ss-cg").needs_model
    assert load_recipe("auto").asks == ("",)
