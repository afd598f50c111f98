"""A data set's figures go by its own rule: BIRD's where it is BIRD's."""

from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from tests.evaluation.sets import bird_set, spider_set
from tests.scripted import scripted_models

# Right for BIRD, which compares sets; wrong for Spider, which counts how often a row comes.
GOLD = "SELECT country FROM customers WHERE country IS NOT NULL"
ONCE = "SELECT DISTINCT country FROM customers WHERE country IS NOT NULL"
QUESTION = "Which countries are customers from?"


def measured(dataset, tmp_path, *queries):
    settings = EvaluationSettings(models=scripted_models(*queries), home=tmp_path / "home")
    summary = evaluate(dataset, settings, tmp_path / "out")
    (record,) = records.read(tmp_path / "out")
    return summary, record


def test_bird_goes_by_bird_s_rule_everywhere(tmp_path, database_files):
    row = {"question": QUESTION, "SQL": GOLD, "difficulty": "simple"}
    dataset = load_bird(bird_set(tmp_path / "set", database_files["shop"], [row]))
    summary, record = measured(dataset, tmp_path, ONCE)
    assert record.verdicts.items() >= {"bird": True, "spider": False}.items()
    assert (record.first, record.oracle) == (True, True)
    assert summary["rule"] == "bird"
    for key in ("execution_accuracy", "execution_accuracy_gold_not_empty",
                "first_candidate", "oracle_over_candidates"):  # fmt: skip
        assert summary[key]["hits"] == 1, key
    assert summary["by_rule"]["spider"]["hits"] == 0
    assert summary["by_difficulty"]["simple"]["hits"] == 1
    assert summary["by_database"]["shop"]["hits"] == 1
    assert summary["expected_calibration_error"] == 1 - record.confidence
    assert summary["by_difficulty"]["simple"]["low"] > 0


def test_spider_goes_by_spider_s(tmp_path, database_files):
    dataset = load_spider(spider_set(tmp_path / "set", database_files["shop"], {QUESTION: GOLD}))
    summary, record = measured(dataset, tmp_path, ONCE)
    assert summary["rule"] == "spider"
    assert (record.first, record.oracle) == (False, False)
    assert summary["execution_accuracy"]["hits"] == 0
    assert summary["by_rule"]["bird"]["hits"] == 1
