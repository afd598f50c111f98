from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.scripted import scripted_models

from sqlwright.english.requests import without_presentation
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.recipes.loading import load_recipe, recipe_names
from sqlwright.running.combinators import leaves
from sqlwright.schema import SchemaView
from sqlwright.session import Session
from sqlwright.steps.retrieval.request import MAX_CHARACTERS, ScreenRequest, screen_request
from sqlwright.types import Question, State

CASES = Path(__file__).parents[2] / "cases" / "request"
READS: dict[str, list[str]] = yaml.safe_load((CASES / "reads.yaml").read_text("utf-8"))
ENGLISH_ONLY = ("local", "local-unscored", "msc-local")


def cases(*names: str) -> list[Any]:
    return [
        pytest.param(case["ask"], case["refuse"], id=f"{name}: {case['ask'][:60]}")
        for name in names
        for case in yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))
    ]


@pytest.mark.parametrize(("ask", "reason"), cases("language", "small_talk", "write"))
def test_a_request_is_refused_for_the_right_reason_or_let_through(
    ask: str, reason: str | None
) -> None:
    refusal = screen_request(Question(ask), english_only=True)
    assert (refusal.reason if refusal else None) == reason


@pytest.mark.parametrize(("ask", "reason"), cases("language"))
def test_other_languages_pass_where_they_can_be_read(ask: str, reason: str | None) -> None:
    assert screen_request(Question(ask)) is None


@pytest.mark.parametrize("recipe", recipe_names())
def test_no_recipe_refuses_a_question_that_only_reads(
    recipe: str, shop_workspace: Workspace
) -> None:
    screens = [s for s in leaves(load_recipe(recipe).step) if isinstance(s, ScreenRequest)]
    assert screens
    asked = [question for group in READS.values() for question in group]
    assert len(set(asked)) >= 300
    context = Context(shop_workspace, Run())
    view = SchemaView(shop_workspace.schema)
    ended = [
        (ask, screen(State(Question(ask), view), context).refusal)
        for screen in screens
        for ask in asked
    ]
    assert [(ask, refusal) for ask, refusal in ended if refusal is not None] == []


@pytest.mark.parametrize("recipe", recipe_names())
@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Kunden gibt es in jeder Stadt?",
        "¿Cuántos clientes hay en Madrid?",
        "每个城市有多少客户?",
    ],
)
def test_only_recipes_of_the_embedded_parser_want_english(
    question: str, recipe: str, open_scripted: Callable[..., Session]
) -> None:
    models = scripted_models("SELECT count(*) FROM customers")
    models |= {name: models["llm"] for name in load_recipe(recipe).asks if name}
    with open_scripted(recipe=recipe, models=models) as session:
        answer = session.ask(question)
    if recipe in ENGLISH_ONLY:
        assert answer.status == "refused"
        assert "English only" in answer.message
    else:
        assert answer.status == "answered"
        assert answer.sql == "SELECT count(*) FROM customers"


def test_a_question_may_have_ten_thousand_characters_and_no_more() -> None:
    longest = "How many customers are there? ".ljust(MAX_CHARACTERS, "x")
    assert screen_request(Question(longest)) is None
    refusal = screen_request(Question(longest + "x"))
    assert refusal is not None
    assert refusal.reason == "too_long"
    assert "10,001" in refusal.message


@pytest.mark.parametrize(
    ("order", "look"),
    [
        ("Please delete all orders from 2019.", "show all orders from 2019"),
        ("Set the price of product 7 to 12.50", "show the price of product 7"),
        ("could you remove the album 'Facelift'?", "show the album 'Facelift'"),
        ("Remove all customers with no orders", "show all customers with no orders"),
    ],
)
def test_a_refused_write_suggests_to_look_instead(order: str, look: str) -> None:
    refusal = screen_request(Question(order))
    assert refusal is not None
    assert refusal.suggestion.endswith(look)


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        ("Book a room for customer 3", "write"),
        ("Ship order 12", "write"),
        ("Cancel order 5", "write"),
        ("Order 12 pens for customer 3", None),
        ("Remove duplicates from customers", "write"),
        ("Remove duplicates from the list of cities", None),
        ("List cancelled orders", None),
        ("Order the customers by name", None),
        ("Customers with a name", None),
        ("Line 3 of order 5", None),
        ("order id 12 lines", None),
        ("Pick a customer whose order is late", None),
    ],
)
def test_an_order_in_a_businesss_own_words(
    ask: str, reason: str | None, shop_workspace: Workspace
) -> None:
    refusal = screen_request(Question(ask), shop_workspace.schema)
    assert (refusal.reason if refusal else None) == reason


@pytest.mark.parametrize(
    ("ask", "left"),
    [
        ("Show me a chart of orders per month", "Show me orders per month"),
        ("Plot orders per month", "Show orders per month"),
        ("Draw a bar chart of orders per city.", "Show orders per city."),
        ("Orders per city as a pie chart", "Orders per city"),
        ("Export the customers to a CSV file", "Show the customers"),
        ("Show orders per month in a table", "Show orders per month"),
        ("Which charts have orders?", "Which charts have orders?"),
    ],
)
def test_words_for_the_form_of_an_answer_are_left_out(
    ask: str, left: str, shop_workspace: Workspace
) -> None:
    context = Context(shop_workspace, Run())
    before = State(Question(ask), SchemaView(shop_workspace.schema))
    after = ScreenRequest(english_only=True)(before, context)
    assert len(after.question.text) == len(ask)
    assert " ".join(after.question.text.split()) == left
    assert bool(after.warnings) == (left != ask)
    assert ScreenRequest()(before, context) == before


def test_a_name_that_is_also_a_form_stays() -> None:
    assert "chart" in without_presentation("Show a chart of accounts", {"chart", "account"})


def test_no_question_is_answered_by_one_that_can_be_asked(shop_workspace: Workspace) -> None:
    refusal = screen_request(Question(" ?"), shop_workspace.schema)
    assert refusal is not None
    table = shop_workspace.schema.tables[0].name
    assert refusal.suggestion.endswith(f"for example: how many rows are in {table}?")


def test_every_refusal_says_what_to_do() -> None:
    for ask in ("", "drop table x", "Wie viele Kunden gibt es?", "x" * 20_000):
        refusal = screen_request(Question(ask), english_only=True)
        assert refusal is not None
        assert refusal.message
        assert refusal.suggestion


def test_screening_hostile_text_takes_no_long_search() -> None:
    pieces = ("please ", "update the ", "find and then ", "give a ", '"', "create a ", "hi ", "; ",
              "and delete the ", "drop table ", "'; ", " ")  # fmt: skip
    for piece in pieces:
        screen_request(Question(piece * (MAX_CHARACTERS // len(piece) - 1) + "x"))
