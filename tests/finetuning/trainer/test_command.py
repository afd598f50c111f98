"""`sqlwright lab finetune ROLE` from questions to an adapter that is named in a project file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from sqlwright.cli.main import main
from tests.finetuning.trainer.marks import NEEDS
from tests.llm.tiny_weights import save_tiny

pytestmark = NEEDS
SCRIPTS = {
    "shop": "CREATE TABLE orders (id, total); CREATE TABLE customers (id, name);"
    "INSERT INTO orders VALUES (1, 2.5);",
    "staff": "CREATE TABLE people (id, age); CREATE TABLE rooms (id, floor);"
    "INSERT INTO people VALUES (1, 30);",
}
QUESTIONS = [
    ("shop", "How many orders?", "SELECT COUNT(*) FROM orders"),
    ("shop", "How many customers?", "SELECT COUNT(*) FROM customers"),
    ("staff", "How many people?", "SELECT COUNT(*) FROM people"),
    ("staff", "How many rooms?", "SELECT COUNT(*) FROM rooms"),
]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command line that trains a tiny linker, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))
    for name, script in SCRIPTS.items():
        with closing(sqlite3.connect(f"{name}.sqlite")) as connection:
            connection.executescript(script)
    rows = [
        {"question": question, "sql": sql, "database": f"{name}.sqlite"}
        for name, question, sql in QUESTIONS
    ]
    Path("mine.yaml").write_text(yaml.safe_dump(rows), "utf-8")
    save_tiny(Path("tiny"))
    return [
        "lab", "finetune", "linker", "--data", "golden:mine.yaml", "--out", "tuned",
        "--model", "tiny", "--share", "0.5", "--context", "16000", "--training", "epochs=1",
        "--training", "batch=2", "--training", "device=cpu", "--training", "evaluate_questions=1",
    ]  # fmt: skip


def test_a_role_is_trained_and_named(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(typed) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "2 examples of 2 questions over 1 database" in told
    assert "[models.tuned-linker]" in told
    assert "sqlwright lab finetune merge" in told
    assert "of 1 (95 % interval" in told
    assert Path("tuned/run/adapter/adapter_config.json").is_file()
    assert Path("tuned/run/MODEL_CARD.md").is_file()
    assert main([*typed, "--json"]) == 0
    printed = capsys.readouterr()
    run = json.loads(printed.out)["run"]
    assert run["ended"]
    assert run["settings"]["epochs"] == 1.0
    assert "is trained already" in printed.err


def test_a_trained_adapter_is_merged(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*typed, "--training", "evaluate_questions=0"]) == 0
    assert main(["lab", "finetune", "merge", "tuned", "--out", "whole"]) == 0
    assert any(Path("whole").glob("*.safetensors"))
    capsys.readouterr()
    assert main(["lab", "finetune", "merge", "tuned", "--out", "whole"]) == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--model", "nowhere"], "there is no folder"),
        (["--training", "quantized=nf4"], "needs an NVIDIA GPU"),
        (["--training", "batch=3", "--training", "micro_batch=2"], "no multiple"),
        (["--start", "nowhere"], "nowhere"),
    ],
)
def test_what_training_lacks_is_told(
    typed: list[str], capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert main([*typed, *options]) == 4
    assert told in " ".join(capsys.readouterr().err.split())
