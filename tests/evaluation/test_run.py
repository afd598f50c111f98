"""A whole measurement over a small data set in Spider's layout, with scripted models."""

import json
from dataclasses import replace

import pytest

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.types import Usage
from tests.evaluation.sets import GERMAN, spider_set
from tests.llm.asking import RECIPE
from tests.llm.server import ModelServer
from tests.scripted import scripted_models

KEPT = [name for name in Usage.__dataclass_fields__ if name.startswith("kept_")]
ITEMS = [
    {"question": "Who is German?", "query": GERMAN, "db_id": "shop"},
    {"question": "Broken gold?", "query": "SELECT nothing FROM nowhere", "db_id": "shop"},
    {
        "question": "Who is French?",
        "query": "SELECT name FROM customers WHERE country = 'France'",
        "db_id": "shop",
    },
]


@pytest.fixture
def spider_folder(tmp_path, database_files):
    home = tmp_path / "set" / "database" / "shop"
    home.mkdir(parents=True)
    (home / "shop.sqlite").write_bytes(database_files["shop"].read_bytes())
    (tmp_path / "set" / "dev.json").write_text(json.dumps(ITEMS))
    return tmp_path / "set"


def settings(*queries):
    return EvaluationSettings(models=scripted_models(*queries))


def test_a_run_scores_answers_candidates_and_broken_golds(spider_folder, tmp_path):
    models = settings("SELECT name FROM customers WHERE country = 'Sweden'", GERMAN)
    seen = []
    summary = evaluate(
        load_spider(spider_folder),
        models,
        tmp_path / "out",
        progress=lambda done, total, record: seen.append((done, total)),
    )
    assert summary["questions"] == 3
    assert summary["gold_does_not_run"] == 1
    assert summary["gold_returns_nothing"] == 1
    assert summary["oracle_over_candidates"]["hits"] == 1
    assert summary["first_candidate"]["hits"] == 0
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == json.loads(
        json.dumps(summary)
    )


def test_a_run_goes_on_where_it_was_killed(spider_folder, tmp_path):
    dataset, out = load_spider(spider_folder), tmp_path / "out"
    whole = evaluate(dataset, settings(GERMAN), out)
    path = out / records.PREDICTIONS
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][: len(lines[1]) // 2])
    asked = []
    again = evaluate(
        dataset,
        settings(GERMAN),
        out,
        progress=lambda done, total, record: asked.append(record and record.id),
    )
    assert asked == [None, "dev-00001", "dev-00002"]
    assert again["execution_accuracy"] == whole["execution_accuracy"]
    assert len(records.read(out)) == 3


def test_half_a_character_in_a_question_ends_no_run(tmp_path, database_files):
    asked = {"Who is German \ud83d?": GERMAN}
    dataset = load_spider(spider_set(tmp_path / "set", database_files["shop"], asked))
    settings = EvaluationSettings(models=scripted_models(GERMAN), home=tmp_path / "home")
    assert evaluate(dataset, settings, tmp_path / "out")["questions"] == 1
    (record,) = records.read(tmp_path / "out")
    assert record.question == "Who is German \ufffd?"
    path = tmp_path / "out" / "predictions.jsonl"
    path.write_text(path.read_text("utf-8").replace("\ufffd", "\\ud83d"), "utf-8")
    assert records.read(tmp_path / "out") == [replace(record, question="Who is German ??")]


def test_a_folder_of_another_run_is_refused(spider_folder, tmp_path):
    dataset, out = load_spider(spider_folder), tmp_path / "out"
    evaluate(dataset, settings(GERMAN), out)
    other = EvaluationSettings(
        models=scripted_models(GERMAN), overrides=["generation.embedded.beam=2"]
    )
    with pytest.raises(DatasetError, match="another overrides"):
        evaluate(dataset, other, out)


def test_a_damaged_line_in_the_middle_is_named(tmp_path):
    (tmp_path / records.PREDICTIONS).write_text('{"id": \n{}\n')
    with pytest.raises(DatasetError, match="line 1"):
        records.read(tmp_path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"a": 1}', "isn't a list"),
        ("[1]", "isn't an object"),
        ('[{"db_id": "x", "query": "q"}]', "has no SpiderSynQuestion or question"),
        ("nonsense", "can't be read as JSON"),
    ],
)
def test_files_in_another_layout_are_refused(tmp_path, content, complaint):
    (tmp_path / "dev.json").write_text(content)
    with pytest.raises(DatasetError, match=complaint):
        load_spider(tmp_path)


def test_a_folder_without_questions_is_refused(tmp_path):
    with pytest.raises(DatasetError, match=r"has none of dev\.json"):
        load_spider(tmp_path)


def test_bird_s_layout_is_read(tmp_path):
    (tmp_path / "dev_databases" / "shop").mkdir(parents=True)
    (tmp_path / "dev_databases" / "shop" / "shop.sqlite").touch()
    row = {
        "question_id": 7,
        "db_id": "shop",
        "question": "How many?",
        "evidence": "all of them",
        "SQL": "SELECT 1",
        "difficulty": "simple",
    }
    (tmp_path / "dev.json").write_text(json.dumps([row]), encoding="utf-8-sig")
    (example,) = load_bird(tmp_path).examples
    assert (example.id, example.evidence, example.difficulty) == ("7", "all of them", "simple")
    assert example.database.exists()


def record(number, confidence, right):
    return Record(
        str(number),
        "d",
        "q",
        "g",
        "s",
        "answered",
        verdicts={"spider": right},
        confidence=confidence,
    )


def test_calibration_error_of_known_confidences():
    # Ten answers at 0.95 of which nine are right: 0.05 off; ten at 0.25 of which none: 0.25 off.
    rows = [record(n, 0.95, n != 0) for n in range(10)]
    rows += [record(n, 0.25, False) for n in range(10, 20)]
    summary = summarize(rows)
    assert summary["expected_calibration_error"] == pytest.approx((0.05 + 0.25) / 2)
    assert summary["most_confident_half"]["value"] == pytest.approx(0.9)


def test_a_language_model_is_part_of_what_a_run_is(spider_folder, tmp_path):
    recipe = tmp_path / "plain.yaml"
    recipe.write_text(RECIPE)
    dataset = load_spider(spider_folder)
    with ModelServer(answer=lambda _: GERMAN) as server:
        asked = EvaluationSettings(
            recipe=str(recipe),
            allow_code=True,
            home=tmp_path / "home",
            llm=LlmOptions("openai-compatible/m", server.url, record=tmp_path / "run.jsonl"),
        )
        summary = evaluate(dataset, asked, tmp_path / "out")
        assert summary["usage"]["in all"]["calls"] == len(server.seen) == 6
    (first, *_) = records.read(tmp_path / "out")
    assert first.usage["ask_plainly"]["calls"] == 2
    other = replace(asked, llm=replace(asked.llm, model="openai-compatible/other"))
    with pytest.raises(DatasetError, match="another model"):
        evaluate(dataset, other, tmp_path / "out")
    harder = replace(asked, llm=replace(asked.llm, reasoning="high", verbosity="low"))
    with pytest.raises(DatasetError, match="another reasoning and verbosity"):
        evaluate(dataset, harder, tmp_path / "out")
    small = replace(asked.llm, models={"small": ModelOptions("vllm/m")})
    with pytest.raises(DatasetError, match="another models"):
        evaluate(dataset, replace(asked, llm=small), tmp_path / "out")
    evaluate(dataset, replace(asked, llm=small), tmp_path / "small")
    keener = replace(small, models={"small": ModelOptions("vllm/m", reasoning="high")})
    with pytest.raises(DatasetError, match="another models"):
        evaluate(dataset, replace(asked, llm=keener), tmp_path / "small")
    played = replace(asked, llm=LlmOptions(replay=tmp_path / "run.jsonl"))
    again = evaluate(dataset, played, tmp_path / "played")
    sent = {k: v for k, v in again["usage"]["in all"].items() if not k.startswith("kept_")}
    assert sent | dict.fromkeys(KEPT, 0) == summary["usage"]["in all"] | {
        "calls": 0, "prompt_tokens": 0, "reply_tokens": 0, "cost": 0.0, "cached": 6,
    }  # fmt: skip
    assert again["fresh"]["calls"]["in_all"] == 6
    assert again["execution_accuracy"] == summary["execution_accuracy"]


@pytest.mark.parametrize("known", [False, True])
def test_a_run_says_that_its_model_took_no_temperature(known, spider_folder, tmp_path):
    """Refused by the server, or known beforehand: temperatures of the recipe mean nothing then."""
    said = json.dumps({"error": {"message": "temperature is not supported"}})

    def fault(asked):
        return f"status:400:{said}" if "temperature" in asked.body else ""

    with ModelServer(answer=lambda _: f"```sql\n{GERMAN}\n```", faults=fault) as server:
        can = (("temperature", False),) if known else ()
        asked = EvaluationSettings(
            recipe="msc",
            overrides=("schema_linking.select_tables.enabled=false",),
            home=tmp_path / "home",
            llm=LlmOptions("openai-compatible/m", server.url, capabilities=can, retrying=0.01),
        )
        summary = evaluate(load_spider(spider_folder), asked, tmp_path / "out")
        assert known == all("temperature" not in one.body for one in server.seen)
    noted = summary["notes"]["parameter"]
    assert noted["questions"] == summary["questions"] == 3
    assert noted["first"] == (
        "openai-compatible/m takes no temperature; none was sent"
        if known
        else "openai-compatible/m doesn't take 'temperature', which is left out"
    )


def test_what_an_answer_rests_on_is_kept(spider_folder, tmp_path):
    replies = Script([When("generation.direct", f"```sql\n{GERMAN}\n```")], otherwise="no")
    asked = EvaluationSettings(
        recipe="chess-ir-ss-cg",
        models=scripted_models(GERMAN) | {"llm": ScriptedModel(replies)},
        home=tmp_path / "home",
    )
    summary = evaluate(load_spider(spider_folder), asked, tmp_path / "out")
    kept = {one.question: one for one in records.read(tmp_path / "out")}
    basis = kept["Who is German?"].basis
    assert kept["Who is German?"].confidence is None
    assert (basis["kind"], basis["agreeing"], basis["of"]) == ("none", 1, 1)
    (second,) = [sign for sign in basis["signs"] if sign["kind"] == "second_opinion"]
    assert second["favours"]
    assert not second["grave"]
    assert "basis" not in summary


@pytest.mark.parametrize(
    ("stand_in", "statuses", "stood_in"),
    [(True, {"answered": 2}, (2, 1)), (False, {"failed": 2}, (0, 0))],
)
def test_answers_in_a_language_models_place_are_counted_or_forbidden(
    spider_folder, tmp_path, stand_in, statuses, stood_in
):
    asked = EvaluationSettings(
        recipe="chess-ir-ss-cg",
        models=scripted_models(GERMAN) | {"llm": ScriptedModel(Script(otherwise="no query"))},
        home=tmp_path / "home",
        stand_in=stand_in,
    )
    summary = evaluate(load_spider(spider_folder), asked, tmp_path / "out")
    assert summary["status"] == statuses
    assert (summary["stood_in"]["total"], summary["stood_in"]["hits"]) == stood_in
    kept = {one.answered_by for one in records.read(tmp_path / "out") if one.status != "gold"}
    assert kept == ({"stand_in"} if stand_in else {None})
