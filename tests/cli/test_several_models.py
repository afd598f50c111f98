"""Several language models of one project file, on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome
from tests.llm.server import ModelServer

Command = Callable[..., Outcome]
QUESTION = "How many customers live in Munchen?"
SQL = "SELECT count(*) FROM customers WHERE city = 'München'"
KEY = "q9ZtL2vB7mK4xW8sR1nY"


def answers(text: str = f"```sql\n{SQL}\n```") -> ModelServer:
    return ModelServer(answer=lambda _: text)


def project(first: ModelServer, second: ModelServer, more: str = "") -> None:
    Path("sqlwright.toml").write_text(
        f"""
{more}
[models.small]
model = "openai-compatible/tiny"
base_url = "{first.url}"
key_env = "SMALL_KEY"
[models.big]
model = "openai-compatible/large"
base_url = "{second.url}"
"""
    )


def test_steps_name_the_models_of_a_project_file(
    sqlwright: Command, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_KEY", KEY)
    setting = "generation.direct.sampling.model=small"
    with answers("not a query") as small, answers("SELECT nothing FROM nowhere") as big:
        project(small, big, more='[llm]\nmodel = "big"')
        outcome = sqlwright("ask", shop, QUESTION, "-r", "chess-ir-cg-ut", "--set", setting)
        assert {asked.body["model"] for asked in small.seen} == {"tiny"}
        assert {asked.body["model"] for asked in big.seen} == {"large"}
        assert all(asked.headers["authorization"] == f"Bearer {KEY}" for asked in small.seen)
        assert not any("authorization" in asked.headers for asked in big.seen)
    shown = sqlwright("trace", "show").out
    assert "small (openai-compatible/tiny)" in shown
    assert "big (openai-compatible/large)" in shown
    assert KEY not in shown + outcome.out + outcome.err


def test_the_model_to_use_may_be_named_so(
    sqlwright: Command, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_KEY", KEY)
    with answers() as small, answers() as big:
        project(small, big)
        outcome = sqlwright("ask", shop, QUESTION, "-r", "baseline", "-m", "small", "--json")
        assert json.loads(outcome.out)["rows"] == [[1]]
        assert (len(small.seen), len(big.seen)) == (1, 0)
        wrong = sqlwright("ask", shop, QUESTION, "-r", "baseline", "-m", "tiny")
        assert wrong.code == 4
        assert "no model is called 'tiny'" in wrong.err
        assert "small, big" in wrong.err


def test_doctor_lists_them_and_what_they_lack(
    sqlwright: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SMALL_KEY", raising=False)
    with answers() as small, answers() as big:
        project(small, big, more='[llm]\nmodel = "big"')
        checks = {
            each["name"]: each for each in json.loads(sqlwright("doctor", "--json").out)["checks"]
        }
        assert checks["model small"]["state"] == "bad"
        assert "SMALL_KEY isn't set" in checks["model small"]["found"]
        assert checks["model big"]["state"] == "good"
        assert f"openai-compatible/large at {big.url}" in checks["model big"]["found"]
        monkeypatch.setenv("SMALL_KEY", KEY)
        outcome = sqlwright("doctor")
        assert KEY not in outcome.out
        assert not small.seen
        assert not big.seen


def test_an_address_elsewhere_is_said_before_anything_is_sent(
    sqlwright: Command, shop: Path, home: Path
) -> None:
    """Of the models that are asked, and only of those."""
    Path("sqlwright.toml").write_text(
        '[llm]\nmodel = "far"\ntimeout = 0.2\nretrying = 0.01\n'
        '[models.far]\nmodel = "openai-compatible/m"\nbase_url = "http://192.0.2.1:9/v1"\n'
        '[models.near]\nmodel = "openai-compatible/m"\nbase_url = "http://192.0.2.2:9/v1"\n'
    )
    outcome = sqlwright("ask", shop, QUESTION, "-r", "baseline", "--timeout", "0.5")
    assert "sends what far is asked to http://192.0.2.1:9/v1" in " ".join(outcome.err.split())
    assert "192.0.2.2" not in outcome.err


def test_a_key_that_nobody_bound_is_not_sent(
    sqlwright: Command, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_SOMETHING_ELSE", KEY)
    Path("sqlwright.toml").write_text(
        '[llm]\nmodel = "far"\n[models.far]\nmodel = "openai-compatible/m"\n'
        'base_url = "http://192.0.2.1:9/v1"\nkey_env = "SECRET_OF_SOMETHING_ELSE"\n'
    )
    outcome = sqlwright("ask", shop, QUESTION, "-r", "baseline")
    assert outcome.code == 4
    assert "isn't bound to 192.0.2.1" in outcome.err
    assert KEY not in outcome.err + outcome.out


def test_doctor_knows_weights_of_this_process(sqlwright: Command, home: Path) -> None:
    """A folder that isn't there is told; for weights nothing is sent."""
    Path("sqlwright.toml").write_text(
        'recipe = "baseline"\n[llm]\nmodel = "tuned"\n[models.tuned]\nmodel = "weights/./tuned"\n'
    )
    outcome = sqlwright("doctor", "--json")
    checks = {each["name"]: each for each in json.loads(outcome.out)["checks"]}
    tuned = checks["model tuned"]
    assert tuned["state"] == "bad"
    assert f"there is no folder {Path.cwd() / 'tuned'}" in tuned["found"]
    assert "Nothing is downloaded" in tuned["advice"]
    assert (
        "nothing is sent: tuned (weights/./tuned) runs in this process"
        in (checks["network"]["found"])
    )
