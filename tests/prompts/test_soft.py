"""The form in which MAG-SQL shows a schema: columns in brief, linked ones in detail, frequent
values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Capabilities, Message
from sqlwright.prepare import open_workspace
from sqlwright.prompts.fitting import Portion, fit, message_tokens
from sqlwright.prompts.sampling import Sampling
from sqlwright.prompts.schema import SchemaLayout
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, Detail, SchemaView
from sqlwright.steps.showing import Shown, matched_values
from sqlwright.steps.task import task
from sqlwright.types import Question, State, ValueMatch
from tests.golden import assert_prompt
from tests.scripted import ScriptedLinker

SQL = """
CREATE TABLE people (
  id INTEGER PRIMARY KEY, mgr_id INTEGER REFERENCES people (id), paid TEXT, badge_id TEXT,
  "home URL" TEXT, "e-mail" TEXT, site TEXT, joined TEXT, age INTEGER, rank INTEGER, note TEXT,
  job TEXT, pay REAL
);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
INSERT INTO people SELECT i + 1, CASE WHEN i THEN 1 END, substr('abcdefghi', 1 + i % 9, 1),
  'B' || (i % 7), 'home ' || (i % 3), 'a' || (i % 5) || '@example.org',
  'https://example.org/' || (i % 4), date('2024-01-01', (i % 8) || ' days'), 20 + i % 30, i % 10,
  'a long remark that goes on and on and on, for more than fifty letters ' || (i % 2),
  CASE WHEN i % 6 = 0 THEN NULL ELSE 'job ' || (i % 6) END, NULL
FROM n;
"""
CITY, STATUS, PLACED = (
    ColumnRef("customers", "city"),
    ColumnRef("orders", "status"),
    ColumnRef("orders", "placed"),
)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    path = tmp_path_factory.mktemp("people") / "people.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SQL)
        database.commit()
    opened = open_workspace(str(path), folder=path.parent / "absent")
    yield opened
    opened.database.close()


def details(workspace: Workspace, view: SchemaView | None = None) -> dict[str, str]:
    """What stands behind each column in detail, by its name."""
    layout = SchemaLayout(
        view or SchemaView(workspace.schema),
        style="soft",
        catalog=workspace.catalog,
        examples=6,
        frequent=True,
    )
    _, _, told = str(layout.text()).partition("In detail:\n")
    return dict(line.split(": ", 1) for line in told.splitlines() if ": " in line)


def test_the_most_frequent_values_stand_where_they_say_what_a_column_holds(
    people: Workspace,
) -> None:
    found = details(people)
    assert found.pop("people.paid").count("'") == 12  # six of nine, though its name ends in id
    assert found.pop("people.rank").startswith("from 0 to 9; e.g. 0, 1, 2")
    assert found.pop("people.job") == (
        "some NULL; one of 'job 1', 'job 2', 'job 3', 'job 4', 'job 5'"
    )
    assert found.pop("people.joined").endswith("e.g. '2024-01-01'")
    assert found.pop("people.pay") == "some NULL"
    # Keys, identifiers, addresses, many numbers, long texts: no values.
    assert not any("e.g." in told or "one of" in told for told in found.values())


def soft(workspace: Workspace, *linked: ColumnRef) -> SchemaView:
    return SchemaView(workspace.schema).narrowed(linked, Detail.BRIEF)


def test_a_soft_schema_shows_all_in_brief_and_the_linked_in_detail(
    shop_workspace: Workspace,
) -> None:
    layout = SchemaLayout(
        soft(shop_workspace, CITY, STATUS),
        style="soft",
        catalog=shop_workspace.catalog,
        values=[ValueMatch("Munich", CITY, "München", 0.9)],
        examples=6,
        frequent=True,
    )
    text = layout.text()
    assert_prompt("schema_soft", [Message("user", text), Message("user", text.without("value"))])


def test_a_linked_key_of_which_nothing_is_known_is_told_once(shop_workspace: Workspace) -> None:
    told = details(shop_workspace, soft(shop_workspace, CITY, ColumnRef("orders", "customer_id")))
    assert list(told) == ["customers.city"]
    view = soft(shop_workspace, CITY, ColumnRef("orders", "customer_id"))
    text = str(SchemaLayout(view, style="soft", catalog=shop_workspace.catalog).text())
    assert text.count("orders.customer_id") == 1


def context(workspace: Workspace, tokens: int = 128_000) -> Context:
    script = Script(otherwise="")
    capabilities = Capabilities(remote=False, context_tokens=tokens)
    model = ScriptedModel(script, capabilities=capabilities)
    return Context(workspace, Run(), {"llm": model, "linker": ScriptedLinker()})


def test_found_values_stand_by_themselves_beside_a_soft_schema(shop_workspace: Workspace) -> None:
    values = (ValueMatch("munich", CITY, "München", 0.9), ValueMatch("Open", STATUS, "open", 1.0))
    state = State(Question("Open ones of munich?"), soft(shop_workspace, PLACED), values=values)
    told = str(matched_values(state, context(shop_workspace)))
    assert told.splitlines() == [
        "orders.status = 'open' (like \"Open\")",
        "customers.city = 'München' (like \"munich\")",
    ]
    shown = Shown(values="frequent")
    variables = task(state, context(shop_workspace), style="soft", examples=6, shown=shown)
    text = str(render("generation/zero_shot", **variables)[-1].text)
    assert told in text
    assert "München" not in str(variables["schema"])
    bare = task(state, context(shop_workspace), shown=shown)
    assert not bare["matched"]


def test_where_a_soft_schema_does_not_fit_brief_columns_go_before_details(
    people: Workspace,
) -> None:
    job = ColumnRef("people", "job")
    state = State(Question("Who?"), soft(people, job))

    def laid_out(portion: Portion, state: State) -> object:
        shown = Shown(values="frequent")
        layout = shown.layout(
            state.view, state, there, style=portion.style, examples=portion.examples
        )
        return render("schema_linking/select_columns", schema=layout.text(), **blank)

    there = context(people)
    variables = task(state, there, style="soft", shown=Shown(values="frequent"))
    blank = {name: value for name, value in variables.items() if name != "schema"}
    whole = message_tokens(laid_out(Portion(style="soft", examples=6), state))  # type: ignore[arg-type]
    sampling = Sampling(max_tokens=64)
    there = context(people, whole + 30)
    fitted = fit(
        laid_out,  # type: ignore[arg-type]
        Portion(style="soft", examples=6),
        state,
        there,
        step="x",
        sampling=sampling,
    )
    text = str(fitted.messages[-1].text)
    assert fitted.fits
    assert fitted.portion.columns is not None
    assert "people.job: some NULL; " in text
    assert "note TEXT" not in text
