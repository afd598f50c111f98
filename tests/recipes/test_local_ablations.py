"""Each ablation of `local` does what its name says: judged by what a question leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.recipes.ablation_lists import ablations, find_ablation
from sqlwright.recipes.loading import load_recipe
from sqlwright.types import Answer, State
from tests.conftest import build_database
from tests.scripted import ScriptedCritic, ScriptedParser, scripted_models

NAMES = [name for name, one in ablations().items() if one.listed == "local"]
GERMAN = "SELECT name FROM customers WHERE country = 'Germany'"
ALL = "SELECT name FROM customers"
QUESTION = "Which customers are from Germany?"
OFFICE = Path(__file__).parents[1] / "cases" / "asking_back" / "office.sql"


@dataclass
class Ran:
    answer: Answer
    state: State
    parser: ScriptedParser

    @property
    def vetoed(self) -> dict[str, set[str]]:
        return {one.sql: {veto.kind for veto in one.vetoes} for one in self.state.candidates}


@pytest.fixture
def ran(tmp_path: Path, database_files: dict[str, Path]) -> Callable[..., Ran]:
    def run(
        name: str,
        *sql: str,
        question: str = QUESTION,
        database: Path = database_files["shop"],
        critic: ScriptedCritic | None = None,
    ) -> Ran:
        one = find_ablation(name)
        parser = ScriptedParser(sql or (GERMAN, ALL))
        models: dict[str, Any] = scripted_models(parser=parser, critic=critic or ScriptedCritic())
        with api.open(
            database,
            recipe=one.recipe,
            overrides=one.overrides,
            home=tmp_path / "home",
            models=models,
            prepare=False,
            record=False,
        ) as session:
            answer, state = session.run(question)
        return Ran(answer, state, parser)

    return run


@pytest.mark.parametrize("name", NAMES)
def test_it_changes_what_runs(name: str) -> None:
    one = find_ablation(name)
    assert one.against == "local"
    assert load_recipe(one.recipe, one.overrides).step != load_recipe("local").step


def test_no_values_are_looked_up(ran: Callable[..., Ran]) -> None:
    assert ran("local").state.values
    assert ran("local-no-values").state.values == ()
    misspelt = "SELECT name FROM customers WHERE city = 'Munchen'"
    for name, sql in (("local", misspelt.replace("un", "ün")), ("local-no-values", misspelt)):
        (found,) = ran(name, misspelt, question="Who is from Munchen?").state.candidates
        assert found.sql == sql


def test_nothing_is_linked(ran: Callable[..., Ran]) -> None:
    assert ran("local").state.columns
    found = ran("local-no-linker").state
    assert (found.columns, found.tables) == ((), ())


def test_no_query_is_rewritten(ran: Callable[..., Ran]) -> None:
    """Neither for a fault nor for a text that isn't stored; all are run."""
    misspelt = "SELECT name FROM customers WHERE city = 'Munchen'"
    for written, source in ((ALL, "repair.veto"), (misspelt, "repair.execution_guided")):
        question = "Who is from Munchen?" if written == misspelt else QUESTION
        mended = ran("local", written, question=question).state.candidates
        kept = ran("local-no-repair", written, question=question).state.candidates
        assert [one.source for one in mended] == [source]
        assert [one.sql for one in kept] == [written]
        assert kept[0].result is not None


def test_no_fault_is_read(ran: Callable[..., Ran]) -> None:
    assert ran("local-no-repair").vetoed[ALL] == {"value"}
    assert ran("local-no-veto").vetoed == {GERMAN: set(), ALL: set()}


def test_unanswered_words_count_for_nothing(ran: Callable[..., Ran]) -> None:
    """The other vetoes stay."""
    asked = "Which customers are called 'Zoltan'?"
    assert ran("local", ALL, question=asked).vetoed[ALL] == {"unanswered"}
    found = ran("local-no-unanswered", ALL, question=asked)
    assert found.vetoed[ALL] == set()
    assert [one.account for one in found.state.candidates] == [None]
    mended = ran("local-no-unanswered", ALL).state.candidates[0]
    assert mended.source == "repair.veto"


def test_the_first_query_is_taken_without_a_critic(ran: Callable[..., Ran]) -> None:
    listed = "SELECT name, city FROM customers WHERE country = 'Germany'"
    critic = ScriptedCritic({listed: 0.9, GERMAN: 0.2})
    assert ran("local", GERMAN, listed, critic=critic).answer.sql == listed
    found = ran("local-no-critic", GERMAN, listed, critic=critic)
    assert (found.answer.sql, found.state.confidence) == (GERMAN, None)


@pytest.mark.parametrize("name", ["local-no-refusal", "local-no-critic"])
def test_nothing_is_refused_for_doubt(ran: Callable[..., Ran], name: str) -> None:
    critic = ScriptedCritic(answerable=0.1)
    assert ran("local", critic=critic).answer.status == "refused"
    assert ran(name, critic=critic).answer.status == "answered"


def test_nothing_is_asked_back(ran: Callable[..., Ran], tmp_path: Path) -> None:
    office = build_database(OFFICE, tmp_path / "office.sqlite")
    by_order, by_delivery = (
        f"SELECT count(*) FROM orders WHERE strftime('%Y-%m', {column}) = '2024-01'"
        for column in ("order_date", "delivery_date")
    )
    critic = ScriptedCritic({by_order: 0.4, by_delivery: 0.39})

    def asked(name: str) -> Ran:
        question = "How many orders in January 2024?"
        return ran(name, by_order, by_delivery, question=question, database=office, critic=critic)

    assert asked("local").state.question_back is not None
    found = asked("local-no-ask-back")
    assert found.state.question_back is None
    assert found.answer.sql == asked("local").answer.sql


@pytest.mark.parametrize(
    ("name", "beam"),
    [("local", 8), ("local-beam-1", 1), ("local-beam-4", 4), ("local-beam-16", 16)],
)
def test_so_many_queries_are_written(ran: Callable[..., Ran], name: str, beam: int) -> None:
    assert [asked for _, _, asked in ran(name).parser.asked] == [beam]


def test_no_list_of_local_is_without_a_test() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in NAMES if text.count(f'"{name}"') < 1] == []
