"""`sqlwright lab compare`: what it shows, writes and ends with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from sqlwright.api import Session
from sqlwright.cli.commands.compare import comparison_lines
from sqlwright.lab.comparison.asking import compare
from sqlwright.lab.comparison.records import Comparison
from tests.cli import hostile
from tests.cli.conftest import Outcome
from tests.cli.rendering import look, rendered
from tests.llm.server import ModelServer

Command = Callable[..., Outcome]
QUESTION = "How many customers live in Munchen?"
RIGHT = "SELECT count(*) FROM customers WHERE city = 'München'"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answer=lambda _: RIGHT) as running:
        yield running


@pytest.fixture
def model(home: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options that name the server."""
    for name in ("OPENAI_API_KEY", "SQLWRIGHT_KEYS"):
        monkeypatch.delenv(name, raising=False)
    return ["-m", "openai-compatible/m", "--base-url", server.url]


def test_recipes_are_shown_side_by_side(sqlwright: Command, shop: Path, model: list[str]) -> None:
    outcome = sqlwright("lab", "compare", shop, QUESTION, "-r", "baseline,chess-ir-ss-cg", *model)
    assert outcome.code == 0
    assert "Both recipes give the same result by queries that say the same." in outcome.out
    for title in ("Chose", "Calls, tokens, cost and time"):
        assert f"\n{title}" in outcome.out
    overview = {line.split()[0]: line.split() for line in outcome.out.split("\n")[2:5]}
    assert overview["baseline"][1:4] == ["answered", "A", "1"]
    assert overview["chess-ir-ss-cg"][1:3] == ["answered", "A"]


def test_without_a_model_the_others_are_compared(sqlwright: Command, shop: Path) -> None:
    outcome = sqlwright("lab", "compare", shop, QUESTION, "-r", "local,baseline,local-unscored")
    assert outcome.code == 0
    assert "baseline        not asked" in outcome.out
    assert "this recipe asks a language model, and none was named" in outcome.out
    assert "-m provider/model" in outcome.out
    alone = sqlwright("lab", "compare", shop, QUESTION, "-r", "baseline")
    assert (alone.code, alone.out) == (4, "")
    assert "none was named" in alone.err


def test_a_server_that_is_not_running_fails_its_recipes_alone(
    sqlwright: Command, shop: Path, home: Path
) -> None:
    with ModelServer() as gone:
        url = gone.url
    options = ["-m", "openai-compatible/m", "--base-url", url, "--no-stand-in"]
    both = sqlwright("lab", "compare", shop, QUESTION, "-r", "local,baseline", *options)
    assert both.code == 0
    assert "is its server running?" in " ".join(both.out.split())
    assert "local answered, no other did." in both.out
    alone = sqlwright("lab", "compare", shop, QUESTION, "-r", "chess-ir-ss-cg", *options)
    assert alone.code == 11
    assert "There is no answer." in alone.out


def test_a_refusal_is_an_exit_code_of_its_own(sqlwright: Command, shop: Path) -> None:
    outcome = sqlwright("lab", "compare", shop, "Delete all orders", "-r", "local")
    assert outcome.code == 10
    assert "refused" in outcome.out


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ((), 2, "no recipes were named"),
        (("-r", "local,locale"), 4, "locale"),
        (("-r", "local,local"), 4, "named twice"),
        (("-r", "local", "-m", "ollama/m"), 4, "would not ask ollama/m"),
        (("-r", "local", "--set", "samples.count=2"), 4, "has no such step"),
        (("-r", "local", "--html", "shop.sqlite"), 2, "shop.sqlite is there already"),
        (("-r", "local", "--html", "absent/page.html"), 2, "there is no folder absent"),
        (("-r", "local,baseline", "-m", "ollama/m", "--budget", "five"), 4, "not a budget"),
    ],
)
def test_what_does_not_fit_is_told_with_what_to_do(
    sqlwright: Command, shop: Path, options: tuple[str, ...], code: int, says: str
) -> None:
    outcome = sqlwright("lab", "compare", shop, QUESTION, *options)
    assert (outcome.code, outcome.out) == (code, "")
    assert says in outcome.err


def test_a_setting_is_of_one_recipe_or_of_all(
    sqlwright: Command, shop: Path, model: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLWRIGHT_LLM_CACHE", "false")
    recipes = ["-r", "baseline,chess-ir-ss-cg", "--json", *model]
    more = ["--set", "baseline:samples.count=3", "--set", "samples.workers=1"]
    outcome = sqlwright("lab", "compare", shop, QUESTION, *recipes, *more)
    baseline, chess = json.loads(outcome.out)["recipes"]
    assert len(baseline["generated"]) == 3
    assert len(chess["generated"]) == 1
    assert baseline["overrides"] == ["samples.workers=1", "samples.count=3"]


def test_a_page_is_written_beside_what_is_printed(
    sqlwright: Command, shop: Path, model: list[str]
) -> None:
    page = Path("page.html")
    words = ["lab", "compare", shop, QUESTION, "-r", "local,baseline", *model]
    outcome = sqlwright(*words, "--html", page)
    assert outcome.code == 0
    assert "written to page.html" in outcome.err
    assert outcome.out.count("\n") < 8  # the overview; all else is on the page
    shown = page.read_text("utf-8")
    assert shown.startswith("<!doctype html>")
    for part in ("Chose", "Retrieved", "Linked", "Generated", "by stage", "customers.city"):
        assert part in shown
    assert sqlwright(*words, "--html", page).code == 2
    both = sqlwright(*words, "--html", "other.html", "--json")
    assert json.loads(both.out)["format"] == "sqlwright-comparison"
    assert Path("other.html").is_file()
    assert sorted(path.name for path in Path.cwd().iterdir()) == [
        "other.html", "page.html", "shop.sqlite",
    ]  # fmt: skip


@pytest.fixture
def told(open_scripted: Callable[..., Session]) -> Comparison:
    """Two results, and a recipe that wasn't asked."""
    session = open_scripted(
        "SELECT name FROM customers WHERE country = 'Germany' ORDER BY name",
        "SELECT city FROM customers WHERE country = 'Germany'",
        environ={},
    )
    return compare(
        session,
        "Which customers are from Germany?",
        ["local", "local-unscored", "baseline"],
        overrides_of={"baseline": ["generation.direct.sampling.model=openai/none"]},
    )


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 200])
def test_it_fits_the_terminal(told: Comparison, width: int) -> None:
    lines = rendered(comparison_lines(told, look(width)), width).split("\n")
    assert max(cell_len(line) for line in lines) <= width
    beside = any(
        line.split() == ["local", "A", "local-unscored", "A", "baseline"] for line in lines
    )
    assert beside == (width >= 140)


def test_hostile_text_is_harmless(open_scripted: Callable[..., Session]) -> None:
    for text in hostile.texts().values():
        short = text[:500].encode("utf-8", "replace").decode("utf-8")
        literal = short.replace("'", "''").replace("\0", "")
        session = open_scripted(f"SELECT '{literal}' AS \"{literal.replace(chr(34), '')}x\"")
        told = compare(session, short, ["local", "local-unscored"], evidence=short)
        assert not hostile.acting(rendered(comparison_lines(told, look(100)), 100)) - {"\n"}
        assert not hostile.acting(told.to_html()) - {"\n", "\t"}
        session.close()
