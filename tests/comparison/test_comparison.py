"""A question by several recipes: what each did, what they share, and what becomes of failures."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.api import Session
from sqlwright.errors import ConfigError, UserError
from sqlwright.events import Event, RunStarted
from sqlwright.lab.comparison.as_json import comparison_to_dict
from sqlwright.lab.comparison.asking import compare
from sqlwright.lab.comparison.records import Comparison
from sqlwright.lab.comparison.words import also_wrote, headline
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.messages import Missing
from tests.llm.server import ModelServer
from tests.scripted import scripted_models

Open = Callable[..., Session]
QUESTION = "Which customers are from Germany?"
NAMES = "SELECT name FROM customers WHERE country = 'Germany'"
SAME = "SELECT c.name FROM customers AS c WHERE c.country = 'Germany'"
CITIES = "SELECT city FROM customers WHERE country = 'Germany'"
BROKEN = "SELECT nam FROM customers WHERE country = 'Germany'"


def models(written: str, *parsed: str, mended: str = NAMES) -> dict[str, Any]:
    """A language model that writes one query and mends it to another, a parser that writes some."""
    script = Script(
        [When("generation.direct", written), When("repair.revise", mended)],
        otherwise="I would rather not.",
    )
    return {**scripted_models(*parsed), "llm": ScriptedModel(script)}


def scripted_embedded(*parsed: str) -> dict[str, Any]:
    """Embedded models alone."""
    return {role: model for role, model in scripted_models(*parsed).items() if role != "llm"}


def test_recipes_are_asked_in_order_over_one_database(open_scripted: Open) -> None:
    session = open_scripted(models=models(SAME, NAMES, CITIES), record=False)
    seen: list[Event] = []
    before = session.workspace
    told = compare(session, QUESTION, ["local", "baseline"], on_event=seen.append)
    started = [str(one.recipe["name"]) for one in seen if isinstance(one, RunStarted)]
    assert started == ["local", "baseline"]
    assert session.workspace is before
    assert session.recipe.name == "local"  # the session's own recipe stays
    assert [one.status for one in told.recipes] == ["answered", "answered"]
    assert told.results == (("local", "baseline"),)
    assert told.agree
    assert told.differences == ()
    assert headline(told) == "Both recipes give the same result by queries that say the same."


def test_results_that_differ_have_letters_and_the_queries_their_differences(
    open_scripted: Open,
) -> None:
    told = compare(
        open_scripted(models=models(CITIES, NAMES, CITIES)),
        QUESTION,
        ["local", "baseline", "local-unscored"],
    )
    assert told.results == (("local", "local-unscored"), ("baseline",))
    assert [told.letter(one.name) for one in told.recipes] == ["A", "B", "A"]
    (one,) = told.differences
    assert one.aspect == "shown"
    assert one.own["baseline"] == ("customers.city",)
    assert one.own["local"] == one.own["local-unscored"] == ("customers.name",)
    assert "local wrote result B, too (1 of 2 candidates), and chose A." in also_wrote(told)
    local = told.recipes[0]
    assert [(len(c.candidates), c.agreeing, c.chosen) for c in local.clusters] == [
        (1, ("local", "local-unscored"), True),
        (1, ("baseline",), False),
    ]


def test_a_recipe_that_needs_a_model_is_told_and_the_others_are_compared(
    open_scripted: Open,
) -> None:
    told = compare(
        open_scripted(models=scripted_embedded(NAMES)),
        QUESTION,
        ["baseline", "local", "local-unscored"],
    )
    first, *others = told.recipes
    assert first.status == "not_asked"
    assert "asks a language model, and none was named" in first.problem
    assert "-m provider/model" in first.hint
    assert [one.status for one in others] == ["answered", "answered"]
    assert headline(told).startswith("Both recipes that answered give the same result")


def test_nothing_is_compared_where_no_recipe_can_be_asked(open_scripted: Open) -> None:
    with pytest.raises(ConfigError, match="none was named"):
        compare(open_scripted(models=scripted_embedded(NAMES)), QUESTION, ["baseline", "chase"])


def test_a_recipe_that_fails_is_told_and_the_others_go_on(open_scripted: Open) -> None:
    silent = ScriptedModel(Script(otherwise=Missing("endpoint", "the server is down")))
    given = {**scripted_models(NAMES), "llm": silent}
    told = compare(open_scripted(models=given, stand_in=False), QUESTION, ["baseline", "local"])
    assert [one.status for one in told.recipes] == ["failed", "answered"]
    assert told.recipes[0].answer is not None
    assert told.recipes[0].answer.message
    assert told.letter("baseline") == ""
    assert headline(told) == "local answered, no other did."


def test_every_stage_tells_what_it_did_and_took(open_scripted: Open) -> None:
    session = open_scripted(models=models(BROKEN, NAMES))
    told = compare(session, QUESTION, ["local", "chess-ir-ss-cg"])
    local, chess = told.recipes
    assert [stage.stage for stage in chess.stages] == [
        "retrieval", "schema_linking", "generation", "repair", "selection",
    ]  # fmt: skip
    assert all(step.seconds >= 0 for stage in chess.stages for step in stage.steps)
    steps = {step.step: step.runs for stage in chess.stages for step in stage.steps}
    assert steps["generation.direct"] == steps["repair.revise"] == 1
    assert local.state is not None
    assert any(match.value == "Germany" for match in local.state.values)
    assert local.linked is not None
    assert (len(local.linked.columns), local.linked.narrowed) == (13, False)
    (repair,) = chess.repairs
    assert (repair.step, repair.kept) == ("repair.revise", True)
    assert (repair.before.sql, repair.after.sql) == (BROKEN, NAMES)
    assert local.repairs == ()


def test_a_narrowed_schema_is_told(open_scripted: Open) -> None:
    script = Script(
        [
            When("schema_linking.select_tables", json.dumps({"tables": ["customers"]})),
            When(
                "schema_linking.select_columns",
                json.dumps({"columns": {"customers": ["name", "country"]}}),
            ),
            When("generation.direct", NAMES),
        ],
        otherwise="I would rather not.",
    )
    given = {**scripted_models(NAMES), "llm": ScriptedModel(script)}
    told = compare(open_scripted(models=given), QUESTION, ["chess-ir-ss-cg"])
    linked = told.recipes[0].linked
    assert linked is not None
    assert linked.tables == ("customers",)
    assert linked.hidden > 0
    assert {ref.column for ref in linked.columns} >= {"name", "country"}


@pytest.mark.parametrize(
    ("recipes", "options", "says"),
    [
        (["local", "locale"], {}, "locale"),
        (["local", "local"], {}, "named twice"),
        (["local"], {"overrides": ["samples.count=2"]}, "has no such step"),
        (["local"], {"overrides_of": {"chase": ["samples.count=2"]}}, "isn't among the recipes"),
        ([], {}, "at least one"),
    ],
)
def test_what_does_not_fit_is_told_before_anything_is_asked(
    open_scripted: Open, recipes: list[str], options: dict[str, Any], says: str
) -> None:
    seen: list[Event] = []
    session = open_scripted(models=models(NAMES, NAMES))
    with pytest.raises(UserError, match=says):
        compare(session, QUESTION, recipes, on_event=seen.append, **options)
    assert seen == []


def test_settings_are_of_all_recipes_or_of_one(open_scripted: Open) -> None:
    told = compare(
        open_scripted(models=models(NAMES, NAMES, CITIES, SAME)),
        QUESTION,
        ["local", "local-unscored"],
        overrides=["generation.embedded.beam=2"],
        overrides_of={"local-unscored": ["generation.embedded.beam=1"]},
    )
    assert [len(one.candidates) for one in told.recipes] == [2, 1]
    assert told.recipes[1].overrides == (
        "generation.embedded.beam=2",
        "generation.embedded.beam=1",
    )


def test_a_budget_is_each_recipes(database_files: dict[str, Path], tmp_path: Path) -> None:
    with (
        ModelServer(answer=lambda _: NAMES) as server,
        api.open(
            database_files["shop"],
            models=scripted_embedded(NAMES),
            model="openai-compatible/m",
            base_url=server.url,
            budget="2 calls",
            cache=False,
            home=tmp_path / "home",
        ) as session,
    ):
        told = compare(session, QUESTION, ["chess-ir-ss-cg", "baseline"])
    calls = [one.answer.usage.calls for one in told.recipes if one.answer is not None]
    assert calls == [2, 1]
    for one in told.recipes:
        assert one.answer is not None
        assert sum(stage.usage.calls for stage in one.stages) == one.answer.usage.calls


def test_what_was_asked_before_it_was_stopped_stays(open_scripted: Open) -> None:
    halt = threading.Event()

    def stop(event: Event) -> None:
        if isinstance(event, RunStarted):
            halt.set()

    told = compare(
        open_scripted(models=models(NAMES, NAMES)),
        QUESTION,
        ["local", "baseline"],
        on_event=stop,
        cancelled=halt,
    )
    assert told.recipes[0].answer is not None
    assert told.recipes[1].status == "not_asked"
    assert "stopped" in told.recipes[1].problem


def test_candidates_with_the_same_result_are_one_cluster_and_one_is_chosen(
    open_scripted: Open,
) -> None:
    """Samples that agree may have the same identity; only one cluster is the chosen one."""
    told = compare(
        open_scripted(models=models(NAMES, NAMES)),
        QUESTION,
        ["chase"],
        overrides=["samples.count=2"],
    )
    (chase,) = told.recipes
    assert sum(len(one.candidates) for one in chase.clusters) == len(chase.candidates) == 6
    assert [one.chosen for one in chase.clusters] == [True]
    assert chase.clusters[0].authors == ("divide_and_conquer", "query_plan", "synthetic_examples")
    assert len(chase.clusters[0].queries) == 1


def test_what_only_one_paper_does_is_told_as_what_it_is(open_scripted: Open) -> None:
    """MAG-SQL's table summaries, entities and sub-questions, MSc-SQL's nearest values."""
    apart = {
        "targets": "customers",
        "conditions": ["there are any", "from Germany"],
        "sub_questions": ["Which customers are there?", QUESTION],
    }
    entity = {"entity": "Germany", "columns": ["customers.country", "customers.city"]}
    script = Script(
        [
            When(
                "schema_linking.summarise_tables",
                json.dumps({"tables": [{"table": "customers", "summary": "Those who buy."}]}),
            ),
            When("schema_linking.entities", json.dumps({"entities": [entity]})),
            When("generation.decompose", json.dumps(apart)),
            When("schema_linking.select_tables", json.dumps({"tables": ["customers"]})),
        ],
        otherwise=NAMES,
    )
    given = {**scripted_models(NAMES), "llm": ScriptedModel(script)}
    overrides = [
        "schema_linking.summarise_tables.columns=0", "schema_linking.entities.columns=0",
        "schema_linking.entities.least=2",
    ]  # fmt: skip
    told = compare(
        open_scripted(models=given), QUESTION, ["mag", "msc"], overrides_of={"mag": overrides}
    )
    mag, msc = json.loads(told.to_json())["recipes"]
    assert mag["linked"]["summaries"] == [{"table": "customers", "text": "Those who buy."}]
    assert [one["text"] for one in mag["linked"]["entities"]] == ["Germany"]
    assert {"table": "customers", "column": "city"} in mag["linked"]["entities"][0]["columns"]
    assert [one["condition"] for one in mag["sub_questions"]] == ["there are any", "from Germany"]
    assert mag["retrieved"]["examples"] == []
    countries = [
        one for one in msc["retrieved"]["examples"] if one["column"]["column"] == "country"
    ]
    assert countries[0]["values"][0] == "Germany"
    page = told.to_html()
    for text in (
        "Those who buy.", "Entities", "Taken apart", "Which customers are there?", "from Germany",
        "Nearest values",
    ):  # fmt: skip
        assert text in page


def compared(open_scripted: Open) -> Comparison:
    return compare(
        open_scripted(models=models(BROKEN, CITIES, NAMES)),
        QUESTION,
        ["local", "chess-ir-ss-cg", "chase"],
        overrides_of={"chase": ["samples.count=1"]},
    )


def test_the_json_has_it_all_under_stable_keys(open_scripted: Open) -> None:
    told = compared(open_scripted)
    whole = json.loads(told.to_json())
    assert whole == json.loads(json.dumps(comparison_to_dict(told)))
    assert (whole["format"], whole["version"]) == ("sqlwright-comparison", 1)
    assert list(whole)[:3] == ["format", "version", "question"]
    local, chess, chase = whole["recipes"]
    assert [one["recipe"] for one in whole["recipes"]] == ["local", "chess-ir-ss-cg", "chase"]
    assert local["result"] == "A"
    assert chess["result"] == chase["result"] == "B"
    assert whole["results"][1] == {"letter": "B", "recipes": ["chess-ir-ss-cg", "chase"]}
    assert local["chosen"] == local["generated"][0]["id"]
    assert local["generated"][1]["agrees_with"] == ["chess-ir-ss-cg", "chase"]
    assert chess["generated"][0]["first_sql"] == BROKEN
    assert chess["generated"][0]["author"] == "generation.direct"
    assert [one["prompt"] for one in chase["generated"]] == [
        "generation/divide_and_conquer", "generation/query_plan", "generation/synthetic_examples",
    ]  # fmt: skip
    assert chase["description"].startswith("CHASE-SQL; 21 candidates by three generators")
    assert chess["repaired"][0]["before"]["result"]["error"]["message"].startswith("no such column")
    assert chess["answer"]["sql"] == NAMES
    assert {stage["stage"] for stage in chess["stages"]} >= {"generation", "repair"}
    assert whole["differences"][0]["own"]["local"] == ["customers.city"]
    assert chase["overrides"] == ["samples.count=1"]


def test_printed_it_has_a_line_for_each_recipe(open_scripted: Open) -> None:
    told = str(compared(open_scripted)).splitlines()
    assert told[0] == QUESTION
    assert told[1] == f"local: A  {CITIES}"
    assert told[2] == f"chess-ir-ss-cg: B  {NAMES}"
