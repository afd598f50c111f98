"""Tables and columns that a model chooses: what the view keeps, and what bad replies cost."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sqlwright.errors import BudgetSpent
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.messages import Capabilities, Missing
from sqlwright.prompts.sampling import Sampling
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.steps.schema_linking.narrowing import narrowed
from sqlwright.steps.schema_linking.select_columns import SelectColumns
from sqlwright.steps.schema_linking.select_tables import SelectTables
from sqlwright.types import ColumnLink, Question, State, ValueMatch
from tests.scripted import ScriptedLinker
from tests.steps.schema_linking.test_embedded import chain


class Asks(ScriptedModel):
    """A model whose server tells that it reads less than was thought."""

    def context_tokens(self, run: Run) -> int:
        return 4_800


def ask_for(
    step: SelectTables | SelectColumns,
    state: State,
    workspace: Any,
    *replies: Any,
    context_tokens: int = 128_000,
    kind: type[ScriptedModel] = ScriptedModel,
) -> tuple[State, Script]:
    script = Script(otherwise=list(replies))
    model = kind(script, capabilities=Capabilities(remote=False, context_tokens=context_tokens))
    context = Context(workspace, Run(seed=3), {"llm": model, "linker": ScriptedLinker()})
    return step(state, context), script


def start(schema: Schema, text: str = "What is the total of each customer's orders?") -> State:
    return State(Question(text), SchemaView(schema))


def shown(state: State) -> dict[str, list[str]]:
    return {
        table.name: [column.name for column in table.columns]
        for table in state.view.visible_schema().tables
    }


def tables(*names: str) -> str:
    return json.dumps({"reasoning": "x", "tables": names})


def columns(**chosen: list[str]) -> str:
    listed = [{"table": table, "columns": names} for table, names in chosen.items()]
    return json.dumps({"reasoning": "x", "tables": listed})


class Bare:
    """A workspace of which only catalog and texts are looked at, and there are none."""

    catalog = None
    texts = None


def test_tables_that_are_not_chosen_are_hidden(shop_workspace: Workspace) -> None:
    state, _ = ask_for(
        SelectTables(), start(shop_workspace.schema), shop_workspace, tables("Customers", "ORDERS")
    )
    assert shown(state) == {
        "customers": ["id", "name", "city", "country"],
        "orders": ["id", "customer_id", "placed", "status", "total"],
    }
    assert [key.table for key in state.view.visible_schema().foreign_keys] == ["orders"]


def test_the_keys_of_tables_in_between_are_kept(shop_workspace: Workspace) -> None:
    state, _ = ask_for(
        SelectTables(), start(shop_workspace.schema), shop_workspace, tables("customers", "lines")
    )
    assert shown(state)["orders"] == ["id", "customer_id"]
    assert len(state.view.visible_schema().foreign_keys) == 2


def test_what_was_hidden_stays_hidden_and_retrieval_brings_no_table_back(
    shop_workspace: Workspace,
) -> None:
    schema = shop_workspace.schema
    hidden = {ColumnRef("customers", "country")}
    total = ColumnRef("orders", "total")
    state = State(
        Question("Where do they live?"),
        SchemaView(schema).narrowed(set(schema.columns) - hidden),
        values=(ValueMatch("x", ColumnRef("lines", "product"), "Lamp", 1.0),),
        similar_columns=(ColumnLink(total, 1.0),),
    )
    state, _ = ask_for(SelectTables(), state, shop_workspace, tables("customers"))
    assert shown(state) == {"customers": ["id", "name", "city"]}
    state, _ = ask_for(
        SelectColumns(least=0), state, shop_workspace, columns(customers=["city", "country"])
    )
    assert shown(state) == {"customers": ["id", "city"]}
    assert "customers.country" in state.warnings[0].text


def test_samples_are_united(shop_workspace: Workspace) -> None:
    step = SelectTables(sampling=Sampling(temperature=1.0, n=3, again=0))
    replies = (tables("orders"), "nothing useful", tables("customers"))
    state, script = ask_for(step, start(shop_workspace.schema), shop_workspace, *replies)
    assert set(shown(state)) == {"orders", "customers"}
    assert len(script.asked) == 3


def test_a_table_that_one_of_five_samples_names_is_kept_and_no_stored_value_is_shown(
    shop_workspace: Workspace,
) -> None:
    step = SelectTables(
        prompt="schema_linking/recall_tables",
        examples=0,
        descriptions="retrieved",
        sampling=Sampling(temperature=1.0, n=5, again=0),
    )
    replies = [tables("orders")] * 4 + [tables("lines")]
    state, script = ask_for(step, start(shop_workspace.schema), shop_workspace, *replies)
    assert set(shown(state)) == {"orders", "lines"}
    assert [asked.temperature for asked in script.asked] == [1.0] * 5
    prompt = script.asked[0].prompt
    assert "name all tables that the query may have to read" in prompt
    assert "customers" in prompt
    assert not any(value in prompt for value in ("München", "Germany", "'open'", "e.g.", "120.5"))


def test_columns_are_kept_with_the_keys_between_their_tables(shop_workspace: Workspace) -> None:
    state, script = ask_for(
        SelectColumns(least=0),
        start(shop_workspace.schema),
        shop_workspace,
        columns(customers=["name"], lines=["Quantity"]),
    )
    assert shown(state) == {
        "customers": ["id", "name"],
        "orders": ["id", "customer_id"],
        "lines": ["order_id", "product", "quantity"],
    }
    assert "status" in script.asked[0].prompt


@pytest.mark.parametrize(
    "step", [SelectTables(), SelectColumns(least=0)], ids=["tables", "columns"]
)
@pytest.mark.parametrize(
    "bad",
    ["", "orders, I think", '{"tables": ["invoices"]}', '{"tables": [', Missing("rejected", "no")],
)
def test_a_bad_reply_leaves_the_schema_as_it_was(
    step: Any, bad: Any, shop_workspace: Workspace
) -> None:
    before = start(shop_workspace.schema)
    state, _ = ask_for(step, before, shop_workspace, bad)
    assert state.view == before.view
    assert "left the schema as it was" in state.warnings[0].text
    assert "schema_linking" not in state.warnings[0].text  # no names that only a recipe knows


def test_a_bad_reply_is_asked_for_again(shop_workspace: Workspace) -> None:
    state, script = ask_for(
        SelectTables(),
        start(shop_workspace.schema),
        shop_workspace,
        tables("vans"),
        tables("lines"),
    )
    assert list(shown(state)) == ["lines"]
    assert "the schema has no 'vans'" in script.asked[1].prompt


@pytest.mark.parametrize(
    "step", [SelectTables(), SelectColumns(least=0)], ids=["tables", "columns"]
)
def test_a_spent_budget_passes_through(step: Any, shop_workspace: Workspace) -> None:
    with pytest.raises(BudgetSpent):
        ask_for(step, start(shop_workspace.schema), shop_workspace, Missing("budget", "spent"))


@pytest.mark.parametrize("text", ["", "  "])
def test_without_a_question_nothing_is_asked(text: str, shop_workspace: Workspace) -> None:
    before = start(shop_workspace.schema, text)
    for step in (SelectTables(), SelectColumns(least=0)):
        state, script = ask_for(step, before, shop_workspace, "x")
        assert (state, script.asked) == (before, [])
        assert step.calls(before) == 0
        assert step.calls(start(shop_workspace.schema)) == 2


def test_one_table_needs_no_choice(shop_workspace: Workspace) -> None:
    kept = [ref for ref in shop_workspace.schema.columns if ref.table == "orders"]
    before = State(Question("How many?"), SchemaView(shop_workspace.schema).narrowed(kept))
    assert ask_for(SelectTables(), before, shop_workspace, "x")[1].asked == []


def test_a_schema_larger_than_the_context_is_shown_in_part() -> None:
    schema = chain(400)
    question = "What are c250_3 and c251_4?"
    step = SelectTables(sampling=Sampling(max_tokens=500))

    def says(asked: Asked) -> str:
        assert len(asked.prompt) < 3 * 4_000
        assert "c250_3" in asked.prompt
        assert "c100_1" not in asked.prompt
        return tables("t250", "t251")

    script = Script(otherwise=says)
    model = ScriptedModel(script, capabilities=Capabilities(context_tokens=4_000, remote=False))
    workspace: Any = Bare()
    context = Context(workspace, Run(), {"llm": model, "linker": ScriptedLinker()})
    state = step(start(schema, question), context)
    assert set(shown(state)) == {"t250", "t251"}
    assert len(shown(state)["t250"]) == 10
    assert "columns nearest to the question" in state.warnings[0].text


def test_the_whole_schema_is_shown_where_it_fits() -> None:
    schema = chain(400)
    workspace: Any = Bare()
    state, script = ask_for(SelectTables(), start(schema), workspace, tables("t7"))
    assert all(table.name in script.asked[0].prompt for table in schema.tables)
    assert state.warnings == ()


def test_a_small_view_needs_no_choice_of_columns(shop_workspace: Workspace) -> None:
    before = start(shop_workspace.schema)
    state, script = ask_for(SelectColumns(), before, shop_workspace, columns(orders=["total"]))
    assert (state, script.asked) == (before, [])
    assert SelectColumns().calls(before) == 0
    workspace: Any = Bare()
    _, script = ask_for(SelectColumns(), start(chain(4)), workspace, columns(t1=["c1_2"]))
    assert len(script.asked) == 1


def test_the_name_of_what_is_asked_about_is_kept(shop_workspace: Workspace) -> None:
    step = SelectColumns(least=0)
    before = start(shop_workspace.schema, "Which customers live in Sweden?")
    state, _ = ask_for(step, before, shop_workspace, columns(customers=["country"]))
    assert shown(state) == {"customers": ["id", "name", "country"]}
    before = start(shop_workspace.schema, "Who lives in Sweden?")
    state, _ = ask_for(step, before, shop_workspace, columns(customers=["country"]))
    assert shown(state) == {"customers": ["id", "country"]}


def test_hidden_columns_of_the_tables_are_named(shop_workspace: Workspace) -> None:
    schema = shop_workspace.schema
    hidden = {ColumnRef("orders", "placed"), ColumnRef("orders", "total")}
    before = State(
        Question("How many orders are open?"),
        SchemaView(schema).narrowed(set(schema.columns) - hidden),
    )
    state, script = ask_for(SelectTables(), before, shop_workspace, tables("orders"))
    shown_part, others = script.asked[0].prompt.split("by their names alone:\n")
    assert "- placed" not in shown_part
    assert others.startswith("orders: placed, total\n")
    assert "Further columns of these tables, by their names alone" in script.asked[0].prompt
    assert shown(state) == {"orders": ["id", "customer_id", "status"]}  # still hidden


def test_every_table_of_a_large_schema_is_named_the_nearest_first() -> None:
    schema = chain(300)
    kept = schema.all_keys | {ColumnRef("t7", "c7_1")}
    view = SchemaView(schema).narrowed(ref for ref in kept if ref.table != "t9")
    workspace: Any = Bare()
    before = State(Question("What are the c7_1 of t250s?"), view)
    state, script = ask_for(SelectTables(), before, workspace, tables("t7", "t9"))
    prompt = script.asked[0].prompt
    shown_part, others = prompt.split("by their names alone:\n")
    assert shown_part.endswith("of these tables, and further tables, ")
    assert re.findall(r"^table (\w+)", shown_part, re.MULTILINE) == ["t7"]
    listed = re.search(r"^Tables: (.+)$", others, re.MULTILINE)
    assert listed is not None
    names = listed[1].split(", ")
    assert set(names) == {table.name for table in schema.tables} - {"t7"}
    assert names.index("t250") < 5
    # A table that was hidden as a whole is there again with all its columns.
    assert len(shown(state)["t9"]) == len(schema.table("t9").columns)  # type: ignore[union-attr]
    assert "c7_2" not in shown(state)["t7"]
    assert state.warnings == ()


@pytest.mark.parametrize(
    ("known", "kind"),
    [(4_800, ScriptedModel), (128_000, Asks)],
    ids=["by its capabilities", "by its server's word"],
)
def test_a_model_that_reads_little_is_shown_fewer_names(
    known: int, kind: type[ScriptedModel]
) -> None:
    schema = chain(300)
    view = SchemaView(schema).narrowed(schema.all_keys | {ColumnRef("t7", "c7_1")})
    before = State(Question("What are the c7_1?"), view)
    workspace: Any = Bare()
    step = SelectTables(sampling=Sampling(max_tokens=500))
    _, script = ask_for(step, before, workspace, tables("t7"), context_tokens=known, kind=kind)
    listed = re.search(r"^Tables: (.+) and 199 more$", script.asked[0].prompt, re.MULTILINE)
    assert listed is not None
    assert len(listed[1].split(", ")) == 100


def test_keys_of_chosen_tables_stay_also_those_into_tables_that_were_not(
    shop_workspace: Workspace,
) -> None:
    state = State(Question("Which orders are open?"), SchemaView(shop_workspace.schema))
    kept = set(narrowed(state, [ColumnRef("orders", "status")]).view.visible)
    assert kept == {ColumnRef("orders", name) for name in ("id", "customer_id", "status")}
