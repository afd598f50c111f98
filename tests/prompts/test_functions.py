"""Functions of the database's own, as prompts tell them."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlwright
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.styles.functions import functions_text
from sqlwright.schema import Schema
from sqlwright.types.functions import OwnFunction

OPENING = "Functions of the database's own that a query may call besides the usual ones:"
SCRIPT = """
CREATE SCHEMA sales;
CREATE TABLE orders (id INTEGER, total DECIMAL(10, 2));
INSERT INTO orders VALUES (1, 119);
CREATE MACRO net_price(total, rate := 0.19) AS round(total / (1 + rate), 2);
COMMENT ON MACRO net_price IS 'A price
without tax';
CREATE MACRO sales."Above"(low) AS TABLE SELECT id FROM orders WHERE total > low;
"""
REPLY = "```sql\nSELECT net_price(total) FROM orders\n```"


def test_each_stands_on_a_line_with_arguments_result_and_comment() -> None:
    functions = (
        OwnFunction("net_price", "", "price numeric", "numeric", "Without\n  tax"),
        OwnFunction("Tax", "sales", "", "TABLE(a int)", "x" * 400),
    )
    text = functions_text(functions, Names(Schema("shop", (), dialect="postgres")))
    first, *lines = str(text).strip().splitlines()
    assert first == OPENING
    assert lines[0] == "- net_price(price numeric) returns numeric: Without tax"
    assert lines[1].startswith('- sales."Tax"() returns TABLE(a int): xxx')
    assert len(lines[1]) < 350
    assert [span.origin for span in text.spans] == ["template", "schema"]
    assert not functions_text((), Names(Schema("shop", ())))


@pytest.mark.parametrize("recipe", ["msc", "chess-ir-ss-cg", "mag", "chase"])
def test_a_model_is_told_of_what_is_named_and_may_call_it(recipe: str, tmp_path: Path) -> None:
    conftest = pytest.importorskip("tests.database.duckdb.conftest")
    file = conftest.make_database(tmp_path / "shop.duckdb", SCRIPT)
    asked: dict[bool, list[str]] = {}
    for names in ((), ("net_price", "sales.Above")):
        model = ScriptedModel(Script(otherwise=REPLY))
        with sqlwright.open(
            file,
            recipe=recipe,
            functions=names or None,
            models={"llm": model},
            home=tmp_path / "home",
            record=False,
        ) as shop:
            answer = shop.ask("What do all orders cost without tax?")
        assert bool(answer.rows) is bool(names)
        asked[bool(names)] = [
            "\n".join(str(message.text) for message in request.messages)
            for step, request in model.requests
            if step.startswith("generation") and not step.endswith("decompose")
        ]
    assert asked[True]
    for prompt in asked[True]:
        assert f"{OPENING}\n- net_price(total, rate): A price without tax\n" in prompt
        assert "- sales.Above(low) returns rows" in prompt
    assert not any(OPENING in prompt for prompt in asked[False])
