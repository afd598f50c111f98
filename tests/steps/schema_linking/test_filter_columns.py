"""Columns judged one by one: in many calls, in few, in none; and what failed calls cost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.messages import Capabilities, Missing
from sqlwright.prompts.demonstrations import load_column_demonstrations
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.recipes.loading import parse_recipe
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, SchemaView, Table
from sqlwright.spending import Budget, Spending
from sqlwright.steps.schema_linking.filter_columns import FilterColumns
from sqlwright.types import ColumnLink, DescriptionMatch, Question, State, ValueMatch
from tests.scripted import ScriptedLinker
from tests.steps.schema_linking.test_embedded import chain
from tests.steps.schema_linking.test_selecting import Bare

QUESTION = "What is the total of the open orders?"


def start(schema: Schema, text: str = QUESTION, **known: Any) -> State:
    return State(Question(text, "open is a status"), SchemaView(schema), **known)


def filtered(step: FilterColumns, state: State, workspace: Any, says: Any) -> tuple[State, Script]:
    script = Script(otherwise=says)
    models = {"llm": ScriptedModel(script), "linker": ScriptedLinker()}
    return step(state, Context(workspace, Run(seed=2), models)), script


def visible(state: State) -> set[str]:
    return {str(ref) for ref in state.view.visible}


def keys(schema: Schema) -> set[str]:
    return {str(ref) for ref in schema.all_keys}


def yes_for(*names: str) -> Callable[[Asked], str]:
    """A judge of single columns."""

    def says(asked: Asked) -> str:
        column = re.findall(r"^Column: (.+)$", asked.prompt, re.MULTILINE)[-1]
        return json.dumps({"reasoning": "x", "relevant": "yes" if column in names else "no"})

    return says


def listing(**chosen: list[str]) -> str:
    listed = [{"table": table, "columns": names} for table, names in chosen.items()]
    return json.dumps({"reasoning": "x", "tables": listed})


# One call per column


def test_each_column_is_judged_in_a_call_of_its_own(shop_workspace: Workspace) -> None:
    schema = shop_workspace.schema
    step = FilterColumns(form="per_column")
    state, script = filtered(step, start(schema), shop_workspace, yes_for("total", "status"))
    assert visible(state) == keys(schema) | {"orders.total", "orders.status"}
    assert len(script.asked) == schema.column_count - len(keys(schema))
    assert step.calls(start(schema)) == len(script.asked) + 1
    assert len({asked.seed for asked in script.asked}) == len(script.asked)


def test_a_column_is_shown_with_what_retrieval_found_after_sixteen_demonstrations(
    shop_workspace: Workspace,
) -> None:
    status = ColumnRef("orders", "status")
    state = start(
        shop_workspace.schema,
        values=(ValueMatch("open", status, "open", 1.0),),
        descriptions=(DescriptionMatch(status, "description", "How far the order is", 0.7),),
    )
    step = FilterColumns(form="per_column", keep_found=False)
    _, script = filtered(step, state, shop_workspace, yes_for())
    about = "\n\nTable: orders\nColumn: status\n"
    (prompt,) = [a.prompt for a in script.asked if about in a.prompt.rsplit("Evidence:", 1)[1]]
    assert prompt.count("Reply: {") == len(load_column_demonstrations()) == 16
    shown = prompt.rsplit("Evidence:", 1)[1]
    assert shown == (
        f" open is a status\nQuestion: {QUESTION}\n\nTable: orders\nColumn: status\nType: TEXT\n"
        "Description: How far the order is\nExample values: open, shipped, cancelled"
    )


def shown_of(column: str, script: Script) -> str:
    """What prompts show behind the name of a column, in a call of its own or in a line."""
    shown = [re.split(r"\nSchema:\n|\nColumn: ", asked.prompt)[-1] for asked in script.asked]
    (about,) = [text for text in shown if re.search(rf"^(?:- )?{column}\b", text, re.MULTILINE)]
    own = about.startswith(column)
    return (
        about if own else next(line for line in about.split("\n") if line.startswith(f"- {column}"))
    )


FORMS: Any = pytest.mark.parametrize("form", ["per_column", "batched"])


@FORMS
@pytest.mark.parametrize(
    ("descriptions", "found", "shown"),
    [
        ("all", False, True),
        ("auto", False, True),
        ("retrieved", False, False),
        ("retrieved", True, True),
    ],
)
def test_descriptions_are_shown_by_the_option_of_all_steps(
    shop_workspace: Workspace, form: Any, descriptions: Any, found: bool, shown: bool
) -> None:
    city, told = ColumnRef("customers", "city"), "the town of the main branch"
    workspace = described(shop_workspace, city, told)
    matches = (DescriptionMatch(city, "description", told, 0.7),) if found else ()
    step = FilterColumns(form=form, least=0, descriptions=descriptions, keep_found=False)
    state = start(workspace.schema, descriptions=matches)
    _, script = filtered(step, state, workspace, yes_for() if form == "per_column" else listing())
    assert (told in shown_of("city", script)) is shown


@FORMS
def test_values_are_those_that_other_steps_show(shop_workspace: Workspace, form: Any) -> None:
    city = ColumnRef("customers", "city")
    values = tuple(
        ValueMatch("Aa", city, f"A{letter}", 0.9 - n / 100) for n, letter in enumerate("abcdefgh")
    )
    says = yes_for() if form == "per_column" else listing()
    step = FilterColumns(form=form, least=0, keep_found=False)
    _, script = filtered(step, start(shop_workspace.schema, values=values), shop_workspace, says)
    assert "Aa" in shown_of("city", script)
    assert "Ah" not in shown_of("city", script)  # far from its phrase, and one of many
    at_random = FilterColumns(form=form, least=0, values="random")
    _, script = filtered(at_random, start(shop_workspace.schema), shop_workspace, says)
    assert sum(name in shown_of("city", script) for name in ("München", "Copenhagen")) == 1


def described(workspace: Workspace, ref: ColumnRef, text: str) -> Workspace:
    """The workspace with a column described."""
    tables = tuple(
        replace(
            table,
            columns=tuple(
                replace(c, description=text) if (table.name, c.name) == ref else c
                for c in table.columns
            ),
        )
        for table in workspace.schema.tables
    )
    return replace(workspace, schema=replace(workspace.schema, tables=tables))


@pytest.mark.parametrize("bad", ["", "Perhaps.", "{", Missing("unavailable", "down")])
def test_a_failed_call_keeps_its_column(bad: Any, shop_workspace: Workspace) -> None:
    judge = yes_for("total")

    def says(asked: Asked) -> Any:
        return bad if "\nColumn: city\n" in asked.prompt[-200:] else judge(asked)

    step = FilterColumns(form="per_column")
    state, _ = filtered(step, start(shop_workspace.schema), shop_workspace, says)
    assert visible(state) == keys(shop_workspace.schema) | {"orders.total", "customers.city"}
    assert "1 of 8 calls failed" in state.warnings[0].text


# Many columns per call


def test_many_columns_are_judged_in_one_call(shop_workspace: Workspace) -> None:
    schema = shop_workspace.schema
    step = FilterColumns(least=0)
    reply = listing(orders=["Total", "status"])
    state, script = filtered(step, start(schema), shop_workspace, reply)
    assert visible(state) == keys(schema) | {"orders.total", "orders.status"}
    assert len(script.asked) == 1
    assert step.calls(start(schema)) == 2


def test_tables_stay_together_until_one_alone_is_too_large() -> None:
    workspace: Any = Bare()
    _, script = filtered(FilterColumns(least=0, columns=20), start(chain(6)), workspace, listing())
    shown = [sorted(set(re.findall(r"\bc(\d)_\d", asked.prompt))) for asked in script.asked]
    assert shown == [["0", "1"], ["2", "3"], ["4", "5"]]
    for number, asked in enumerate(script.asked, start=1):
        kept, columns = asked.prompt.split(f"Columns, part {number} of 3")
        assert re.findall(r"^(t\d): ", kept, re.MULTILINE) == [f"t{n}" for n in range(6)]
        assert "table t" in columns
    _, script = filtered(FilterColumns(least=0, columns=5), start(chain(2)), workspace, listing())
    counts = [len(set(re.findall(r"\bc\d_\d", asked.prompt))) for asked in script.asked]
    assert counts == [4, 4, 5, 3]  # the first has another column, which is no key
    _, script = filtered(FilterColumns(least=0, tokens=120), start(chain(2)), workspace, listing())
    assert len(script.asked) == 5


@pytest.mark.parametrize(
    "bad", ["", "None of them.", '{"tables": [', listing(t1=["no_such"]), Missing("rejected", "no")]
)
def test_a_failed_call_keeps_its_columns(bad: Any) -> None:
    schema = chain(3)
    workspace: Any = Bare()

    def says(asked: Asked) -> Any:
        return bad if "c1_3" in asked.prompt else listing(t0=["c0_1"], t2=[])

    state, _ = filtered(FilterColumns(least=0, columns=9), start(schema), workspace, says)
    kept = {f"t1.c1_{n}" for n in range(8)} | {"t0.c0_1"}
    assert visible(state) == keys(schema) | kept
    assert "1 of 3 calls failed" in state.warnings[0].text


def test_a_call_is_no_larger_than_the_model_can_read() -> None:
    script = Script(otherwise=listing())
    model = ScriptedModel(script, capabilities=Capabilities(context_tokens=6_000, remote=False))
    workspace: Any = Bare()
    FilterColumns(least=0, columns=1_000)(
        start(chain(60)), Context(workspace, Run(), {"llm": model})
    )
    assert len(script.asked) > 5
    assert max(len(asked.prompt) for asked in script.asked) < 3 * (6_000 - 1_024)


def test_if_every_call_fails_every_column_is_kept(shop_workspace: Workspace) -> None:
    before = start(shop_workspace.schema)
    state, _ = filtered(
        FilterColumns(least=0), before, shop_workspace, Missing("unavailable", "down")
    )
    assert state.view == before.view
    assert "kept every column" in state.warnings[0].text


def test_an_empty_list_is_an_answer(shop_workspace: Workspace) -> None:
    state, _ = filtered(
        FilterColumns(least=0), start(shop_workspace.schema), shop_workspace, listing()
    )
    assert visible(state) == keys(shop_workspace.schema)
    assert state.warnings == ()


def test_a_small_view_is_not_judged(shop_workspace: Workspace) -> None:
    schema = shop_workspace.schema
    assert schema.column_count < 30
    before = start(schema)
    state, script = filtered(FilterColumns(), before, shop_workspace, listing())
    assert (state, script.asked) == (before, [])
    assert FilterColumns().calls(before) == 0
    assert FilterColumns(form="per_column").calls(before) > 1
    workspace: Any = Bare()
    _, script = filtered(FilterColumns(), start(chain(4)), workspace, listing())
    assert len(script.asked) == 1


def test_inferred_keys_and_names_of_what_is_asked_about_are_kept_unasked() -> None:
    schema = Schema(
        "deals",
        (
            Table("customers", tuple(map(Column, ("nr", "full_name", "city"))), ("nr",)),
            Table("deals", tuple(map(Column, ("TxId", "TxCustNo", "label", "amount"))), ("TxId",)),
        ),
        (ForeignKey("deals", ("TxCustNo",), "customers", ("nr",), inferred=True),),
    )
    workspace: Any = Bare()
    before = start(schema, "Which customers live in Ostley?")
    state, script = filtered(FilterColumns(least=0), before, workspace, listing())
    (asked,) = script.asked
    kept, judged = asked.prompt.split("Kept in any case:\n")[1].split("Columns:\n")
    assert re.findall(r"^- (\w+)", judged, re.MULTILINE) == ["city", "label", "amount"]
    assert kept.split("\n")[:2] == ["customers: nr, full_name", "deals: TxId, TxCustNo"]
    assert visible(state) == {"customers.nr", "customers.full_name", "deals.TxId", "deals.TxCustNo"}


# No call


def test_the_embedded_form_asks_nobody(shop_workspace: Workspace) -> None:
    schema = shop_workspace.schema
    step = FilterColumns(form="embedded", keep=2, keys="all")
    state, script = filtered(step, start(schema, "total and status"), shop_workspace, "x")
    assert visible(state) == keys(schema) | {"orders.total", "orders.status"}
    assert script.asked == []
    assert step.calls(start(schema)) == 0
    assert len(state.columns) == schema.column_count
    assert step.roles == ("linker",)
    assert FilterColumns().roles == ()


# What is always kept


def test_found_columns_are_kept_unasked_unless_told_otherwise(shop_workspace: Workspace) -> None:
    city, name = ColumnRef("customers", "city"), ColumnRef("customers", "name")
    state = start(
        shop_workspace.schema,
        values=(ValueMatch("Munich", city, "München", 0.9),),
        similar_columns=(ColumnLink(name, 0.95),),
    )
    after, script = filtered(FilterColumns(least=0), state, shop_workspace, listing())
    assert {str(city), str(name)} <= visible(after)
    kept, columns = script.asked[0].prompt.split("Kept in any case:\n")[1].split("Columns:\n")
    assert "city" not in columns
    assert "customers: id, name, city\n" in kept
    after, _ = filtered(FilterColumns(least=0, keep_found=False), state, shop_workspace, listing())
    assert visible(after) == keys(shop_workspace.schema)


def test_the_embedded_form_hides_whole_tables() -> None:
    schema = chain(30)
    workspace: Any = Bare()
    step = FilterColumns(form="embedded", keep=2)
    state, _ = filtered(step, start(schema, "c3_5 and c6_1"), workspace, "x")
    assert {table.name for table in state.view.visible_schema().tables} == {"t3", "t4", "t5", "t6"}
    assert visible(state) >= {"t3.c3_5", "t6.c6_1", "t4.before", "t5.id"}


def test_a_key_that_is_asked_for_is_judged_where_keys_may_go() -> None:
    schema = chain(30)
    workspace: Any = Bare()
    state, _ = filtered(FilterColumns(form="embedded", keep=1), start(schema, "?"), workspace, "x")
    assert visible(state) == {"t0.id"}  # the linker's first, a key
    says = listing(t7=["before"])
    state, script = filtered(FilterColumns(least=0, keys="between"), start(schema), workspace, says)
    assert visible(state) == {"t7.id", "t7.before"}
    assert '"before"' in script.asked[0].prompt


# Money


def test_too_many_calls_fall_back_to_the_embedded_form(shop_workspace: Workspace) -> None:
    step = FilterColumns(form="per_column", limit=5, keep=2)
    state, script = filtered(step, start(shop_workspace.schema), shop_workspace, "x")
    assert script.asked == []
    assert "would take 8 calls" in state.warnings[0].text
    assert len(visible(state)) == len(keys(shop_workspace.schema)) + 2


def test_a_budget_that_does_not_reach_uses_the_embedded_linker(shop_workspace: Workspace) -> None:
    recipe = parse_recipe(
        "name: x\nsteps:\n  - retrieval.values\n"
        "  - schema_linking.filter_columns: {form: per_column}\n"
        "  - generation.embedded\n  - selection.first_valid\n"
    )
    script = Script(otherwise="x")
    models = {"llm": ScriptedModel(script), "linker": ScriptedLinker(), "parser": _Silent()}
    run = Run(spending=Spending(Budget(calls=6)))
    state = recipe.step(start(shop_workspace.schema), Context(shop_workspace, run, models))
    assert script.asked == []
    assert "used schema_linking.embedded" in state.warnings[0].text


class _Silent:
    """A parser that writes nothing."""

    def parse(self, *_: Any, **__: Any) -> list[Any]:
        return []
