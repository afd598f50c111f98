"""Wrong arguments of everything public: told at once, by name, with what is allowed."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sqlwright
from sqlwright import Answer, Limits, Session, Turn, UserError
from sqlwright.errors import ConfigError, DatabaseUnavailable, WorkspaceError
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.spending import Budget
from tests.scripted import scripted_models

COUNT = "SELECT COUNT(*) FROM orders"
OBJECT = SimpleNamespace()

NUMBER = "a number greater than 0"
AMOUNT = "a number of at least 0, or None"
COUNTED = "a whole number of at least 1"
NATURAL = "a whole number of at least 0, or None"
PATH = "a path, as a text or a Path, or None"
FLAG = "True or False"
PRIVACY = "'full' or 'schema-only'"
TABLES = "a list of texts, at least one, or None"
FUNCTIONS = TABLES
BUDGET = "an amount in a text, such as '$0.05, 20 calls', or a Budget, or None"
LLM = "of type LlmOptions, or None"
MODELS = "a mapping from roles to models, or None"
ENVIRON = "a mapping from texts to texts, or None"
SINK = "a function that takes an event"

Case = tuple[str, Any, str, str]
"""An argument, a value that doesn't fit, what is allowed, and how the message ends."""

OPEN: list[Case] = [
    ("url", 5, "a text or a path", "not 5"),
    ("url", None, "a text or a path", "not None"),
    ("url", b"shop.sqlite", "a text or a path", "not a value of type bytes"),
    ("recipe", 5, "a text or a path", "not 5"),
    ("recipe", None, "a text or a path", "not None"),
    ("recipe", ["local"], "a text or a path", "not a value of type list"),
    ("overrides", "generation.embedded.beam=4", "a list of texts", "beam=4'"),
    ("overrides", None, "a list of texts", "not None"),
    ("overrides", {"beam": 4}, "a list of texts", "not a value of type dict"),
    ("overrides", ["generation.embedded.beam=4", 5], "a list of texts", "but item 2 is 5"),
    ("descriptions", 5, PATH, "not 5"),
    ("descriptions", "", PATH, "not ''"),
    ("descriptions", "a\0b", PATH, r"not 'a\x00b'"),
    ("tables", "orders", TABLES, "not 'orders'"),
    ("tables", [], TABLES, "not []"),
    ("tables", ["orders", None], TABLES, "but item 2 is None"),
    ("tables", 5, TABLES, "not 5"),
    ("tables", {"orders"}, TABLES, "not a value of type set"),
    ("functions", "net_price", FUNCTIONS, "not 'net_price'"),
    ("functions", [None], FUNCTIONS, "but item 1 is None"),
    ("limits", {}, "of type Limits, or None", "not {}"),
    ("limits", {"rows": 5}, "of type Limits, or None", "not a value of type dict"),
    ("limits", 5, "of type Limits, or None", "not 5"),
    ("seconds", "5", f"{NUMBER}, or None", "not '5'"),
    ("seconds", 0, f"{NUMBER}, or None", "not 0"),
    ("seconds", -1.5, f"{NUMBER}, or None", "not -1.5"),
    ("seconds", math.nan, f"{NUMBER}, or None", "not nan"),
    ("seconds", math.inf, f"{NUMBER}, or None", "not inf"),
    ("seconds", True, f"{NUMBER}, or None", "not True"),
    ("seconds", -(10**5000), f"{NUMBER}, or None", "not a value of type int"),
    ("prepare", "no", f"{FLAG}, or None", "not 'no'"),
    ("prepare", 0, f"{FLAG}, or None", "not 0"),
    ("calibration", 5, PATH, "not 5"),
    ("calibration", "", PATH, "not ''"),
    ("home", 5, PATH, "not 5"),
    ("home", "", PATH, "not ''"),
    ("home", "~nobody-of-that-name/x", PATH, "not '~nobody-of-that-name/x'"),
    ("model", 5, "a text", "not 5"),
    ("model", None, "a text", "not None"),
    ("base_url", 5, "a text", "not 5"),
    ("base_url", b"http://host", "a text", "not a value of type bytes"),
    ("budget", 0.05, BUDGET, "not 0.05"),
    ("budget", 5, BUDGET, "not 5"),
    ("max_scan", 5, "a text, or None", "not 5"),
    ("privacy", "secret", f"{PRIVACY}, or None", "not 'secret'"),
    ("privacy", True, f"{PRIVACY}, or None", "not True"),
    ("privacy", "x" * 5000, f"{PRIVACY}, or None", f"not '{'x' * 59}…"),
    ("cache", "yes", f"{FLAG}, or None", "not 'yes'"),
    ("cache", 1, f"{FLAG}, or None", "not 1"),
    ("llm", {}, LLM, "not {}"),
    ("llm", "openai/gpt-4.1", LLM, "not a value of type str"),
    ("models", "openai/gpt-4.1", MODELS, "not a value of type str"),
    ("models", [], MODELS, "not []"),
    ("seed", "x", "a whole number", "not 'x'"),
    ("seed", 1.5, "a whole number", "not 1.5"),
    ("seed", True, "a whole number", "not True"),
    ("seed", None, "a whole number", "not None"),
    ("record", "trace.jsonl", FLAG, "not 'trace.jsonl'"),
    ("record", None, FLAG, "not None"),
    ("stand_in", 0, FLAG, "not 0"),
    ("stand_in", "no", FLAG, "not 'no'"),
    ("allow_code", 1, FLAG, "not 1"),
    ("environ", "KEY=value", ENVIRON, "not a value of type str"),
    ("environ", {"KEY": 5}, ENVIRON, "not a value of type dict"),
]

ASK: list[Case] = [
    ("question", None, "a text", "not None"),
    ("question", 5, "a text", "not 5"),
    ("question", b"How many?", "a text", "not a value of type bytes"),
    ("question", ["How many?"], "a text", "not a value of type list"),
    ("question", "How many \ud800?", "a text", "not 'How many \\ud800?'"),
    ("evidence", 3, "a text", "not 3"),
    ("evidence", "\udfff", "a text", "not '\\udfff'"),
    ("evidence", None, "a text", "not None"),
    ("history", "before", "a list of Turn", "not 'before'"),
    ("history", ["before"], "a list of Turn", "but item 1 is 'before'"),
    ("history", [Turn("a", "SELECT 1"), ("b", "SELECT 2")], "a list of Turn", "of type tuple"),
    ("history", None, "a list of Turn", "not None"),
    ("seconds", "5", f"{NUMBER}, or None", "not '5'"),
    ("seconds", math.nan, f"{NUMBER}, or None", "not nan"),
    ("seconds", 0, f"{NUMBER}, or None", "not 0"),
    ("on_event", 5, SINK, "not 5"),
    ("on_event", None, SINK, "not None"),
    ("on_event", lambda kind, payload: None, SINK, "not a value of type function"),
    ("cancelled", True, "of type Event, or None", "not True"),
]

SQL: list[Case] = [
    ("sql", None, "a text", "not None"),
    ("sql", 5, "a text", "not 5"),
    ("seconds", "1", f"{NUMBER}, or None", "not '1'"),
    ("seconds", False, f"{NUMBER}, or None", "not False"),
    ("cancelled", OBJECT, "of type Event, or None", "not a value of type SimpleNamespace"),
]

CHOOSE: list[Case] = [
    ("answer", None, "of type Answer", "not None"),
    ("answer", {"sql": COUNT}, "of type Answer", "not a value of type dict"),
    ("number", "1", "a whole number of at least 0", "not '1'"),
    ("number", 1.0, "a whole number of at least 0", "not 1.0"),
    ("number", True, "a whole number of at least 0", "not True"),
    ("number", -1, "a whole number of at least 0", "not -1"),
]

MADE: list[tuple[Callable[..., Any], Case]] = [
    (Limits, ("rows", -5, COUNTED, "not -5")),
    (Limits, ("rows", 0, COUNTED, "not 0")),
    (Limits, ("rows", 1.5, COUNTED, "not 1.5")),
    (Limits, ("rows", True, COUNTED, "not True")),
    (Limits, ("rows", None, COUNTED, "not None")),
    (Limits, ("seconds", 0, NUMBER, "not 0")),
    (Limits, ("seconds", "10", NUMBER, "not '10'")),
    (Limits, ("seconds", math.inf, NUMBER, "not inf")),
    (Limits, ("result_bytes", "1 MB", COUNTED, "not '1 MB'")),
    (Limits, ("cell_bytes", -1, COUNTED, "not -1")),
    (Limits, ("memory_bytes", 1e9, COUNTED, "not 1000000000.0")),
    (Turn, ("question", None, "a text", "not None")),
    (Turn, ("question", "How many \ud800?", "a text", "not 'How many \\ud800?'")),
    (Turn, ("sql", 5, "a text", "not 5")),
    (Budget, ("calls", -1, NATURAL, "not -1")),
    (Budget, ("tokens", 1.5, NATURAL, "not 1.5")),
    (Budget, ("replies", -1, NATURAL, "not -1")),
    (Budget, ("cost", "0.05", AMOUNT, "not '0.05'")),
    (Budget, ("cost", math.nan, AMOUNT, "not nan")),
    (LlmOptions, ("model", None, "a text", "not None")),
    (LlmOptions, ("base_url", 5, "a text", "not 5")),
    (LlmOptions, ("budget", "$0.05", "a Budget, such as ", "not '$0.05'")),
    (Limits, ("scan", "10GB", "ScanLimit, or None", "not '10GB'")),
    (LlmOptions, ("run_budget", "$20", "a Budget, such as ", "not '$20'")),
    (LlmOptions, ("batches", "yes", "Batches, or None", "not a value of type str")),
    (LlmOptions, ("privacy", "none", PRIVACY, "not 'none'")),
    (LlmOptions, ("remote", "yes", f"{FLAG}, or None", "not 'yes'")),
    (LlmOptions, ("cache", "no", FLAG, "not 'no'")),
    (LlmOptions, ("prices", 5, PATH, "not 5")),
    (LlmOptions, ("revision", 2, "a text", "not 2")),
    (LlmOptions, ("concurrency", 0, COUNTED, "not 0")),
    (LlmOptions, ("concurrency", 1.5, COUNTED, "not 1.5")),
    (LlmOptions, ("timeout", "120", NUMBER, "not '120'")),
    (LlmOptions, ("retrying", -1, NUMBER, "not -1")),
    (LlmOptions, ("reasoning", "much", "'none' or 'minimal' or 'low'", "not 'much'")),
    (LlmOptions, ("reasoning_tokens", -1, "a whole number of at least", "not -1")),
    (LlmOptions, ("verbosity", 3, "'low' or 'medium' or 'high'", "not 3")),
    (LlmOptions, ("requests_per_minute", 0, f"{NUMBER}, or None", "not 0")),
    (LlmOptions, ("tokens_per_minute", math.inf, f"{NUMBER}, or None", "not inf")),
    (LlmOptions, ("capabilities", {"n": True}, "a tuple of capabilities", "of type dict")),
    (LlmOptions, ("capabilities", (("fly", True),), "such as (('seed', False),)", "of type tuple")),
    (LlmOptions, ("record", True, PATH, "not True")),
    (LlmOptions, ("replay", "", PATH, "not ''")),
    (LlmOptions, ("models", {"small": "vllm/m"}, "a mapping from names to ModelOptions", "dict")),
    (ModelOptions, ("model", None, "a text", "not None")),
    (ModelOptions, ("base_url", 5, "a text", "not 5")),
    (ModelOptions, ("key_env", 5, "a text", "not 5")),
    (ModelOptions, ("context_tokens", 0, COUNTED, "not 0")),
    (ModelOptions, ("reply_tokens", 1.5, COUNTED, "not 1.5")),
    (ModelOptions, ("reasoning_tokens", -1, "a whole number of at least", "not -1")),
    (ModelOptions, ("reasoning", "much", "'none' or 'minimal' or", "not 'much'")),
    (ModelOptions, ("verbosity", "long", "'low' or 'medium' or 'high'", "not 'long'")),
    (ModelOptions, ("remote", "yes", f"{FLAG}, or None", "not 'yes'")),
    (ModelOptions, ("prompt_price", -1.0, "a number of at least 0", "not -1.0")),
    (ModelOptions, ("reply_price", "1", "a number of at least 0", "not '1'")),
    (ModelOptions, ("revision", 2, "a text", "not 2")),
    (ModelOptions, ("concurrency", 0, COUNTED, "not 0")),
    (ModelOptions, ("timeout", "120", NUMBER, "not '120'")),
    (ModelOptions, ("retrying", -1, NUMBER, "not -1")),
    (ModelOptions, ("requests_per_minute", 0, f"{NUMBER}, or None", "not 0")),
    (ModelOptions, ("tokens_per_minute", math.inf, f"{NUMBER}, or None", "not inf")),
    (ModelOptions, ("capabilities", {"n": True}, "a tuple of capabilities", "of type dict")),
    (ModelOptions, ("found", 1, FLAG, "not 1")),
    (Answer("answered", "q", None, "sqlite").to_json, ("indent", "x", NATURAL, "not 'x'")),
    (Answer("answered", "q", None, "sqlite").to_json, ("indent", -1, NATURAL, "not -1")),
]


def refused(call: Callable[..., Any], case: Case, named: str, given: Mapping[str, Any]) -> None:
    """Asserts that the call says which argument doesn't fit, what would, and what it got."""
    argument, value, allowed, ending = case
    with pytest.raises(UserError) as raised:
        call(**{**given, argument: value})
    message = str(raised.value)
    assert type(raised.value) is UserError
    assert message.startswith(f"`{argument}` of {named} must be ")
    assert allowed in message
    assert message.endswith(ending)
    assert "validation error" not in message
    assert "http" not in message
    assert len(message) < 250
    assert raised.value.__context__ is None


@pytest.fixture(scope="module")
def shop(
    database_files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    with sqlwright.open(
        database_files["shop"],
        home=tmp_path_factory.mktemp("home"),
        models=scripted_models(COUNT),
    ) as session:
        yield session


@pytest.mark.parametrize("case", OPEN, ids=lambda case: f"{case[0]} {case[3]}")
def test_open_says_what_does_not_fit(case: Case, database_files: dict[str, Path]) -> None:
    refused(sqlwright.open, case, "open", {"url": database_files["shop"]})


@pytest.mark.parametrize("case", ASK)
def test_ask_and_run_say_what_does_not_fit(case: Case, shop: Session) -> None:
    refused(shop.ask, case, "ask", {"question": "How many orders?"})
    refused(shop.run, case, "run", {"question": "How many orders?"})


@pytest.mark.parametrize("case", SQL)
def test_sql_says_what_does_not_fit(case: Case, shop: Session) -> None:
    refused(shop.sql, case, "run_sql", {"sql": COUNT})


@pytest.mark.parametrize("case", CHOOSE)
def test_choose_says_what_does_not_fit(case: Case, shop: Session) -> None:
    answer = Answer("answered", "How many orders?", COUNT, "sqlite")
    refused(shop.choose, case, "choose", {"answer": answer, "number": 1})


@pytest.mark.parametrize(("made", "case"), MADE)
def test_what_is_handed_over_says_what_does_not_fit(made: Callable[..., Any], case: Case) -> None:
    given = {"question": "q", "sql": "SELECT 1"} if made is Turn else {}
    if made is ModelOptions and case[0] != "model":
        given = {"model": "vllm/m"}
    refused(made, case, made.__name__, given)


def test_every_argument_has_a_case() -> None:
    def names(call: Callable[..., Any]) -> set[str]:
        code = call.__wrapped__.__code__  # type: ignore[attr-defined]
        return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) - {"self"}

    assert names(sqlwright.open) == {case[0] for case in OPEN}
    assert names(Session.ask) == names(Session.run) == {case[0] for case in ASK}
    assert names(Session.sql) == {case[0] for case in SQL}
    assert names(Session.choose) == {case[0] for case in CHOOSE}
    for kind in (Limits, Turn, Budget, LlmOptions, ModelOptions):
        given = {case[0] for made, case in MADE if made is kind}
        assert set(kind.__dataclass_fields__) == given  # type: ignore[attr-defined]


def test_a_bare_text_is_told_how_to_be_a_list(database_files: dict[str, Path]) -> None:
    with pytest.raises(UserError) as raised:
        sqlwright.open(database_files["shop"], tables="orders")
    assert raised.value.hint == "Write it in brackets: ['orders']."


def test_what_is_not_there_is_said_on_opening(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    shop = database_files["shop"]
    text = tmp_path / "notes.db"
    text.write_text("not a database")
    not_a_recipe = tmp_path / "list.yaml"
    not_a_recipe.write_text("- local\n")
    wrong: list[tuple[type[UserError], str, dict[str, Any]]] = [
        (DatabaseUnavailable, "doesn't exist", {"url": tmp_path / "shop.db"}),
        (DatabaseUnavailable, "nor does its folder", {"url": tmp_path / "no" / "shop.db"}),
        (DatabaseUnavailable, "is a folder", {"url": str(tmp_path)}),
        (DatabaseUnavailable, "not a SQLite database", {"url": text}),
        (DatabaseUnavailable, "No database was named", {"url": ""}),
        (WorkspaceError, "is not a folder of desc", {"descriptions": tmp_path / "no"}),
        (WorkspaceError, "is not a folder of desc", {"descriptions": str(text)}),
        (ConfigError, "unknown recipe 'x'", {"recipe": "x"}),
        (ConfigError, "can't be read", {"recipe": tmp_path / "no.yaml"}),
        (ConfigError, "a recipe is a mapping", {"recipe": str(not_a_recipe)}),
        (ConfigError, "is not an override", {"overrides": ["beam"]}),
        (ConfigError, "'five' is not a budget", {"budget": "five"}),
        (ConfigError, "doesn't say who serves it", {"model": "gpt", "environ": {}}),
        (ConfigError, "can't be read", {"llm": LlmOptions(replay=tmp_path / "no.jsonl")}),
    ]
    for kind, said, arguments in wrong:
        with pytest.raises(kind, match=said):
            sqlwright.open(**{"url": shop, **arguments})


def test_no_secret_is_repeated(database_files: dict[str, Path]) -> None:
    canary = "sk-canary-123456"
    wrong: list[dict[str, Any]] = [
        {"environ": f"OPENAI_API_KEY={canary}"},
        {"environ": {"OPENAI_API_KEY": canary.encode()}},
        {"llm": canary},
        {"models": canary},
        {"base_url": f"https://user:{canary}@host".encode()},
        {"url": f"nosuch://user:{canary}@host/shop"},
    ]
    for arguments in wrong:
        with pytest.raises(UserError) as raised:
            sqlwright.open(**{"url": database_files["shop"], **arguments})
        assert canary not in f"{raised.value} {raised.value.hint}"


def test_unknown_and_missing_arguments_stay_type_errors(shop: Session) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'tabels'"):
        sqlwright.open("shop.sqlite", tabels=["orders"])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'question'"):
        shop.ask()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'row'"):
        Limits(row=5)  # type: ignore[call-arg]


def test_a_session_stays_usable_after_a_wrong_call(shop: Session) -> None:
    for question in (None, 5, b"How many?"):
        with pytest.raises(UserError):
            shop.ask(question)  # type: ignore[arg-type]
    assert shop.ask("How many orders?").rows == ((4,),)


def test_a_closed_session_says_so(database_files: dict[str, Path], tmp_path: Path) -> None:
    shop = sqlwright.open(database_files["shop"], home=tmp_path, models=scripted_models(COUNT))
    assert shop.sql(COUNT).rows == ((4,),)
    shop.close()
    calls: list[Callable[[], object]] = [
        lambda: shop.ask("How many orders?"),
        lambda: shop.run("How many orders?"),
        lambda: shop.sql(COUNT),
        lambda: shop.workspace,
        shop.warm,
    ]
    for call in calls:
        with pytest.raises(UserError, match="the session is closed") as raised:
            call()
        assert "sqlwright.open" in raised.value.hint
    shop.cancel()
    shop.close()


@pytest.mark.parametrize("kind", [str, Path])
def test_every_path_may_be_a_text_or_a_path(
    kind: Callable[[Path], str | Path], database_files: dict[str, Path], tmp_path: Path
) -> None:
    recipe, described = tmp_path / "own.yaml", tmp_path / "described"
    steps = [
        "retrieval.values",
        "schema_linking.embedded",
        "generation.embedded",
        "repair.execution_guided",
        "selection.first_valid",
    ]
    recipe.write_text(f"name: own\nsteps: [{', '.join(steps)}]\n")
    described.mkdir()
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."openai-compatible/m"]\nprompt = 1.0\nreply = 2.0\n')
    with sqlwright.open(
        kind(database_files["shop"]),
        recipe=kind(recipe),
        descriptions=kind(described),
        home=kind(tmp_path / "home"),
        models=scripted_models(COUNT),
        llm=LlmOptions(record=kind(tmp_path / "run.jsonl")),
    ) as shop:
        answer = shop.ask("How many orders?")
    assert (answer.rows, answer.recipe) == (((4,),), "own")
    assert (tmp_path / "home" / "traces").is_dir()
    assert (tmp_path / "run.jsonl").is_file()
    priced = LlmOptions(
        "openai-compatible/m", "http://127.0.0.1:9", budget=Budget(cost=1.0), prices=kind(prices)
    )
    with sqlwright.open(
        kind(database_files["shop"]), recipe="baseline", llm=priced, record=False
    ) as shop:
        assert shop.sql(COUNT).rows == ((4,),)
    replay = LlmOptions(replay=kind(tmp_path / "run.jsonl"))
    with sqlwright.open(
        kind(database_files["shop"]), llm=replay, record=False, models=scripted_models()
    ) as shop:
        assert shop.sql(COUNT).rows == ((4,),)


def test_what_is_allowed_is_taken(database_files: dict[str, Path], tmp_path: Path) -> None:
    seen: list[str] = []
    with sqlwright.open(
        database_files["shop"],
        overrides=("generation.embedded.beam=3",),
        tables=("orders",),
        limits=Limits(seconds=5, rows=10**30, cell_bytes=10**30, memory_bytes=10**30),
        seconds=60,
        home=tmp_path,
        budget=Budget(calls=0, cost=1),
        privacy="schema-only",
        cache=False,
        models=scripted_models(COUNT),
        seed=-1,
        environ=os.environ,
    ) as shop:
        answer = shop.ask(
            "How many orders?",
            history=(Turn("a", "SELECT 1"),),
            seconds=30,
            on_event=lambda event: seen.append(event.kind),
            cancelled=threading.Event(),
        )
    assert answer.rows == ((4,),)
    assert seen[-1] == "answer"
    assert answer.to_json(indent=None).count("\n") == 0


def test_the_command_line_waits_for_no_checks() -> None:
    code = (
        "import sys; from sqlwright.cli.main import parser; parser().get_command(None, 'ask'); "
        "loaded = [name for name in sys.modules if name.startswith('sqlwright.cli.commands.')]; "
        "assert loaded == ['sqlwright.cli.commands.ask']; "
        "assert not {'pydantic', 'annotated_types'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
