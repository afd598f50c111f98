"""What the linker and the parser know of a question and a schema, by example.

Who adds a case to tests/cases/local writes the question (and the values that are found in it), has
`python -m tests.local.described` write the rest, and reads whether it is right.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from sqlwright.english.dates import moments
from sqlwright.local.models import WEIGHTS
from sqlwright.local.parser.nodes import WordPieces
from sqlwright.local.question.retelling import Retelling
from sqlwright.types import Question
from tests.form.notation import cases
from tests.local.described import (
    judged,
    kinds_asked,
    link_features,
    linked,
    parsed,
    pointed_at,
    schema_facts,
    shown_to_parser,
    supported,
)


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    path = Path(WEIGHTS) / "tokenizer.json"
    if not path.exists():
        pytest.skip("the weights aren't there")
    return WordPieces(Tokenizer.from_file(str(path)))


@pytest.mark.parametrize("case", cases("local/linker.yaml"), ids=lambda case: case["asked"])
def test_features_of_columns_and_tables(case: dict[str, Any]) -> None:
    found = link_features(case)
    for name, features in case["features"].items():
        ranks = {feature for feature in features if feature.split(": ")[1].startswith("rank")}
        assert {one: found[name][one] for one in features if one not in ranks} == pytest.approx(
            {one: features[one] for one in features if one not in ranks}, abs=0.0015
        ), name
        # A processor's rounding of int8 products may change the order of two neighbours.
        for rank in ranks:
            assert 1 / found[name][rank] == pytest.approx(1 / features[rank], abs=1.01), rank


def test_what_is_known_of_a_schema() -> None:
    assert schema_facts() == cases("local/schema.yaml")


@pytest.mark.parametrize("case", cases("local/support.yaml"), ids=lambda case: case["asked"])
def test_what_explains_the_words_of_a_question(case: dict[str, Any]) -> None:
    _, found = supported(case)
    assert found == case["found"]


@pytest.mark.parametrize("case", cases("local/parser_input.yaml"), ids=lambda case: case["asked"])
def test_what_the_parser_is_shown(case: dict[str, Any], pieces: WordPieces) -> None:
    assert shown_to_parser(case, pieces) == case["shown"]


@pytest.mark.parametrize("case", cases("local/pointers.yaml"), ids=lambda case: case["sql"])
def test_what_the_decoder_points_at(case: dict[str, Any], pieces: WordPieces) -> None:
    assert pointed_at(case, pieces) == case["points"]


@pytest.mark.parametrize("case", cases("local/asks.yaml"), ids=lambda case: case["asked"])
def test_what_kinds_of_things_are_asked_for(case: dict[str, Any]) -> None:
    assert kinds_asked(case["asked"]) == case["kinds"]


@pytest.mark.parametrize("case", cases("local/links.yaml"), ids=lambda case: case["asked"])
def test_what_the_linker_says(case: dict[str, Any]) -> None:
    found = linked(case)
    for part, scores in case["found"].items():
        assert found[part] == pytest.approx(scores, abs=0.02), part


@pytest.mark.parametrize("case", cases("local/parsed.yaml"), ids=lambda case: case["asked"])
def test_what_the_parser_writes(case: dict[str, Any]) -> None:
    found, expected = parsed(case), dict(case["found"])
    assert found.pop("score") == pytest.approx(expected.pop("score"), abs=0.2)
    assert found == expected


@pytest.mark.parametrize("case", cases("local/critic.yaml"), ids=lambda case: case["asked"])
def test_what_the_critic_knows_of_queries(case: dict[str, Any]) -> None:
    found = judged(case)
    for sql, features in case["queries"].items():
        assert found[sql] == pytest.approx(features, abs=0.0015), sql


@pytest.mark.parametrize("case", cases("local/retold.yaml"), ids=lambda case: case["asked"])
def test_questions_are_retold_in_years_and_plain_orders(case: dict[str, str]) -> None:
    asked = case["asked"]
    retold = Retelling(Question(asked), moments(asked, date(2024, 5, 15)), ())
    assert retold.question.text == case["told"]
