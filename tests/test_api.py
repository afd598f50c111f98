"""Sessions: warm, shared by threads, cancellable, fresh when data changes, closed for good."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sqlwright
from sqlwright import api
from sqlwright.api import Session
from sqlwright.database import expected_dialect
from sqlwright.errors import ConfigError, DatabaseUnavailable, ModelUnavailable
from sqlwright.events import Event, QueryExecuted, RunEnded, RunStarted, StepEnded, StepStarted
from sqlwright.local.models import EmbeddedModels
from sqlwright.protocols import Limits, Run
from sqlwright.recipes.loading import load_recipe
from sqlwright.settings.defaults import Defaults, Target
from sqlwright.types import Turn
from tests.conftest import DATABASES, build_database
from tests.scripted import ScriptedCritic, ScriptedLinker, ScriptedParser, scripted_models
from tests.waiting import comes

Open = Callable[..., Session]

COUNT = "SELECT COUNT(*) FROM orders"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"


def test_a_question_is_answered_with_evidence(open_scripted: Open) -> None:
    sql = "SELECT name FROM customers WHERE city = 'München'"
    answer = open_scripted(sql).ask("Who lives in Munchen?")
    assert answer.status == "answered"
    assert answer.sql == sql
    assert answer.rows == (("Ada Brandt",), ("Chen Li",))
    assert [match.value for match in answer.values] == ["München"]
    assert answer.used_tables == ("customers",)
    assert answer.confidence == 0.6
    assert answer.recipe == "local"
    assert json.loads(answer.to_json())["status"] == "answered"


def test_the_package_offers_its_names_and_imports_nothing_for_it() -> None:
    assert sqlwright.open is api.open
    assert set(sqlwright.__all__) <= set(dir(sqlwright))
    for name in sqlwright.__all__:
        assert getattr(sqlwright, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sqlwright.nothing  # noqa: B018
    code = "import sys, sqlwright; assert not {'numpy', 'yaml', 'pydantic'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_does_not_fit_is_refused_on_opening(database_files: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match="unknown recipe"):
        api.open(database_files["shop"], recipe="nothing")
    with pytest.raises(ConfigError, match="is not an override"):
        api.open(database_files["shop"], overrides=["beam"])
    with pytest.raises(DatabaseUnavailable, match="names no database"):
        api.open("clickhouse://")


def test_evidence_history_and_overrides_reach_the_steps(open_scripted: Open) -> None:
    parser = ScriptedParser([COUNT])
    models = scripted_models(parser=parser)
    shop = open_scripted(models=models, overrides=["generation.embedded.beam=3"])
    shop.ask("And now?", evidence="open means not shipped", history=[Turn("a", "SELECT 1")])
    question, view, beam = parser.asked[0]
    assert question.evidence == "open means not shipped"
    assert question.history == (Turn("a", "SELECT 1"),)
    assert view.schema.table("orders") is not None
    assert beam == 3


def test_a_session_is_used_by_many_threads(open_scripted: Open) -> None:
    replies = {f"How many orders above {n}?": [f"SELECT {n}"] for n in range(12)}
    shop = open_scripted(models=scripted_models(parser=ScriptedParser(replies)))
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(shop.ask, replies))
    assert [answer.rows for answer in answers] == [((n,),) for n in range(12)]
    assert len({answer.trace_id for answer in answers}) == 12


def test_run_gives_the_state_too(open_scripted: Open) -> None:
    answer, state = open_scripted(COUNT, "SELECT nope FROM orders").run("How many orders?")
    assert answer.sql == COUNT
    assert len(state.candidates) == 2
    assert state.tables[0].table == "orders"


def test_events_are_told_as_they_happen(open_scripted: Open) -> None:
    seen: list[Event] = []
    shop = open_scripted(COUNT)
    answer = shop.ask("How many orders?", on_event=seen.append)
    started, ended = seen[0], seen[-1]
    assert isinstance(started, RunStarted)
    assert started.question == "How many orders?"
    assert isinstance(ended, RunEnded)
    assert ended.answer.rows == answer.rows
    assert {StepStarted, StepEnded, QueryExecuted} <= set(map(type, seen))
    assert [e.step for e in seen if isinstance(e, StepEnded)] == [t.step for t in answer.times]


def test_a_query_of_ones_own_runs_under_the_same_guard(open_scripted: Open) -> None:
    shop = open_scripted(limits=Limits(rows=2))
    answer = shop.run_sql("SELECT product FROM lines")
    assert (answer.status, len(answer.rows), answer.truncated) == ("answered", 2, True)
    assert answer.used_tables == ("lines",)
    told = shop.run_sql("SELECT product FROM lines WHERE quantity > 1").reading
    assert [part.text for part in told] == ["lines.quantity > 1"]
    for bad in ("DELETE FROM orders", "SELECT nope FROM orders", "SELECT 1; SELECT 2"):
        refused = shop.sql(bad)
        assert refused.status == "failed"
        assert refused.message
    assert shop.run_sql(COUNT).rows == ((4,),)


def test_one_query_has_its_limit_and_the_next_works(open_scripted: Open) -> None:
    shop = open_scripted(ENDLESS, COUNT, limits=Limits(seconds=2.0))
    answer = shop.ask("How many orders?")
    assert answer.status == "answered"
    assert answer.sql == COUNT


def test_a_deadline_gives_the_best_at_hand(open_scripted: Open) -> None:
    shop = open_scripted(COUNT, ENDLESS)
    shop.warm()
    answer = shop.ask("How many orders?", seconds=4.0)
    assert (answer.status, answer.sql) == ("answered", COUNT)
    assert "time limit" in answer.warnings[0].text


@pytest.mark.parametrize("place", range(8))
def test_cancelling_at_any_moment_gives_the_best_at_hand(open_scripted: Open, place: int) -> None:
    """Cancelled when the run has sent its place-th event, or during a query that never ends."""
    shop = open_scripted(COUNT, ENDLESS)
    cancelled, count = threading.Event(), iter(range(1000))

    def on_event(event: Event) -> None:
        if next(count) == place * 2:
            threading.Timer(0.01, cancelled.set).start()

    shop.warm()
    answer = shop.ask("How many orders?", cancelled=cancelled, on_event=on_event)
    assert answer.status in {"answered", "failed"}
    if answer.status == "answered":
        assert answer.sql == COUNT
    assert shop.run_sql(COUNT).rows == ((4,),)


def test_a_session_can_cancel_what_it_is_doing(open_scripted: Open) -> None:
    shop = open_scripted(ENDLESS)
    shop.warm()
    threading.Timer(0.2, shop.cancel).start()
    answer = shop.ask("How many orders?")
    assert answer.status == "failed"
    assert "cancelled" in answer.message.casefold() or "stopped" in answer.message


def test_cancelling_while_the_database_opens_is_an_answer(open_scripted: Open) -> None:
    cancelled = threading.Event()
    cancelled.set()
    answer = open_scripted(COUNT).ask("How many orders?", cancelled=cancelled)
    assert answer.status == "failed"
    assert "stopped early" in answer.message
    assert answer.dialect == "sqlite"


@pytest.mark.parametrize(
    ("address", "dialect"),
    [("shop.sqlite", "sqlite"), ("duckdb:///shop.duckdb", "duckdb"), ("orders.csv", "duckdb"),
     ("postgresql://host/shop", "postgres"), ("mysql://host/shop", "mysql"),
     ("mssql+pyodbc://host/shop", "mssql")],
)  # fmt: skip
def test_an_answer_that_never_began_names_the_dialect_of_its_database(
    address: str, dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("shop.sqlite", "shop.duckdb", "orders.csv"):
        Path(name).touch()
    assert expected_dialect(address) == dialect


def test_closing_leaves_no_process(open_scripted: Open) -> None:
    others = _children()
    shop = open_scripted(COUNT)
    shop.ask("How many orders?")
    ours = _children() - others
    assert ours
    shop.close()
    shop.close()
    assert comes(lambda: not _children() & ours)


def _children() -> set[int]:
    """Live children of this process."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == os.getpid() and state != "Z":
            found.add(int(name.split()[0]))
    return found


def test_changed_data_is_seen(tmp_path: Path) -> None:
    path = build_database(DATABASES / "shop.sql", tmp_path / "shop.sqlite")
    with Session(
        Target(str(path), tmp_path / "absent", None),
        load_recipe("local"),
        models=scripted_models(COUNT),
        defaults=Defaults(Limits(), None, 0, reopening=0),
        traces=None,
    ) as shop:
        assert shop.ask("How many orders?").rows == ((4,),)
        connection = sqlite3.connect(path)
        connection.execute("INSERT INTO orders VALUES (14, 2, '2026-04-01', 'open', 1.0)")
        connection.execute("CREATE TABLE later (x)")
        connection.commit()
        connection.close()
        assert shop.ask("How many orders?").rows == ((5,),)
        assert shop.workspace.schema.table("later") is not None


def test_a_missing_critic_costs_the_confidence_not_the_answer(open_scripted: Open) -> None:
    class Lacking(EmbeddedModels):
        def __getitem__(self, role: str) -> Any:
            if role == "critic":
                raise ModelUnavailable("critic.json is missing", hint="Reinstall sqlwright.")
            return {"linker": ScriptedLinker(), "parser": ScriptedParser([COUNT])}[role]

    answer = open_scripted(models=Lacking()).ask("How many orders?")
    assert (answer.status, answer.rows) == ("answered", ((4,),))
    assert "critic.json is missing" in answer.warnings[0].text


def test_models_load_once_and_fail_the_same_each_time() -> None:
    models = EmbeddedModels()
    assert list(models) == ["linker", "parser", "critic", "embedder", "calibration"]
    with pytest.raises(ModelUnavailable, match="no embedded model has the role 'chef'"):
        models["chef"]


def test_a_question_that_cannot_be_answered_is_refused_with_what_is_near(
    open_scripted: Open,
) -> None:
    models = scripted_models(COUNT, critic=ScriptedCritic(answerable=0.1))
    answer = open_scripted(models=models).ask("How tall are the customers?")
    assert (answer.status, answer.sql) == ("refused", None)
    assert "customers (" in answer.suggestion
    assert [candidate.sql for candidate in answer.alternatives] == [COUNT]
    never = open_scripted(models=models, overrides=["selection.critic.refuse_below=0"])
    assert never.ask("How tall are the customers?").status == "answered"


@pytest.mark.parametrize(
    ("question", "reason"),
    [("", "empty"), ("  \n", "empty"), ("x " * 6_000, "too_long"), ("Delete all orders", "write")],
)
def test_what_is_no_question_is_refused_before_any_model_runs(
    open_scripted: Open, question: str, reason: str
) -> None:
    parser = ScriptedParser([COUNT])
    answer = open_scripted(models=scripted_models(parser=parser)).ask(question)
    assert (answer.status, answer.refusal) == ("refused", reason)
    assert answer.message
    assert parser.asked == []


@pytest.mark.parametrize("name", ["composite", "odd", "sparse"])
def test_odd_databases_are_answered_too(open_scripted: Open, name: str) -> None:
    queries = {
        "composite": "SELECT a.name FROM flights f JOIN airports a ON f.to_code = a.code",
        "odd": 'SELECT "größe" FROM "straße nach köln" ORDER BY "größe"',
        "sparse": "SELECT SUM(value) FROM readings WHERE sensor = 'a'",
    }
    answer = open_scripted(queries[name], database=name).ask("What is stored there?")
    assert answer.status == "answered"
    assert answer.rows


def test_a_run_has_its_own_seed(open_scripted: Open) -> None:
    runs: list[Run] = []
    parser = ScriptedParser([COUNT], before=lambda run: runs.append(run) if run else None)
    shop = open_scripted(models=scripted_models(parser=parser), seed=7)
    shop.ask("How many orders?")
    assert runs[0].seed == 7
    assert runs[0].random("x").random() == runs[0].random("x").random()


@pytest.mark.parametrize(
    "recipe", ["chess-ir-cg-ut", "chess-ir-ss-cg", "chess-agents", "chase", "baseline"]
)
def test_a_recipe_that_asks_a_model_says_at_once_that_none_was_named(
    database_files: dict[str, Path], recipe: str
) -> None:
    with pytest.raises(ConfigError, match="none was named"):
        sqlwright.open(database_files["shop"], recipe=recipe, environ={}, record=False)
