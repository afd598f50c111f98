"""The same query in several dialects looks the same to the critic."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import sqlwright
from sqlwright.local.critic.families.zones import Zones
from sqlwright.local.critic.features import Features, candidate_features
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.question.schema import SchemaCache
from sqlwright.local.question.support import senses, support
from sqlwright.schema import Schema, SchemaView
from sqlwright.sql.reading import columns_used
from sqlwright.types import Candidate, ExecutionResult, Question, State
from tests.sql.test_dialects import shop

WEIGHTS = Path(sqlwright.__file__).parent / "local" / "weights"
CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "dialects" / "same.yaml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder.load(WEIGHTS)


def described(asked: str, sql: list[str], schema: Schema, static: StaticEmbedder) -> list[Features]:
    """Features with static vectors in the encoder's place."""
    state = State(Question(asked), SchemaView(schema))
    result = ExecutionResult(("x",), (("a",), ("b",)))
    pool = [
        Candidate(
            one, "test", score=-1.0, result=result, columns=columns_used(one, schema),
            dialect=schema.dialect,
        )
        for one in sql
    ]  # fmt: skip
    arrays = SchemaCache(static, static).encode(schema)
    found = support(state.question, arrays, state.values, static)
    zones = Zones(asked, found, arrays, state.values, schema.columns)
    names = [table.name for table in schema.tables]
    alike = senses(found, arrays, schema.columns, names)
    return candidate_features(state, pool, found, alike, zones)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql"])
def test_features_are_those_of_sqlites_query(dialect: str, static: StaticEmbedder) -> None:
    asked = [case for case in CASES if dialect in case]
    assert len(asked) >= 60
    for case in asked[::3]:
        given = case[dialect]
        sql = [given] if isinstance(given, str) else given
        ours = described(case["question"], sql, shop(dialect), static)
        theirs = described(case["question"], [case["sqlite"]] * len(sql), shop("sqlite"), static)
        assert ours == theirs, case["question"]
