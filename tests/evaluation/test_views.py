"""What is measured of the view after each step that narrows it (CHESS, table 5 and figure 5)."""

import json

import pytest

from sqlwright.cli.commands.evaluate import summary_lines
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from tests.cli.rendering import look, rendered
from tests.evaluation.sets import GERMAN, answering, spider_set

FILTER, TABLES, COLUMNS = (
    f"schema_linking.{name}" for name in ("filter_columns", "select_tables", "select_columns")
)
ALWAYS = (f"{FILTER}.enabled=false", f"{COLUMNS}.least=0")


@pytest.fixture
def narrowed(tmp_path, database_files):
    """The summary and the record of one question, with what the model chose."""

    def run(columns, tables=("customers",), overrides=ALWAYS, recipe="chess-ir-ss-cg"):
        models = answering({
            "schema_linking.select_tables": json.dumps({"reasoning": "", "tables": [*tables]}),
            "schema_linking.select_columns": json.dumps(
                {"reasoning": "", "tables": [{"table": "customers", "columns": [*columns]}]}
            ),
            "generation.direct": GERMAN,
        })  # fmt: skip
        folder = spider_set(tmp_path / "set", database_files["shop"], {"Who is German?": GERMAN})
        settings = EvaluationSettings(
            recipe=recipe,
            overrides=overrides if recipe == "chess-ir-ss-cg" else (),
            models=models,
            home=tmp_path / "home",
        )  # fmt: skip
        summary = evaluate(load_spider(folder), settings, tmp_path / "out")
        (record,) = records.read(tmp_path / "out")
        return summary, record

    return run


def test_what_is_left_after_each_step_is_counted(narrowed):
    summary, record = narrowed(["name", "country"])
    assert record.views == {
        "whole schema": {"columns": 13, "found_columns": 2, "tables": 3, "found_tables": 1},
        TABLES: {"columns": 4, "found_columns": 2, "tables": 1, "found_tables": 1},
        # The primary key stays, whatever is chosen.
        COLUMNS: {"columns": 3, "found_columns": 2, "tables": 1, "found_tables": 1},
    }
    after = summary["views"][COLUMNS]
    assert after["column_recall"] == 1.0
    assert after["column_precision"] == pytest.approx(2 / 3)
    assert (after["table_recall"], after["table_precision"]) == (1.0, 1.0)
    assert after["columns"] == 3
    assert after["columns_by_database"] == {"shop1": 3}
    assert summary["views"]["whole schema"]["table_precision"] == pytest.approx(1 / 3)


def test_a_needed_column_that_was_dropped_costs_recall(narrowed):
    summary, _ = narrowed(["name"])
    assert summary["views"][TABLES]["column_recall"] == 1.0
    assert summary["views"][COLUMNS]["column_recall"] == 0.5
    lost = summary["views"][COLUMNS]["all_columns_shown"]
    assert (lost["hits"], lost["total"]) == (0, 1)


def test_a_needed_table_that_was_dropped_costs_recall(narrowed):
    summary, _ = narrowed(["name"], tables=["orders"])
    assert summary["views"][TABLES]["table_recall"] == 0.0
    assert summary["views"][TABLES]["column_recall"] == 0.0


def test_a_step_that_narrows_nothing_counts_too(narrowed):
    summary, _ = narrowed(["name"], tables=["customers", "orders", "lines"])
    assert summary["views"][TABLES]["columns"] == 13


def test_the_linker_is_measured_apart(narrowed):
    summary, record = narrowed(["name", "country"])
    assert record.kept_columns == 0, "no linker took part"
    assert summary["linker"]["all_columns_found"]["total"] == 0


def test_a_recipe_without_such_steps_has_no_views(narrowed):
    summary, record = narrowed([], recipe="baseline")
    assert (record.views, summary["views"]) == ({}, {})
    assert "view" not in rendered(summary_lines(summary, look(100)), 100)


def test_they_are_shown(narrowed):
    summary, _ = narrowed(["name"])
    text = " ".join(rendered(summary_lines(summary, look(120)), 120).split())
    assert "whole schema: 13.0 columns, recall 100.0%, precision 15.4%" in text
    assert "schema_linking.select_columns: 2.0 columns, recall 50.0%, precision 50.0%" in text
    assert "tables: recall 100.0%, precision 100.0%" in text
