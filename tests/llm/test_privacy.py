"""What leaves this machine, and where it stays: canaries turn up nowhere they shouldn't."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.llm.endpoint import Throttle
from sqlwright.llm.gate import Connection, GatedModel
from sqlwright.llm.scripted import Script, ScriptedEndpoint
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.sending.transport import ModelAddress
from sqlwright.llm.vendors.openai import OpenAIEndpoint
from sqlwright.messages import HIDDEN, Capabilities, Origin, Text
from tests.conftest import build_database
from tests.llm.asking import RECIPE
from tests.llm.gates import Events, a_run, gate, request
from tests.llm.server import ModelServer, always

ORIGINS: tuple[Origin, ...] = ("template", "schema", "value", "question", "model")
KEY = "canary-key-5f1d8a77c0ffee"
VALUE = "Canaria Quetzalcoatl"
REMOTE = Capabilities(remote=True, n=False)


def mixed() -> Text:
    """A span of every origin, values at the beginning, middle and end."""
    text = Text.of(f"value<{VALUE}>", "value")
    for origin in ORIGINS:
        text += Text.of(f"{origin}[{VALUE if origin == 'value' else origin}]", origin)
    return text + Text.of(VALUE, "value")


@pytest.mark.parametrize("shape", range(20))
def test_no_stored_value_is_in_a_request_that_leaves_the_machine(shape: int) -> None:
    generator = random.Random(shape)
    spans = [generator.choice(ORIGINS) for _ in range(30)]
    prompt = Text()
    for number, origin in enumerate(spans):
        words = VALUE if origin == "value" else f"{origin}{number}"
        prompt += Text.of(words, origin)
    with gate() as (model, endpoint):
        model.complete([request("s", prompt)], a_run(privacy="schema-only"), step="s")
    sent = endpoint.calls[0].messages[1].text
    assert VALUE not in sent
    assert all(f"{origin}{n}" in sent for n, origin in enumerate(spans) if origin != "value")
    assert (HIDDEN in sent) is ("value" in spans)


def test_by_default_and_on_this_machine_everything_is_sent() -> None:
    here = ScriptedEndpoint(Script(otherwise="x"), capabilities=Capabilities(remote=False))
    with gate() as (model, there):
        model.complete([request(mixed())], a_run(), step="s")
    with gate(endpoint=here) as (model, _):
        model.complete([request(mixed())], a_run(privacy="schema-only"), step="s")
    assert str(mixed()) == there.calls[0].messages[0].text == here.calls[0].messages[0].text


def test_what_a_model_on_this_machine_wrote_after_seeing_values_stays_here() -> None:
    here = ScriptedEndpoint(Script(otherwise="x"), capabilities=Capabilities(remote=False))
    run = a_run(privacy="schema-only")
    written = request(Text.of(f"so it is {VALUE}", "model"))
    with gate() as (model, there):
        model.complete([written], run, step="s")
    with gate(endpoint=here) as (model, _):
        model.complete([request(mixed())], run, step="s")
    with gate() as (model, later):
        model.complete([written], run, step="s")
    assert VALUE in there.calls[0].messages[0].text  # its own words, before anything was shown
    assert later.calls[0].messages[0].text == HIDDEN


def test_the_event_says_what_was_really_sent() -> None:
    events = Events()
    with gate() as (model, _):
        model.complete([request(mixed())], a_run(privacy="schema-only", events=events), step="s")
    assert VALUE not in str(events.calls[0].messages[0].text)


def test_over_real_http_the_body_holds_no_value() -> None:
    with ModelServer() as server:
        # Not taken for an address on this machine, which is the only untrue thing here.
        site = ModelAddress("openai-compatible/m", "m", server.url, REMOTE, Throttle(), key=KEY)
        endpoint = OpenAIEndpoint(site)
        engine = Engine()
        model = GatedModel(endpoint.name, REMOTE, Connection(lambda: endpoint, engine))
        model.complete([request("s", mixed(), n=3)], a_run(privacy="schema-only"), step="s")
        engine.close()
        assert len(server.seen) == 3
        for asked in server.seen:
            assert VALUE not in json.dumps(asked.body)
            assert asked.headers.get("authorization") == f"Bearer {KEY}"


SCRIPT = f"""
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
INSERT INTO customers VALUES (1, 'Ada', '{VALUE}'), (2, 'Bob', 'Bonn');
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    script = tmp_path / "customers.sql"
    script.write_text(SCRIPT)
    return build_database(script, tmp_path / "customers.sqlite")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "plain.yaml"
    path.write_text(RECIPE)
    return path


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()


QUESTION = f"How many customers live in {VALUE}?"
SQL = "SELECT count(*) FROM customers WHERE city LIKE 'Canaria%'"


@pytest.mark.parametrize("fault", ["", "unauthorized", "bad_request"])
def test_keys_are_in_no_trace_cache_record_error_or_process_list(
    tmp_path: Path, database: Path, recipe: Path, fault: str
) -> None:
    seen: list[str] = []

    def watched(asked: Any) -> str:
        seen.append(process_list())
        return SQL

    home = tmp_path / "home"
    with ModelServer(answer=watched, faults=always(fault) if fault else lambda _: "") as server:
        done = subprocess.run(
            [
                sys.executable, "-c", "from sqlwright.cli.main import run; run()", "--debug",
                "ask", str(database), "How many customers live in Bonn?",
                "--recipe", str(recipe), "--allow-code",
                "-m", "openai-compatible/m", "--base-url", server.url,
                "--record", str(tmp_path / "run.jsonl"), "--explain",
            ],
            env=os.environ
            | {"SQLWRIGHT_HOME": str(home), "SQLWRIGHT_KEYS": f"127.0.0.1={KEY}"}
            | {"OPENAI_API_KEY": f"{KEY}-openai", "ANTHROPIC_API_KEY": f"{KEY}-anthropic"},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )  # fmt: skip
        assert server.seen, done.stderr
        assert {asked.headers.get("authorization") for asked in server.seen} == {f"Bearer {KEY}"}
        assert all(KEY not in json.dumps(asked.body) for asked in server.seen)
    assert done.returncode == (0 if not fault else 11), done.stderr
    assert KEY not in done.stdout + done.stderr
    assert all(KEY not in processes for processes in seen)
    written = dict(contents(tmp_path))
    assert any("traces" in path.parts for path in written)
    assert [path for path, data in written.items() if KEY.encode() in data] == []


def process_list() -> str:
    """Every command line on the machine that can be read."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_text("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(lines)


def test_a_whole_run_under_schema_only_sends_no_stored_value(
    tmp_path: Path, database: Path, recipe: Path
) -> None:
    """The question doesn't name the value; retrieval finds it; the prompt must not hold it."""
    endpoint = ScriptedEndpoint(Script(otherwise=SQL))
    for privacy, leaves in (("full", True), ("schema-only", False)):
        with (
            gate(endpoint=endpoint) as (model, _),
            api.open(
                database,
                recipe=str(recipe),
                allow_code=True,
                home=tmp_path / "home",
                privacy=privacy,  # type: ignore[arg-type]
                models={"llm": model},
            ) as session,
        ):
            answer = session.ask("How many customers live in canaria quezalcoatl?")
        assert answer.rows == ((1,),)
        sent = "".join(m.text for call in endpoint.calls for m in call.messages)
        assert (VALUE in sent) is leaves
        endpoint.calls.clear()


def test_what_a_database_error_quotes_stays_where_values_do() -> None:
    """An error message may quote data: whoever shows it to a model gives it the origin of data."""
    text = Text.of("UNIQUE failed: ", "template") + Text.of(VALUE, "value")
    with gate() as (model, endpoint):
        model.complete([request(text)], a_run(privacy="schema-only"), step="s")
    assert VALUE not in endpoint.calls[0].messages[0].text
