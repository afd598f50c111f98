"""Language models on the command line: named, limited, shown, looked back at."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlwright.boundary.text import money
from sqlwright.cli.commands.trace import trace_lines
from sqlwright.cli.terminal.console import Glyphs
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.presentation.numbers import usage_words
from sqlwright.running.trace import Trace
from sqlwright.types import Usage
from tests.cli.conftest import Outcome
from tests.llm.asking import RECIPE
from tests.llm.reasoning import Reasoning
from tests.llm.server import Asked, ModelServer

Command = Callable[..., Outcome]
QUESTION = "How many customers live in Munchen?"
SQL = "SELECT count(*) FROM customers WHERE city = 'München'"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answer=lambda _: SQL) as running:
        yield running


@pytest.fixture
def asking(home: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options that ask the server."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "SQLWRIGHT_KEYS"):
        monkeypatch.delenv(name, raising=False)
    Path("plain.yaml").write_text(RECIPE)
    recipe = ["--recipe", "plain.yaml", "--allow-code"]
    return [*recipe, "-m", "openai-compatible/m", "--base-url", server.url]


def test_an_answer_says_what_the_model_took(
    sqlwright: Command, shop: Path, asking: list[str]
) -> None:
    first = sqlwright("ask", shop, QUESTION, *asking)
    assert first.code == 0
    assert "2 model calls, " in first.out
    assert "tokens in, " in first.out
    assert "cost unknown" in first.out
    again = sqlwright("ask", shop, QUESTION, *asking, "--explain")
    assert "0 model calls and 2 cached replies" in again.out
    assert "ask_plainly: 0 model calls and 2 cached replies" in again.out


def test_a_budget_is_kept(
    sqlwright: Command, shop: Path, asking: list[str], server: ModelServer
) -> None:
    outcome = sqlwright("ask", shop, QUESTION, *asking, "--budget", "1 call", "--json")
    assert json.loads(outcome.out)["usage"]["calls"] == 1
    assert len(server.seen) == 1
    for wrong, says in (("five", "not a budget"), ("$1", "price of openai-compatible/m")):
        outcome = sqlwright("ask", shop, QUESTION, *asking, "--budget", wrong)
        assert outcome.code == 4
        assert says in outcome.err
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "-m provider/model"),
        (("-m", "gpt-4"), "doesn't say who serves it"),
        (("-m", "nobody/gpt-4"), "unknown provider 'nobody'"),
        (("-m", "openai/gpt-4"), "OPENAI_API_KEY"),
        (("-m", "openai-compatible/m"), "base URL"),
        (("-m", "ollama/m", "--privacy", "some"), "--privacy takes 'full' or 'schema-only'"),
        (("--replay", "absent.jsonl"), "can't be read"),
    ],
)
def test_what_does_not_fit_is_told_with_what_to_do(
    sqlwright: Command, shop: Path, asking: list[str], options: tuple[str, ...], says: str
) -> None:
    outcome = sqlwright("ask", shop, QUESTION, *asking[:3], *options)
    assert outcome.code == 4
    assert says in outcome.err


def test_a_server_that_is_not_running_is_told_once(
    sqlwright: Command, shop: Path, asking: list[str]
) -> None:
    with ModelServer() as gone:
        url = gone.url
    for recipe in ("baseline", "chess-ir-ss-cg"):
        options = ["-r", recipe, "-m", "openai-compatible/m", "--base-url", url]
        outcome = sqlwright("ask", shop, QUESTION, *options)
        assert outcome.code == 11
        assert " ".join(outcome.out.split()).count("is its server running?") == 1
        assert "other words" not in outcome.out


def test_a_reply_without_a_query_is_told(sqlwright: Command, shop: Path, home: Path) -> None:
    with ModelServer(answer=lambda _: "```") as server:
        options = ["-r", "baseline", "-m", "openai-compatible/m", "--base-url", server.url]
        outcome = sqlwright("ask", shop, QUESTION, *options)
    assert outcome.code == 11
    assert " ".join(outcome.out.split()).count("holds no SQL query") == 1
    assert "other words" not in outcome.out


def test_settings_are_shown_as_they_can_be_given(
    sqlwright: Command, shop: Path, home: Path, server: ModelServer
) -> None:
    shown = sqlwright("recipes", "show", "baseline").out
    (line,) = [line for line in shown.split("\n") if "generation.direct.sampling=" in line]
    setting = line.removeprefix("#   ").replace("temperature: 0.0", "temperature: 0.7")
    options = ["-r", "baseline", "-m", "openai-compatible/m", "--base-url", server.url]
    assert sqlwright("ask", shop, QUESTION, *options, "--set", setting).code == 0
    assert server.seen[0].body["temperature"] == 0.7


def test_a_recording_answers_without_a_model(
    sqlwright: Command, shop: Path, asking: list[str], server: ModelServer
) -> None:
    recorded = sqlwright("ask", shop, QUESTION, *asking, "--record", "run.jsonl", "--json")
    asked = len(server.seen)
    played = sqlwright("ask", shop, QUESTION, *asking[:3], "--replay", "run.jsonl", "--json")
    assert json.loads(played.out)["rows"] == json.loads(recorded.out)["rows"] == [[1]]
    assert len(server.seen) == asked


def test_no_cache_keeps_nothing(
    sqlwright: Command,
    shop: Path,
    home: Path,
    asking: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SQLWRIGHT_LLM_CACHE", "false")
    assert sqlwright("ask", shop, QUESTION, *asking).code == 0
    assert not (home / "replies").exists()


def test_purge_forgets_what_models_replied(
    sqlwright: Command, shop: Path, home: Path, asking: list[str]
) -> None:
    sqlwright("ask", shop, QUESTION, *asking)
    assert list((home / "replies").rglob("*.json"))
    outcome = sqlwright("purge", shop)
    assert "removed 2 kept replies of language models" in outcome.err
    assert not list((home / "replies").rglob("*"))


def test_a_trace_shows_what_was_asked_and_replied(
    sqlwright: Command, shop: Path, asking: list[str]
) -> None:
    sqlwright("ask", shop, QUESTION, *asking)
    shown = sqlwright("trace", "show").out
    for part in ("openai-compatible/m for ask plainly", "Write one SQLite query.", "reply", SQL):
        assert part in shown
    assert "customers.city holds 'München'" in shown


def test_an_effort_is_sent_and_where_it_is_refused_the_trace_says_so(
    sqlwright: Command, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLWRIGHT_LLM_REASONING", "low")

    def refuses(asked: Asked) -> str:
        return "refused:reasoning_effort" if "reasoning_effort" in asked.body else ""

    thinking = Reasoning(lambda asked: "SELECT 1", hidden=50)
    with ModelServer(answer=thinking, faults=refuses) as server:
        options = ("-m", "openai-compatible/m", "--base-url", server.url)
        outcome = sqlwright("ask", shop, QUESTION, "-r", "baseline", *options)
        first, second = server.seen
    assert outcome.code == 0
    assert "(50 of them reasoning)" in outcome.out
    assert first.body["reasoning_effort"] == "low"
    assert "reasoning_effort" not in second.body
    assert "left out: reasoning_effort" in sqlwright("trace", "show").out


def test_a_chat_asks_it_too(
    sqlwright: Command, shop: Path, asking: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(f"{QUESTION}\n"))
    outcome = sqlwright("chat", shop, *asking)
    assert outcome.code == 0
    assert "2 model calls" in outcome.out


def test_a_measurement_asks_it_and_says_what_it_took(
    sqlwright: Command, shop: Path, home: Path, asking: list[str]
) -> None:
    folder = Path("set/database/shop")
    folder.mkdir(parents=True)
    (folder / "shop.sqlite").write_bytes(shop.read_bytes())
    Path("set/dev.json").write_text(
        json.dumps([{"question": QUESTION, "query": SQL, "db_id": "shop"}])
    )
    run = ("evaluate", "--data", "spider:set", *asking, "--budget", "1 call")
    unknown = sqlwright(*run, "--metric", "r_vse")
    assert unknown.code == 4
    assert "unknown metric 'r_vse'; did you mean 'r_ves'?" in unknown.err
    outcome = sqlwright(*run, "--metric", "ves", "--metric", "r_ves", "--out", "out")
    assert outcome.code == 0
    measures = json.loads(Path("out/predictions.jsonl").read_text())["measures"]
    assert measures["ves"] > 0
    assert measures["r_ves"] > 0
    assert "execution accuracy  100.0%" in outcome.out
    assert "in all: 1 model call, " in outcome.out
    assert list((home / "replies").rglob("*.json"))


def test_a_run_is_estimated_kept_within_a_budget_and_repeated_with_other_seeds(
    sqlwright: Command, shop: Path, home: Path, asking: list[str]
) -> None:
    folder = Path("set/database/shop")
    folder.mkdir(parents=True)
    (folder / "shop.sqlite").write_bytes(shop.read_bytes())
    rows = [{"question": f"{QUESTION} {n}", "query": SQL, "db_id": "shop"} for n in range(10)]
    Path("set/dev.json").write_text(json.dumps(rows))
    run = ("evaluate", "--data", "spider:set", *asking, "-r", "baseline", "--no-stand-in")
    told = sqlwright(*run, "--estimate")
    assert told.code == 0
    assert "10 questions, estimated from 8" in told.out
    assert "cost    unknown: the price of a model isn't known" in told.out
    assert "the sample took 8 model calls, " in told.out
    ended = sqlwright(*run, "--run-budget", "1 call", "--out", "out")
    assert ended.code == 19
    assert "the budget of the run (1 call) is spent, 3 questions not asked" in ended.out
    assert sqlwright(*run, "--run-budget", "2 calls", "--out", "out", "--resume").code == 0
    seeds = sqlwright(*run, "--seeds", "2", "--out", "seeds")
    assert seeds.code == 0
    assert "seed 1  10 of 10, 100.0%" in seeds.out
    assert "100.0% at the mean of 2 seeds" in seeds.out
    assert json.loads(sqlwright(*run, "--estimate", "--json").out)["calls"]["value"] == 10
    for wrong in (["--seeds", "2"], ["--estimate", "--out", "x"], ["--estimate", "--seeds", "2"]):
        assert sqlwright(*run, *wrong).code == 2
    assert sqlwright(*run, "--run-budget", "much").code == 4


def test_ablations_are_measured_one_beside_the_other(
    sqlwright: Command, shop: Path, home: Path, server: ModelServer
) -> None:
    folder = Path("set/database/shop")
    folder.mkdir(parents=True)
    (folder / "shop.sqlite").write_bytes(shop.read_bytes())
    Path("set/dev.json").write_text(
        json.dumps([{"question": QUESTION, "query": SQL, "db_id": "shop"}])
    )
    asking = ["--data", "spider:set", "-m", "openai-compatible/m", "--base-url", server.url]
    run = ("lab", "ablate", "without-revise", *asking, "--no-stand-in", "--jobs", "2", "--prepare")
    missing = sqlwright(*run)
    assert (missing.code, "the runs need a folder" in missing.err) == (2, True)
    outcome = sqlwright(*run, "--out", "runs")
    assert outcome.code == 0
    assert "all-tools       100.0%" in outcome.out
    assert "against all-tools: 0 gained, 0 lost, p 1" in outcome.out
    again = sqlwright(*run, "--out", "runs")
    assert "isn't empty" in again.err
    asked = len(server.seen)
    assert sqlwright(*run, "--out", "runs", "--resume").out == outcome.out
    assert len(server.seen) == asked


def test_doctor_says_which_keys_there_are_and_never_shows_them(
    sqlwright: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key-1")
    monkeypatch.setenv("GEMINI_API_KEY", "canary-key-2")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    shown = sqlwright("doctor").out
    assert "keys for openai, google" in " ".join(shown.split())
    assert "canary" not in shown
    Path("sqlwright.toml").write_text('[llm]\nmodel = "anthropic/claude-sonnet-5"\n')
    outcome = sqlwright("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(outcome.out)["checks"]}
    assert checks["providers"]["state"] == "bad"
    assert "ANTHROPIC_API_KEY" in checks["providers"]["advice"]


HERE = 'base_url = "http://127.0.0.1:9/v1"\n'
OPENAI = HERE.replace("http://127.0.0.1:9", "https://api.openai.com")


@pytest.mark.parametrize(
    ("model", "priced", "says"),
    [
        ("openai/gpt-4.1", OPENAI, "$2 in and $8 out per million tokens (202"),
        ("openai/gpt-4.1", "", "its price isn't known"),
        ("openai-compatible/m", "", "its price isn't known"),
        ("openai-compatible/m", "prompt_price = 0.1\nreply_price = 0\n", "$0.1 in and $0 out per"),
        ("ollama/m", "", "costs nothing"),
    ],
)
def test_doctor_says_what_a_model_costs(
    sqlwright: Command,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    priced: str,
    says: str,
) -> None:
    Path("sqlwright.toml").write_text(
        f'[models.small]\nmodel = "{model}"\nkey_env = "SMALL_KEY"\n'
        f"{'' if priced == OPENAI else HERE}{priced}"
    )
    monkeypatch.setenv("SMALL_KEY", "api.openai.com=canary-key-1")
    assert says in " ".join(sqlwright("doctor").out.split())


def test_where_a_project_file_sends_prompts_is_said(
    sqlwright: Command, shop: Path, asking: list[str]
) -> None:
    Path("sqlwright.toml").write_text(
        '[llm]\nmodel = "openai-compatible/m"\nbase_url = "http://192.0.2.1:9/v1"\n'
    )
    outcome = sqlwright("ask", shop, QUESTION, *asking[:3], "--timeout", "0.5")
    assert "sends what models are asked to http://192.0.2.1:9/v1" in outcome.err


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(), ""),
        (Usage(1, 1_234, 5, 0.0123), "1 model call, 1,234 tokens in, 5 out, $0.012"),
        (Usage(2, 1, 2, None), "2 model calls, 1 tokens in, 2 out, cost unknown"),
        (Usage(5, unanswered=2), "5 model calls, 3 answered, 0 tokens in, 0 out, $0.00"),
        (Usage(5, unanswered=5), "5 model calls, none answered, 0 tokens in, 0 out, $0.00"),
        (Usage(2, 1, 2, 0.0), "2 model calls, 1 tokens in, 2 out, $0.00"),
        (Usage(cached=1), "0 model calls and 1 cached reply"),
    ],
)
def test_usage_in_words(usage: Usage, words: str) -> None:
    assert usage_words(usage) == words


def test_small_sums_of_money_keep_two_digits_that_count() -> None:
    sums = (0.0, 0.5, 0.05, 0.000456, 0.1, 1.5, 12.345)
    assert [money(cost) for cost in sums] == [
        "$0.00", "$0.50", "$0.050", "$0.00046", "$0.10", "$1.50", "$12.35",
    ]  # fmt: skip


def test_a_model_that_would_not_be_asked_is_told(
    sqlwright: Command, shop: Path, asking: list[str], server: ModelServer
) -> None:
    """The answer of the embedded models would pass for that of the model."""
    for command in (("ask", shop, QUESTION), ("chat", shop)):
        outcome = sqlwright(*command, "-r", "local", "-m", "ollama/m")
        assert outcome.code == 4
        told = " ".join(outcome.err.split())
        assert "the recipe local would not ask ollama/m" in told
        assert "-r" in told
    Path("sqlwright.toml").write_text('[llm]\nmodel = "ollama/m"\n')
    assert sqlwright("ask", shop, "How many customers are there?", "-r", "local").code == 0


def test_the_list_of_recipes_says_which_ask_a_model(sqlwright: Command, home: Path) -> None:
    listed = sqlwright("recipes").out
    (line,) = [line for line in listed.split("\n") if line.startswith("baseline")]
    assert "language model" in line
    assert "local\n" in listed


CHAINS = """
name: chains
steps:
  - samples:
      count: 2
      steps:
        - generation.direct: {prompt: generation/zero_shot, sampling: {temperature: 0.5}}
        - repair.execute
  - selection.first_valid
"""


def test_a_trace_shows_a_prompt_once_and_whose_turn_it_was(
    sqlwright: Command, shop: Path, asking: list[str], server: ModelServer
) -> None:
    Path("chains.yaml").write_text(CHAINS)
    options = ["-m", "openai-compatible/m", "--base-url", server.url]
    assert sqlwright("ask", shop, QUESTION, "-r", "chains.yaml", *options).code == 0
    shown = " ".join(sqlwright("trace", "show").out.split())
    assert "call 1, candidate 1" in shown
    assert "call 2, candidate 2" in shown
    assert "the same as in call 1" in shown
    assert shown.count("You write SQLite queries") == 1


def test_a_trace_names_what_a_step_changed_in_full() -> None:
    parts = [{"text": "Who is there?", "condition": ""}, {"text": QUESTION, "condition": "from"}]
    changes = {"sub_questions": parts, "similar_columns": [], "keywords": ["a"]}
    event = {"kind": "step", "step": "generation.decompose", "seconds": 0.1, "changes": changes}
    trace = Trace("t", {"question": QUESTION}, (event,))
    shown = [line.plain for line in trace_lines(trace, DisplayOptions(80, Glyphs(), False, 20))]
    assert "  sub-questions" in shown
    assert "              text Who is there?" in shown
    assert "  similar columns" in shown
    assert "  keywords    a" in shown


def test_only_the_tables_named_are_known_of(sqlwright: Command, shop: Path, home: Path) -> None:
    hidden = sqlwright("sql", shop, "SELECT * FROM customers", "--tables", "orders")
    assert hidden.code != 0
    assert sqlwright("sql", shop, "SELECT * FROM orders", "--tables", "orders").code == 0
    asked = sqlwright("ask", shop, "How many customers are there?", "--tables", "orders", "--json")
    assert "customers" not in json.loads(asked.out)["used_tables"]


THEIRS = """
name: theirs
steps:
  - retrieval.question_words
  - generation.direct: {sampling: {model: openai-compatible/e}}
  - generation.direct: {sampling: {model: vllm/big}}
  - generation.direct: {sampling: {model: ollama/small}}
  - generation.direct
  - selection.first_valid
"""
ELSEWHERE = "http://192.0.2.1:9/v1"
"""An address that nobody has."""


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_models_that_a_recipe_file_names_are_said_before_the_first_request(
    sqlwright: Command, shop: Path, asking: list[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Whoever wrote it sends the data of who runs it, and spends the key."""
    monkeypatch.setattr("sys.stdin", io.StringIO(":quit\n"))
    monkeypatch.setenv("VLLM_BASE_URL", "http://192.0.2.7:9/v1")
    Path("theirs.yaml").write_text(THEIRS)
    words = [command, shop, *([QUESTION] if command == "ask" else []), "-r", "theirs.yaml"]
    words += ["-m", "openai-compatible/m", "--base-url", ELSEWHERE, "--timeout", "0.5"]
    err = sqlwright(*words).err
    assert err.count("the recipe theirs.yaml asks vllm/big at http://192.0.2.7:9/v1") == 1
    assert err.count(f"the recipe theirs.yaml asks openai-compatible/e at {ELSEWHERE}") == 1
    assert "asks openai-compatible/m" not in err
    assert "asks ollama/small" not in err


def test_models_that_the_user_names_are_not_said(
    sqlwright: Command, shop: Path, asking: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://192.0.2.7:9/v1")
    Path("mine.yaml").write_text(THEIRS.replace("vllm/big", "ollama/small"))
    words = ["--set", "generation.direct[2].sampling={model: vllm/big}", "-m", "ollama/m"]
    words += ["--timeout", "0.5"]
    assert "asks vllm" not in sqlwright("ask", shop, QUESTION, "-r", "mine.yaml", *words).err
    assert "plain.yaml asks" not in sqlwright("ask", shop, QUESTION, *asking).err
