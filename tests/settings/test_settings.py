"""Defaults: flag before environment before project file, all typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.errors import ConfigError
from sqlwright.protocols import Limits
from sqlwright.settings.loading import load_settings
from sqlwright.settings.values import Settings
from sqlwright.spending import Budget

FILE = """
database = "data/shop.sqlite"
recipe = "local-unscored"
overrides = ["generation.embedded.beam=2"]
descriptions = "described"
seconds = 20

[limits]
seconds = 5
rows = 50
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "sqlwright.toml").write_text(FILE)
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    return inner


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings() == Settings()
    assert load_settings().limits == Limits()


def test_the_file_is_found_upwards_and_its_paths_are_relative_to_it(project: Path) -> None:
    settings = load_settings(folder=project)
    root = project.parent.parent
    assert settings.file == root / "sqlwright.toml"
    assert settings.database == str(root / "data/shop.sqlite")
    assert settings.descriptions == root / "described"
    assert settings.limits == Limits(seconds=5, rows=50)
    assert settings.seconds == 20


def test_the_environment_comes_before_the_file_and_flags_before_both(project: Path) -> None:
    environ = {"SQLWRIGHT_RECIPE": "local", "SQLWRIGHT_LIMITS_ROWS": "7", "SQLWRIGHT_SECONDS": "9"}
    settings = load_settings({"seconds": 3.0, "recipe": None}, environ=environ, folder=project)
    assert (settings.recipe, settings.limits.rows, settings.seconds) == ("local", 7, 3.0)
    assert settings.limits.seconds == 5
    assert settings.origins["recipe"] == "SQLWRIGHT_RECIPE"
    assert settings.origins["seconds"] == "flag"
    assert settings.origins["database"].endswith("sqlwright.toml")


def test_overrides_add_up_with_the_nearest_last(project: Path) -> None:
    environ = {"SQLWRIGHT_OVERRIDES": "a.b.c=1 a.b.d=2"}
    settings = load_settings({"overrides": ["a.b.c=3"]}, environ=environ, folder=project)
    assert settings.overrides == (
        "generation.embedded.beam=2", "a.b.c=1", "a.b.d=2", "a.b.c=3",
    )  # fmt: skip


def test_a_url_in_the_file_stays_a_url(tmp_path: Path) -> None:
    (tmp_path / "sqlwright.toml").write_text('database = "sqlite:////data/x.db"\n')
    assert load_settings(folder=tmp_path).database == "sqlite:////data/x.db"


def test_the_table_of_a_pyproject_counts_only_when_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "sqlwright.toml").write_text('recipe = "local"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert load_settings(folder=inner).file == tmp_path / "sqlwright.toml"
    (inner / "pyproject.toml").write_text('[tool.sqlwright]\nrecipe = "local-unscored"\n')
    assert load_settings(folder=inner).recipe == "local-unscored"


def test_somebody_elses_broken_pyproject_is_not_our_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("not toml [")
    assert load_settings(folder=tmp_path) == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('databse = "x"', "unknown key 'databse'; did you mean 'database'"),
        ("[limits]\nrow = 5", "unknown key 'row'; did you mean 'rows'"),
        ("seconds = 'ten'", "seconds takes a number greater than 0, not 'ten'"),
        ("seconds = 0", "seconds takes a number greater than 0, not 0"),
        ("seconds = nan", "seconds takes a number greater than 0, not nan"),
        ("recipe = 5", "recipe takes a text in quotes, not 5"),
        ("overrides = 'a'", "overrides takes a list of texts in quotes, not 'a'"),
        ("overrides = [1]", "overrides takes a list of texts in quotes, not 1"),
        ("tables = []", r"tables takes a list of texts in quotes, at least one, not \[\]"),
        ("limits = 5", "limits takes a table of limits, not 5"),
        ("[limits]\nrows = 2.5", r"limits\.rows takes a whole number greater than 0, not 2\.5"),
        ("allow_code = true", "unknown key 'allow_code'"),
        ("not toml", "not readable as TOML"),
    ],
)
def test_a_project_file_that_does_not_fit_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "sqlwright.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_settings(folder=tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "takes"),
    [
        ("SQLWRIGHT_LIMITS_ROWS", "many", "a whole number greater than 0"),
        ("SQLWRIGHT_LIMITS_ROWS", "-5", "a whole number greater than 0"),
        ("SQLWRIGHT_SECONDS", "0", "a number greater than 0"),
        ("SQLWRIGHT_SECONDS", "nan", "a number greater than 0"),
    ],
)
def test_a_variable_that_does_not_fit_is_refused_by_name(name: str, text: str, takes: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} takes {takes}, not '{text}'"):
        load_settings(environ={name: text})


def test_an_unknown_flag_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown setting 'limit\.rows'"):
        load_settings({"limit.rows": 5})


LLM = """
[llm]
model = "openai/gpt-4.1"
budget = "$0.05, 20 calls"
privacy = "schema-only"
cache = false
prices = "prices.toml"
reasoning = "low"
reasoning_tokens = 2_000
concurrency = 4
timeout = 600

[llm.capabilities]
n = true
context_tokens = 32_000
reply_tokens = 4_096
logprobs = false
"""


def test_what_is_said_about_language_models(tmp_path: Path) -> None:
    (tmp_path / "sqlwright.toml").write_text(LLM)
    llm = load_settings(folder=tmp_path).llm
    assert llm.model == "openai/gpt-4.1"
    assert llm.budget == Budget(calls=20, cost=0.05)
    assert (llm.privacy, llm.cache, llm.concurrency) == ("schema-only", False, 4)
    assert (llm.reasoning, llm.reasoning_tokens, llm.verbosity) == ("low", 2_000, None)
    assert dict(llm.capabilities) == {
        "n": True,
        "context_tokens": 32_000,
        "reply_tokens": 4_096,
        "logprobs": False,
    }
    assert llm.throttle.seconds == 600
    assert llm.prices == tmp_path / "prices.toml"
    environ = {
        "SQLWRIGHT_LLM_CACHE": "yes",
        "SQLWRIGHT_LLM_BUDGET": "5k tokens",
        "SQLWRIGHT_LLM_VERBOSITY": "low",
    }
    flags = {"llm.privacy": "full", "llm.reasoning": "none"}
    settings = load_settings(flags, environ=environ, folder=tmp_path)
    assert (settings.llm.reasoning, settings.llm.verbosity) == ("none", "low")
    assert settings.llm.budget == Budget(tokens=5_000)
    assert (settings.llm.privacy, settings.llm.cache) == ("full", True)
    assert settings.origins["llm.budget"] == "SQLWRIGHT_LLM_BUDGET"


def test_whether_a_model_is_elsewhere_is_a_setting(tmp_path: Path) -> None:
    assert load_settings(folder=tmp_path).llm.remote is None
    (tmp_path / "sqlwright.toml").write_text("[llm]\nremote = true\n")
    assert load_settings(folder=tmp_path).llm.remote is True
    environ = {"SQLWRIGHT_LLM_REMOTE": "false"}
    assert load_settings(environ=environ, folder=tmp_path).llm.remote is False
    flags = {"llm.remote": True}
    assert load_settings(flags, environ=environ, folder=tmp_path).llm.remote is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("modle = 'a/b'", "unknown key 'modle'; did you mean 'model'"),
        ("budget = 5", r"llm\.budget takes a text in quotes, not 5"),
        ("budget = 'five'", "'five' is not a budget"),
        ("privacy = 'none'", r"llm\.privacy takes 'full' or 'schema-only', not 'none'"),
        ("remote = 'no'", r"llm\.remote takes true or false, not 'no'"),
        ("cache = 1", r"llm\.cache takes true or false, not 1"),
        ("concurrency = 0", r"llm\.concurrency takes a whole number greater than 0"),
        ("record = 'x'", "unknown key 'record'"),
        ("[llm.capabilities]\nn = 5", r"llm\.capabilities\.n takes true or false, not 5"),
        ("[llm.capabilities]\nmind = true", "mind"),
        ("key = 'x'", "unknown key 'key'"),
    ],
)
def test_what_does_not_fit_about_language_models_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "sqlwright.toml").write_text(f"[llm]\n{text}")
    with pytest.raises(ConfigError, match=message):
        load_settings(folder=tmp_path)


def test_a_variable_or_flag_about_language_models_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match="SQLWRIGHT_LLM_PRIVACY takes 'full' or 'schema-only'"):
        load_settings(environ={"SQLWRIGHT_LLM_PRIVACY": "none"})
    with pytest.raises(ConfigError, match="--privacy takes 'full' or 'schema-only'"):
        load_settings({"llm.privacy": "none"})
    with pytest.raises(ConfigError, match=r"--reasoning takes 'none' or .* 'max'"):
        load_settings({"llm.reasoning": "much"})
    with pytest.raises(ConfigError, match="SQLWRIGHT_LLM_CACHE takes true or false"):
        load_settings(environ={"SQLWRIGHT_LLM_CACHE": "maybe"})


def test_the_only_tables_come_from_a_file_or_a_variable(tmp_path: Path) -> None:
    (tmp_path / "sqlwright.toml").write_text('tables = ["orders", "order lines"]\n')
    assert load_settings(folder=tmp_path).tables == ("orders", "order lines")
    environ = {"SQLWRIGHT_TABLES": "orders, order lines"}
    assert load_settings(environ=environ).tables == ("orders", "order lines")
    assert load_settings().tables is None
    (tmp_path / "sqlwright.toml").write_text('tables = "orders"\n')
    with pytest.raises(ConfigError, match="tables takes a list"):
        load_settings(folder=tmp_path)


def test_functions_come_from_a_file_or_a_variable_and_belong_to_its_database(
    tmp_path: Path,
) -> None:
    (tmp_path / "sqlwright.toml").write_text(
        'database = "shop.duckdb"\nfunctions = ["net_price", "sales.tax"]\n'
    )
    settings = load_settings(folder=tmp_path)
    assert settings.functions == ("net_price", "sales.tax")
    assert settings.functions_for(str(tmp_path / "shop.duckdb")) == ("net_price", "sales.tax")
    assert settings.functions_for(str(tmp_path / "other.duckdb")) == ()
    given = load_settings(environ={"SQLWRIGHT_FUNCTIONS": "net_price, sales.tax"}, folder=tmp_path)
    assert given.functions_for(str(tmp_path / "other.duckdb")) == ("net_price", "sales.tax")
    assert load_settings().functions == ()
    (tmp_path / "sqlwright.toml").write_text("functions = []\n")
    with pytest.raises(ConfigError, match="functions takes a list of texts in quotes, at least"):
        load_settings(folder=tmp_path)


def test_who_names_a_model_and_no_recipe_gets_one_that_asks_it(tmp_path: Path) -> None:
    assert load_settings().recipe == "local"
    assert load_settings({"llm.model": "openai/x"}).recipe == "chess-ir-ss-cg"
    assert load_settings({"llm.model": "openai/x", "recipe": "local"}).recipe == "local"


def test_preparing_by_the_way_can_be_switched_off(tmp_path: Path) -> None:
    assert load_settings(folder=tmp_path).prepare
    (tmp_path / "sqlwright.toml").write_text("prepare = false\n")
    assert not load_settings(folder=tmp_path).prepare
    assert load_settings(environ={"SQLWRIGHT_PREPARE": "yes"}, folder=tmp_path).prepare
    environ = {"SQLWRIGHT_PREPARE": "true"}
    assert not load_settings({"prepare": False}, environ=environ, folder=tmp_path).prepare
    (tmp_path / "sqlwright.toml").write_text("prepare = 0\n")
    with pytest.raises(ConfigError, match="prepare takes true or false, not 0"):
        load_settings(folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"seconds = {'9' * 5_000}", "not readable as TOML"),
        (f"overrides = {'[' * 5_000}", "not readable as TOML"),
        (f"seconds = '{'x' * 5_000}'", r"seconds takes a number greater than 0, not .xxx"),
        (
            f"seconds = {'9' * 4_000}",
            "seconds takes a number greater than 0, not a value of type int",
        ),
        (f"[limits]\nrows = {'9' * 4_000}", r"limits\.rows takes a whole number"),
        (f"[llm]\nbudget = '{'9' * 5_000} calls'", "is not a budget"),
        (f"[llm]\nconcurrency = {'9' * 30}", r"llm\.concurrency takes a whole number"),
    ],
)
def test_absurd_texts_and_numbers_are_refused_in_a_line(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "sqlwright.toml").write_text(text)
    with pytest.raises(ConfigError, match=message) as refused:
        load_settings(folder=tmp_path)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("name", ["SECONDS", "LIMITS_ROWS", "LLM_BUDGET", "LLM_CONCURRENCY"])
@pytest.mark.parametrize("text", ["9" * 5_000, "9" * 30, "-" * 5_000])
def test_absurd_variables_are_refused_in_a_line(name: str, text: str) -> None:
    if name == "SECONDS" and text == "9" * 30:
        pytest.skip("seconds may be as many as anybody likes")
    with pytest.raises(ConfigError) as refused:
        load_settings(environ={f"SQLWRIGHT_{name}": text})
    assert len(str(refused.value)) < 300
