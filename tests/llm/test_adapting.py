"""A request that a server doesn't take is changed once, by what the server says, and it is told.

The cases are tests/cases/llm/adapting.yaml.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright import api
from sqlwright.llm.endpoint import Call, PlainMessage
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import Missing, Reply, Tool
from sqlwright.protocols import Run
from tests.llm.doubles import Books, model_on, texts
from tests.llm.doubles import ask as request
from tests.llm.server import Asked, ModelServer, always
from tests.llm.test_new_parameters import BY_NAME
from tests.llm.test_vendors import replying, settle

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases/llm/adapting.yaml").read_text("utf-8"))
SQL = "SELECT count(*) FROM customers"

HAS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "system": lambda body: any(each["role"] == "system" for each in body["messages"]),
    "cold": lambda body: body.get("temperature") == 0,
    "several": lambda body: body.get("n", 1) > 1,
    "long": lambda body: body["max_tokens"] > 2_048 - 1_200,
}


def refusing(case: dict[str, Any]) -> Callable[[Asked], str]:
    """A server that refuses the requests a case is about."""
    named = case["refuses"]
    has = HAS.get(named, lambda body: named in body)
    error = {"message": case["says"]} if isinstance(case["says"], str) else None
    told = json.dumps({"error": error} if error else {"detail": case["says"]})
    return lambda asked: f"status:{case['status']}:{told}" if has(dict(asked.body)) else ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['refuses']}-{case['status']}")
def test_what_a_server_refuses_is_changed_once(engine: Engine, case: dict[str, Any]) -> None:
    system, asked = PlainMessage("system", "Write SQL."), PlainMessage("user", "How many?")
    call = Call(
        (system, asked),
        n=2,
        reasoning="low",
        reply_schema={"type": "object"},
        tools=(Tool("t", "Runs."),),
    )
    with ModelServer(answer=lambda _: SQL, faults=refusing(case)) as server:
        endpoint = model_on(server)
        (outcome,) = engine.run_all(endpoint, [call], run=Run(), meter=Books())
        first = len(server.seen)
        (again,) = engine.run_all(endpoint, [call], run=Run(), meter=Books())
        bodies = [dict(each.body) for each in server.seen]
    assert texts(outcome) == texts(again) == [SQL, SQL]
    assert first - (2 if case["refuses"] == "several" else 1) == 1 + case.get("twice", False)
    assert not any(
        HAS.get(case["refuses"], lambda b: case["refuses"] in b)(b) for b in bodies[first:]
    )
    if "left_out" in case:
        assert case["left_out"] in outcome.left_out
    if case["refuses"] == "system":
        assert [m["content"] for m in bodies[-1]["messages"]] == ["Write SQL.\n\nHow many?"]
    if case["refuses"] == "cold":
        assert bodies[-1]["temperature"] == 0.01
    if case["refuses"] == "max_tokens":
        assert bodies[-1]["max_completion_tokens"] == 4_096 + 0


SECRET = "q9ZtL2vB7mK4xW8sR1nY"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("The grammar can't be compiled: unknown rule", "unknown rule"),
        (f"key {SECRET} of tenant 7 has no such model", "key *** of tenant 7"),
        (f"Bearer {SECRET} was sent", "*** was sent"),
        ("can't read: How many people have an e-mail of Jo5eph9 ?", "can't read: …"),
        ("the value Jo5eph9 is not text", "the value … is not text"),
        ("red\x1b[31m and\nblue", "red [31m and blue"),
        ("too " * 300, "too too"),
    ],
)
def test_the_servers_own_words_are_shown(engine: Engine, said: str, shown: str) -> None:
    prompt = "How many people have an e-mail of Jo5eph9 ?"
    told = json.dumps({"error": {"message": said}})
    with ModelServer(faults=always(f"status:400:{told}")) as server:
        call = Call((PlainMessage("user", prompt),))
        (outcome,) = engine.run_all(model_on(server), [call], run=Run(), meter=Books())
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert shown in missing.message
    assert SECRET not in missing.message
    assert "Jo5eph9" not in missing.message
    assert missing.message.isprintable()
    assert len(missing.message) < 300


def ask(database: Path, server: ModelServer, name: str = "m", **options: Any) -> Any:
    told = LlmOptions(f"openai-compatible/{name}", server.url, cache=False, retrying=0.01)
    with api.open(
        database, recipe="baseline", llm=told, record=False, environ={}, **options
    ) as session:
        return session.ask("How many customers are there?")


def test_the_answer_says_what_was_changed(database_files: dict[str, Path]) -> None:
    case = {"refuses": "system", "status": 500, "says": "System role not supported"}
    with ModelServer(answer=lambda _: SQL, faults=refusing(case)) as server:
        answer = ask(database_files["shop"], server)
    assert answer.rows == ((4,),)
    told = "doesn't take messages of the system's; its instructions go before the question"
    assert any(told in note.text for note in answer.warnings)


def test_every_answer_says_what_was_refused_before_it(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    """The server refuses the temperature once; it is missing from all requests that follow."""
    case = {"refuses": "temperature", "status": 400, "says": "temperature is not supported"}
    told = "openai-compatible/m doesn't take 'temperature', which is left out"
    with ModelServer(answer=lambda _: SQL, faults=refusing(case)) as server:

        def notes(*questions: str) -> list[list[str]]:
            options = LlmOptions("openai-compatible/m", server.url, retrying=0.01)
            with api.open(
                database_files["shop"], recipe="baseline", llm=options, record=False, environ={},
                home=tmp_path,
            ) as session:  # fmt: skip
                answers = [session.ask(question) for question in questions]
            assert all(answer.rows == ((4,),) for answer in answers)
            return [[n.text for n in one.warnings if n.kind == "parameter"] for one in answers]

        assert notes("How many customers are there?", "How many are they?") == [[told], [told]]
        sent = len(server.seen)
        assert notes("How many customers are there?") == [[told]]
        assert len(server.seen) == sent  # from the cache


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_an_answer_among_the_reasoning_is_read_and_told(
    database_files: dict[str, Path], name: str
) -> None:
    message = {"content": None, name: f"They want a number.\n```sql\n{SQL}\n```"}
    with ModelServer(answer=lambda _: message) as server:
        answer = ask(database_files["shop"], server)
    assert answer.rows == ((4,),)
    assert any("no text but its reasoning" in note.text for note in answer.warnings)


@pytest.mark.parametrize("vendor", ["anthropic", "google"])
@pytest.mark.parametrize("text", ["", SQL])
def test_vendors_reasoning_is_read_where_nothing_else_is_there(
    engine: Engine, vendor: str, text: str
) -> None:
    block = {"type": "thinking", "thinking": "SELECT 1", "signature": "c2ln"}
    message = {"content": text, "thinking": [block], "reasoning": "SELECT 1"}
    with ModelServer(answer=replying(message)) as server:
        (reply,) = settle(engine, BY_NAME[vendor].on(server), request("q"))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.unsaid) == (text or "SELECT 1", not text)


def test_google_is_given_the_systems_text_by_the_user(engine: Engine) -> None:
    told = json.dumps({"error": {"message": "Developer instruction is not enabled for models/g"}})
    call = Call((PlainMessage("system", "Write SQL."), PlainMessage("user", "How many?")))
    with ModelServer(
        answer=lambda _: SQL,
        faults=lambda asked: f"status:400:{told}" if "systemInstruction" in asked.body else "",
    ) as server:
        (reply,) = settle(engine, BY_NAME["google"].on(server), call)
        assert [asked.prompt for asked in server.seen][1:] == ["Write SQL.\n\nHow many?"]
    assert isinstance(reply, Reply)


def test_reasoning_is_not_read_beside_an_answer(database_files: dict[str, Path]) -> None:
    message = {"content": SQL, "reasoning_content": "```sql\nSELECT 1 FROM orders\n```"}
    with ModelServer(answer=lambda _: message) as server:
        answer = ask(database_files["shop"], server)
    assert answer.sql == SQL
    assert not [note for note in answer.warnings if note.kind == "model"]


@pytest.mark.parametrize(
    "cut",
    [
        SQL,
        f"{SQL}\n",
        f"```sql\n{SQL}\n",
        f'{{"sql": "{SQL}',
        f"<sql>{SQL} ",
        f"It is:\n\n{SQL}\n\n",
    ],
)
@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_half_a_query_is_no_answer(database_files: dict[str, Path], cut: str, reason: str) -> None:
    with ModelServer(answer=lambda _: {"content": cut, "finish_reason": reason}) as server:
        answer = ask(database_files["shop"], server)
        limits = [each.body["max_tokens"] for each in server.seen]
    assert answer.status == "failed"
    assert answer.sql is None
    assert "cut off at its limit of tokens" in answer.message
    assert limits == [4_096, 8_192]


def test_a_model_that_never_stops_is_stopped_by_the_recipes_limit(
    database_files: dict[str, Path],
) -> None:
    def endless(asked: Asked) -> dict[str, Any]:
        return {
            "content": None,
            "finish_reason": "length",
            "reasoning_tokens": asked.body["max_tokens"],
        }

    with ModelServer(answer=endless) as server:
        answer = ask(database_files["shop"], server, name="some-reasoner")
        asked = [each.body["max_tokens"] for each in server.seen]
    assert answer.status == "failed"
    assert sum(asked) <= 56_000
    assert answer.usage.reply_tokens <= 56_000


def test_nobody_there_is_found_out_once(database_files: dict[str, Path]) -> None:
    with ModelServer() as server:
        pass
    for recipe in ("baseline", "msc"):
        llm = LlmOptions("openai-compatible/m", server.url, cache=False)
        with api.open(
            database_files["shop"], recipe=recipe, llm=llm, record=False, environ={}
        ) as session:
            answer = session.ask("How many customers are there?")
        assert answer.usage.calls == 0
        told = f"{answer.message} {answer.warnings}"
        assert "nothing answers at http://127.0.0.1" in told
        assert "generation.direct failed" not in told
