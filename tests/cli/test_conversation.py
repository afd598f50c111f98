"""A chat over a real database with scripted models."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import sqlwright
from sqlwright.api import Session
from sqlwright.cli.commands.chat import HELP, Conversation
from sqlwright.cli.opening import AnswerAndState
from sqlwright.cli.views.ask import show, show_found
from sqlwright.protocols import Limits
from tests.cli.answers import ANSWER, REFUSED
from tests.cli.hostile import acting, texts
from tests.cli.rendering import printed, screen
from tests.scripted import scripted_models

Open = Callable[..., Session]


class Talk:
    """A conversation whose output can be read bit by bit."""

    def __init__(self, session: Session) -> None:
        self.screen = screen()
        self.conversation = Conversation(self.screen, session, limits=Limits())
        self.going = True

    def say(self, line: str) -> str:
        """What is printed in reply, notes and errors included."""
        streams = (self.screen.out.file, self.screen.err.file)
        self.going = self.conversation.take(line)
        texts = []
        for stream in streams:
            assert isinstance(stream, io.StringIO)
            texts.append(stream.getvalue())
            stream.seek(0)
            stream.truncate()
        return "".join(texts)


@pytest.fixture
def talk(open_scripted: Open) -> Talk:
    return Talk(
        open_scripted(
            "SELECT name FROM customers ORDER BY name", "SELECT count(*) AS n FROM customers"
        )
    )


def test_a_question_then_its_details(talk: Talk) -> None:
    answer = talk.say("Which customers are there?")
    assert "SELECT name FROM customers ORDER BY name" in answer
    assert "considered" in answer
    assert talk.say(":sql").strip() == "SELECT name FROM customers ORDER BY name"
    assert "Candidates" in talk.say(":why")
    assert "… " in talk.say(":rows 1")
    assert "SELECT count(*) AS n FROM customers" in talk.say(":alt 1")
    assert talk.conversation.exit_code == 0


def test_before_any_question(talk: Talk) -> None:
    for line in (":sql", ":why", ":alt 1", ":rows", ":json"):
        assert "nothing has been asked yet" in talk.say(line)


def test_the_schema_can_be_looked_at(talk: Talk) -> None:
    tables = talk.say(":tables")
    assert "customers" in tables
    assert "name" in talk.say(":columns customers")
    assert "no table 'nonsense'; :tables lists them" in talk.say(":columns nonsense")


@pytest.mark.parametrize("typed", ["custo", "CUSTOMER", "tomers", "costumers"])
def test_a_table_that_isnt_there_brings_the_nearest_to_mind(talk: Talk, typed: str) -> None:
    told = f"no table '{typed}'; did you mean customers"
    assert told in " ".join(talk.say(f":columns {typed}").split())


def test_tables_can_be_looked_for(talk: Talk) -> None:
    found = talk.say(":tables cust")
    assert "customers" in found
    assert "orders" not in found
    assert "did you mean orders?" in talk.say(":tables ordres")
    assert "write a table's name after it" in talk.say(":columns")


def test_a_query_of_ones_own(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    assert "7\n" in talk.say(":run SELECT 3 + 4 AS seven")
    talk.say(":run DELETE FROM customers")
    assert "error" in capsys.readouterr().err
    assert talk.conversation.exit_code == 7


def test_more_rows_are_those_of_what_was_shown_last(talk: Talk) -> None:
    assert "nothing has been asked yet" in talk.say(":rows 5")
    talk.say("Which customers are there?")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30) SELECT i"
    talk.say(f":run {numbers} AS thirty FROM n")
    shown = talk.say(":rows 5")
    assert "thirty" in shown
    assert "25 more of 30 rows" in shown
    talk.say(":alt 1")
    assert "1 row" in talk.say(":rows 9")
    assert "write how many after :rows" in talk.say(":rows many")
    talk.say(":new")
    assert "nothing has been asked yet" in talk.say(":rows")


def test_wrong_commands_are_explained(talk: Talk) -> None:
    assert "no command :tabels; did you mean :tables?" in talk.say(":tabels")
    assert ":help lists them" in talk.say(":nonsense")
    assert "alternatives: 1 to 1" in talk.say("Which customers?") + talk.say(":alt 9")
    assert talk.going


def test_help_lists_every_command(talk: Talk) -> None:
    text = talk.say(":help")
    assert all(name in text for name in HELP)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("help", ":columns TABLE"),
        ("?", ":columns TABLE"),
        (":?", ":columns TABLE"),
        (".tables", "customers"),
        ("\\d", "customers"),
        ("\\dt cust", "customers"),
        (".schema customers", "country"),
    ],
)
def test_other_programs_spellings_are_understood(talk: Talk, line: str, shown: str) -> None:
    assert shown in talk.say(line)
    assert not talk.conversation.exit_code


def test_a_query_is_run_as_it_is(talk: Talk) -> None:
    shown = talk.say("SELECT count(*) AS counted FROM orders")
    assert "that is a query" in shown
    assert "counted" in shown
    # English, though it begins like one: "Germany" is no table.
    assert "recipe local" in talk.say("select the customers from Germany")
    assert "recipe local" in talk.say("select all customers")
    assert "recipe local" in talk.say(".5 is the discount of which customers?")


@pytest.mark.parametrize("line", [":quit", ":q", "quit", "exit", "EXIT", "\\q", ".exit"])
def test_goodbye(talk: Talk, line: str) -> None:
    talk.say(line)
    assert not talk.going


def test_an_earlier_question_is_handed_on_until_forgotten(open_scripted: Open) -> None:
    session = open_scripted("SELECT name FROM customers")
    talk = Talk(session)
    talk.say("Which customers?")
    talk.say("And how many?")
    talk.say(":new")
    talk.say("Which?")
    asked = [question for question, _, _ in session.models["parser"].asked]
    assert [turn.question for turn in asked[1].history] == ["Which customers?"]
    assert asked[2].history == ()


def test_a_refusal_is_shown_and_remembered_in_the_exit_code(talk: Talk) -> None:
    assert "no answer" in talk.say("Delete all customers")
    assert talk.conversation.exit_code == 10


def test_json_of_the_last_answer(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    talk.say("Which customers?")
    talk.say(":json")
    assert json.loads(capsys.readouterr().out)["status"] == "answered"


@pytest.mark.parametrize("name", texts())
def test_hostile_lines(talk: Talk, name: str) -> None:
    text = texts()[name][:500]
    for line in (text, f":{text}", f":columns {text}", f":alt {text}", f":run {text}"):
        if line.strip():
            talk.conversation.repeat(line)
            assert acting(talk.say(line)) <= {"\n"}


def test_an_answer_as_sql_alone(capsys: pytest.CaptureFixture[str]) -> None:
    show(screen(), AnswerAndState(ANSWER), "sql")
    assert capsys.readouterr().out == f"{ANSWER.sql}\n"


@pytest.mark.parametrize("form", ["sql", "csv"])
def test_a_refusal_leaves_standard_output_to_machines_empty(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = screen()
    assert show_found(shown, AnswerAndState(REFUSED), False, form) == 10
    assert not printed(shown)
    assert not capsys.readouterr().out
    assert isinstance(shown.err.file, io.StringIO)
    assert "This asks to change data" in shown.err.file.getvalue()


def test_the_best_at_hand_after_an_interrupt() -> None:
    shown = screen()
    assert show_found(shown, AnswerAndState(ANSWER), True) == 130
    assert "Wholesale" in printed(shown)
    nothing = screen()
    assert show_found(nothing, AnswerAndState(REFUSED), True) == 130
    assert not printed(nothing)


def greeting(session: Session, *, interactive: bool) -> str:
    talk = Talk(session)
    talk.conversation.greet(interactive)
    assert isinstance(talk.screen.err.file, io.StringIO)
    return talk.screen.err.file.getvalue()


@pytest.mark.parametrize("interactive", [True, False])
def test_a_recipe_that_reads_each_question_alone_says_so(
    open_scripted: Open, *, interactive: bool
) -> None:
    session = open_scripted("SELECT name FROM customers")
    said = greeting(session, interactive=interactive)
    assert said.count(f"{session.recipe.name} reads each question on its own") == 1


def test_a_recipe_that_shows_earlier_questions_to_a_model_says_nothing_of_the_kind(
    shop: Path,
) -> None:
    with sqlwright.open(shop, recipe="baseline", model="ollama/any") as session:
        assert "on its own" not in greeting(session, interactive=True)
        assert not greeting(session, interactive=False)


def test_a_note_about_the_database_is_told_once(shop: Path) -> None:
    folder = shop.parent / "described"
    folder.mkdir()
    (folder / "nowhere.csv").write_text("original_column_name,column_name\na,b\n")
    models = scripted_models("SELECT name FROM customers")
    with sqlwright.open(shop, descriptions=folder, models=models) as session:
        talk = Talk(session)
        first, second = talk.say("Which customers?"), talk.say("Which ones?")
        assert first.count("nowhere.csv fits no table") == 1
        assert "nowhere.csv" not in second
        assert "Ada" in second
