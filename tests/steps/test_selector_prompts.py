"""Golden renderings of prompts over the shop: a change of wording shows in a diff.

`python -m tests.steps.test_selector_prompts` writes them anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlwright.candidates import execute
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Message
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.schema_linking.filter_columns import FilterColumns
from sqlwright.steps.schema_linking.select_columns import SelectColumns
from sqlwright.steps.schema_linking.select_tables import SelectTables
from sqlwright.steps.selection.evaluate_tests import EvaluateTests
from sqlwright.steps.selection.generate_tests import GENERAL, GenerateTests
from sqlwright.types import (
    Candidate,
    DescriptionMatch,
    Question,
    State,
    Turn,
    UnitTest,
    ValueMatch,
)

GOLDEN = Path(__file__).parents[1] / "cases" / "prompts"
STEPS: dict[str, Callable[[], Step]] = {
    "filter_column": lambda: FilterColumns(form="per_column"),
    "filter_columns": lambda: FilterColumns(least=0),
    "select_tables": SelectTables,
    "recall_tables": lambda: SelectTables(
        prompt="schema_linking/recall_tables", examples=0, descriptions="retrieved"
    ),
    "tuned_tables": lambda: SelectTables(
        prompt="schema_linking/tuned_tables", examples=0, descriptions="retrieved"
    ),
    "select_columns": lambda: SelectColumns(least=0),
    "generate_tests": GenerateTests,
    "evaluate_test": EvaluateTests,
    "evaluate_candidate": lambda: EvaluateTests(arrangement="per_candidate"),
}
QUERIES = (
    "SELECT sum(total) FROM orders WHERE status = 'open'",
    "SELECT sum(o.total)\nFROM orders AS o JOIN customers AS c ON o.customer_id = c.id\n"
    "WHERE c.city = 'München' AND o.status = 'open'",
    "SELECT total FROM orders JOIN customers ON customer_id = customers.id WHERE city = 'München'",
    "SELECT total FROM sales",
)


def state_of(workspace: Workspace) -> State:
    """A question with everything a prompt may show."""
    found = (ValueMatch("Munich", ColumnRef("customers", "city"), "München", 0.8),)
    written = [
        Candidate(sql, "test", values=found, sample=n) for n, sql in enumerate(QUERIES, start=1)
    ]
    return State(
        Question(
            "What do the open orders from Munich come to?",
            "an order is from where its customer lives",
            (Turn("How many orders are open?", "SELECT count(*) FROM orders"),),
        ),
        SchemaView(workspace.schema),
        values=found,
        descriptions=(
            DescriptionMatch(
                ColumnRef("orders", "status"), "description", "How far the order is", 0.6
            ),
        ),
        candidates=execute(written, workspace.database, Run()),
        tests=(UnitTest("The query adds up the totals of open orders only."), UnitTest(GENERAL)),
    )


def rendered(name: str, workspace: Workspace) -> str:
    """The first prompt a step sends, as it would be typed; the last where each is another."""
    model = ScriptedModel(Script(otherwise="none"))
    context = Context(workspace, Run(seed=1), {"llm": model})
    STEPS[name]()(state_of(workspace), context)
    asked = [request.messages for _, request in model.requests if len(request.messages) == 2]
    return laid_out(asked[0])


def laid_out(messages: tuple[Message, ...]) -> str:
    """Messages as one text."""
    return "\n".join(f"<<{message.role}>>\n{message.text}\n" for message in messages)


@pytest.mark.parametrize("name", STEPS)
def test_a_prompt_reads_as_it_did(name: str, shop_workspace: Workspace) -> None:
    golden = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert rendered(name, shop_workspace) == golden


@pytest.mark.parametrize("name", STEPS)
def test_without_stored_values_nothing_stored_is_left(name: str, shop_workspace: Workspace) -> None:
    model = ScriptedModel(Script(otherwise="none"))
    context = Context(shop_workspace, Run(seed=1), {"llm": model})
    STEPS[name]()(state_of(shop_workspace), context)
    for _, request in model.requests:
        for message in request.messages:
            if message.role != "assistant":
                text = str(message.text.without("value"))
                assert "München" not in text
                assert "Ada Brandt" not in text
                assert "120.5" not in text


@pytest.mark.parametrize("name", STEPS)
def test_what_changes_least_comes_first(name: str, shop_workspace: Workspace) -> None:
    text = rendered(name, shop_workspace)
    assert text.startswith("<<system>>\n")
    instructions, rest = text.split("<<user>>\n")
    assert "Munich" not in instructions
    assert "Munich" in rest


def write(workspace: Any) -> None:
    """Make the golden renderings."""
    GOLDEN.mkdir(exist_ok=True)
    for name in STEPS:
        (GOLDEN / f"{name}.txt").write_text(rendered(name, workspace), encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    from sqlwright.prepare import open_workspace
    from tests.conftest import DATABASES, build_database

    with tempfile.TemporaryDirectory() as folder:
        path = build_database(DATABASES / "shop.sql", Path(folder) / "shop.sqlite")
        opened = open_workspace(str(path), folder=Path(folder) / "absent")
        write(opened)
        opened.database.close()
