"""A run's folder: described, its one writer's, killed and gone on with, divided and merged."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.boundary.remote_files import fetched
from sqlwright.errors import ConfigError, DatabaseUnavailable, DatasetError
from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.files import append_row, locked, rows_of
from sqlwright.lab.evaluation.folder.merging import merge_runs
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from sqlwright.lab.evaluation.settings import Shard, in_order
from sqlwright.sql.rewriting import one_line
from tests.evaluation.ending import ending_recipe
from tests.evaluation.sets import GERMAN, SWEDISH, bird_set, spider_set
from tests.evaluation.test_executing import told

ROOT = Path(__file__).parents[2]
ASKED = {f"Who is German, number {number}?": GERMAN for number in range(5)} | {
    "Who is Swedish?": SWEDISH,
    "Who is Swedish, or rather Danish?": "SELECT name FROM customers WHERE country = 'Denmark'",
}
COMMAND = "from sqlwright.cli.main import run; run()"
TIMES = ("seconds", "seconds_per_step")


@pytest.fixture
def dataset(tmp_path: Path, database_files: dict[str, Path]) -> Dataset:
    return load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED, databases=3))


@pytest.fixture
def settings(tmp_path: Path) -> EvaluationSettings:
    return EvaluationSettings(recipe=ending_recipe(tmp_path), allow_code=True)


def timeless(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in TIMES}


def report_of(folder: Path) -> dict[str, Any]:
    return timeless(json.loads((folder / "report.json").read_text()))


def timeless_lines(folder: Path) -> list[str]:
    rows = map(json.loads, (folder / records.PREDICTIONS).read_text().splitlines())
    return [json.dumps(row | {"seconds": 0.0, "times": {}}) for row in rows]


def test_a_run_describes_itself(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    described = replace(dataset, files={"dev.json": "ab" * 32})
    evaluate(described, settings, tmp_path / "out")
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["files"] == {"dev.json": "ab" * 32}
    assert run["recipe_content"]["name"] == "ending"
    assert len(run["recipe_digest"]) == len(run["weights"]["parser"]) == 64
    assert {"apsw", "numpy", "onnxruntime", "sqlglot"} <= set(run["packages"])
    assert run["started"] <= run["ended"]
    assert (run["questions"], run["shard"], run["format"]) == (21, None, 3)
    with pytest.raises(DatasetError, match="another files"):
        evaluate(replace(dataset, files={"dev.json": "cd" * 32}), settings, tmp_path / "out")
    ending_recipe(tmp_path, 0.001)
    with pytest.raises(DatasetError, match="another recipe_digest"):
        evaluate(described, settings, tmp_path / "out")


def test_a_folder_has_one_writer(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    with locked(tmp_path / "out"), pytest.raises(DatasetError, match="another run is writing"):
        evaluate(dataset, settings, tmp_path / "out")
    evaluate(dataset, settings, tmp_path / "out")


def test_fewer_questions_later_lose_no_record(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    whole = evaluate(dataset, settings, tmp_path / "out")
    some = evaluate(dataset, replace(settings, limit=5), tmp_path / "out")
    assert (some["questions"], whole["questions"]) == (5, 21)
    assert len(records.read(tmp_path / "out")) == 21
    assert timeless(evaluate(dataset, settings, tmp_path / "out")) == timeless(whole)


def test_two_questions_with_one_id_are_refused(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    twice = replace(dataset, examples=(*dataset.examples, dataset.examples[0]))
    with pytest.raises(DatasetError, match="two questions with the same id"):
        evaluate(twice, settings, tmp_path / "out")


# Killed


def started(dataset: Dataset, out: Path, recipe: str, *options: str) -> subprocess.Popen[bytes]:
    folder = dataset.examples[0].database.parents[2]
    words = ["evaluate", "--data", f"spider:{folder}", "--recipe", recipe, "--allow-code"]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words, "--out", str(out), "--resume", *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def lines_of(out: Path) -> list[str]:
    path = out / records.PREDICTIONS
    return path.read_text().splitlines() if path.exists() else []


def is_whole(line: str) -> bool:
    """True but for a line that the kill cut short."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["threads", "processes"])
def test_a_run_that_is_killed_goes_on_without_losing_or_repeating_a_question(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path, options: tuple[str, ...]
) -> None:
    evaluate(dataset, settings, tmp_path / "whole")
    slow, out, chance = ending_recipe(tmp_path, 0.1), tmp_path / "out", random.Random(18)
    moments = sorted(chance.sample(range(1, 20), 2))
    for moment in moments:
        process = started(dataset, out, slow, *options)
        until(lambda: len(lines_of(out)) >= moment)  # noqa: B023
        time.sleep(chance.random() * 0.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = lines_of(out)
    assert len(before) >= moments[-1]
    assert started(dataset, out, slow, *options).wait(60) == 0
    assert told(out) == told(tmp_path / "whole")
    whole = [line for line in before if is_whole(line)]
    assert set(whole) <= set(lines_of(out))  # with their times: nothing was asked again
    assert report_of(out) == report_of(tmp_path / "whole")
    assert json.loads((out / "run.json").read_text())["resumed"]


def test_workers_end_with_the_run_that_was_killed(dataset: Dataset, tmp_path: Path) -> None:
    process = started(dataset, tmp_path / "out", ending_recipe(tmp_path, 1.0), "--workers", "2")
    until(lambda: bool(lines_of(tmp_path / "out")))
    theirs = children(process.pid)
    process.kill()
    process.wait()
    assert len(theirs) == 2
    until(lambda: not any(alive(pid) for pid in theirs), 20.0)


def children(parent: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    rows = (line.split() for line in listed.stdout.splitlines())
    return [int(pid) for pid, ppid in rows if int(ppid) == parent]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return (
        "Z"
        not in subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout
    )


@pytest.mark.parametrize("stump", ['{"id": "c"', '{"id": "c"}', '{"id": "' + "c" * 200_000])
def test_a_line_that_a_kill_cut_short_gives_way_to_the_next(tmp_path: Path, stump: str) -> None:
    path = tmp_path / "lines.jsonl"
    for name in "ab":
        append_row(path, {"id": name})
    with path.open("a") as file:
        file.write(stump)

    def read() -> Iterator[str]:
        return (row["id"] for _, row in rows_of(path, what="a row", remedy=""))

    assert list(read()) == ["a", "b"]
    assert path.read_text().endswith(stump)  # somebody may be writing it just now
    append_row(path, {"id": "d"})
    assert list(read()) == ["a", "b", "d"]


# Divided and merged


@pytest.mark.parametrize("count", [1, 2, 3, 7, 25])
def test_shards_are_all_questions_once_in_even_stretches(dataset: Dataset, count: int) -> None:
    parts = [Shard(number, count).of(dataset.examples) for number in range(1, count + 1)]
    assert [one for part in parts for one in part] == in_order(dataset.examples)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    changes = sum(len({one.db_id for one in part}) - 1 for part in parts if part)
    assert changes <= len(dataset.db_ids) - 1


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "1/", "a/b", "-1/2", "1/2/3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="isn't a shard"):
        Shard.parse(text)


def test_merged_shards_are_the_run(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    # Databases mixed, as in a data set that isn't ordered by them.
    mixed = replace(dataset, examples=tuple(sorted(dataset.examples, key=lambda e: e.id[::-1])))
    evaluate(mixed, settings, tmp_path / "whole")
    parts = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        evaluate(mixed, replace(settings, shard=Shard(number, 3), traces=True), part)
    summary = merge_runs([parts[2], parts[0], parts[1]], tmp_path / "merged")
    assert timeless_lines(tmp_path / "merged") == timeless_lines(tmp_path / "whole")
    assert timeless(json.loads(json.dumps(summary))) == report_of(tmp_path / "whole")
    for name in ("submission/predict.txt", "submission/gold.txt", "questions.jsonl"):
        assert (tmp_path / "merged" / name).read_text() == (tmp_path / "whole" / name).read_text()
    assert len(list((tmp_path / "merged" / "traces").rglob("*.jsonl"))) == 21
    run = json.loads((tmp_path / "merged" / "run.json").read_text())
    assert (run["shard"], run["questions"], len(run["merged"])) == (None, 21, 3)


@pytest.fixture
def shards(dataset: Dataset, settings: EvaluationSettings, tmp_path: Path) -> list[Path]:
    parts = [tmp_path / "part1", tmp_path / "part2"]
    for number, part in enumerate(parts, 1):
        evaluate(dataset, replace(settings, shard=Shard(number, 2)), part)
    return parts


def test_parts_that_do_not_make_a_run_are_refused(
    dataset: Dataset, settings: EvaluationSettings, shards: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "merged"
    with pytest.raises(DatasetError, match="part 2/2 is missing"):
        merge_runs(shards[:1], out)
    with pytest.raises(DatasetError, match="10 questions in common"):
        merge_runs([*shards, shards[0]], out)
    ending_recipe(tmp_path, 0.001)
    evaluate(dataset, replace(settings, shard=Shard(2, 2)), tmp_path / "other")
    with pytest.raises(DatasetError, match="it has another recipe_digest"):
        merge_runs([shards[0], tmp_path / "other"], out)
    with pytest.raises(DatasetError, match="holds no run"):
        merge_runs([shards[0], tmp_path], out)
    path = shards[1] / records.PREDICTIONS
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2] + lines[3:]))
    missing = json.loads(lines[2])["id"]
    with pytest.raises(DatasetError, match=f"part2 hasn't asked {missing}$"):
        merge_runs(shards, out)
    assert not (out / records.PREDICTIONS).exists()


def test_questions_of_databases_that_were_left_out_are_not_missing(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    dataset.examples[7].database.unlink()
    whole = evaluate(dataset, settings, tmp_path / "whole")
    parts = [tmp_path / f"part{number}" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        evaluate(dataset, replace(settings, shard=Shard(number, 2)), part)
    merged = merge_runs(parts, tmp_path / "merged")
    assert merged["skipped"] == whole["skipped"]
    assert merged["skipped"]["shop2"]["questions"] == 7


# Submitted


def test_spider_s_evaluator_reads_a_query_a_line(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    examples = list(dataset.examples)
    examples[1] = replace(examples[1], question="It ends.")
    spread = "SELECT name\nFROM customers -- all\nWHERE country = 'Germany'"
    examples[2] = replace(examples[2], gold_sql=spread)
    asked = replace(settings, workers=1)
    evaluate(replace(dataset, examples=tuple(examples)), asked, tmp_path / "out")
    folder = tmp_path / "out" / "submission"
    predicted = (folder / "predict.txt").read_text().splitlines()
    gold = (folder / "gold.txt").read_text().splitlines()
    assert predicted[:2] == [GERMAN, "SELECT NULL"]
    assert gold[0] == f"{GERMAN}\tshop1"
    assert " ".join(gold[2].split()) == f"{GERMAN} shop1"
    assert len(predicted) == len(gold) == 21


def test_bird_s_evaluator_reads_an_object_by_place(
    settings: EvaluationSettings, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    rows = [
        {"question": "Who is Swedish?", "SQL": SWEDISH},
        {"question": "Who is German?", "SQL": GERMAN},
    ]
    dataset = load_bird(bird_set(tmp_path / "bird", database_files["shop"], rows))
    evaluate(dataset, settings, tmp_path / "out")
    found = json.loads((tmp_path / "out" / "submission" / "predict_dev.json").read_text())
    assert found == {
        "0": f"{SWEDISH}\t----- bird -----\tshop",
        "1": f"{GERMAN}\t----- bird -----\tshop",
    }


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SELECT\n  1", "SELECT 1"),
        ("SELECT 1 -- one\nFROM t", "SELECT 1   FROM t"),
        ("SELECT '--\n'", "SELECT ('--'||char(10)||'')"),
        ("SELECT 'a\tb'", "SELECT ('a'||char(9)||'b')"),
        ("SELECT '--' FROM t", "SELECT '--' FROM t"),
    ],
)
def test_a_query_is_put_on_one_line(sql: str, line: str) -> None:
    assert one_line(sql) == line


SPREAD = {
    "postgres": "SELECT 'a\nb',\n  E'it\\'s\tso', $$;\n--$$ -- it's all\n, 6 # 3",
    "mariadb": "SELECT 'it\\'s\nso', # it's one\n  \"a\tb\", 1 --\n, 5--2",
    "duckdb": "SELECT 'a\n', $x$it's\r\n$x$ /* so /* it */ is */",
}
"""Queries over several lines; each means the same on one."""


@pytest.mark.parametrize("engine", list(SPREAD))
def test_a_query_on_one_line_gives_the_same_on_its_engine(
    engine: str, request: pytest.FixtureRequest
) -> None:
    line = one_line(SPREAD[engine], engine)
    assert not set("\n\r\t") & set(line)
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        found = [duckdb.connect().execute(sql).fetchall() for sql in (SPREAD[engine], line)]
    else:
        server = request.getfixturevalue(f"{engine}_server")
        made = request.getfixturevalue(f"{engine}_database")("")
        found = [server.rows(sql, made) for sql in (SPREAD[engine], line)]
    assert found[0] == found[1]


# Elsewhere


def test_databases_and_run_may_be_at_urls(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    there = tmp_path / "bucket"
    (tmp_path / "set" / "database").rename(there)
    asked = replace(settings, databases=f"file://{there}", home=tmp_path / "home", workers=2)
    assert not dataset.examples[0].database.exists()
    url = f"file://{tmp_path}/store/run"
    summary = evaluate(dataset, asked, url)
    assert summary["status"] == {"answered": 21}
    run = tmp_path / "store" / "run"
    assert len(records.read(run)) == 21
    assert {path.name for path in run.rglob("*") if path.is_file()} == {
        "predictions.jsonl", "questions.jsonl", "report.json", "run.json",
        "predict.txt", "gold.txt",
    }  # fmt: skip
    assert len(list((tmp_path / "home" / "fetched").rglob("*.sqlite"))) == 3


def test_a_run_at_a_url_is_gone_on_with_on_another_machine(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    url, asked = "memory://runs/one", []

    def interrupted(done: int, total: int, record: object) -> None:
        if done == 8:
            raise KeyboardInterrupt

    first = replace(settings, home=tmp_path / "here")
    with pytest.raises(KeyboardInterrupt):
        evaluate(dataset, first, url, progress=interrupted)
    second = replace(settings, home=tmp_path / "there")
    evaluate(dataset, second, url, progress=lambda done, *_: asked.append(done))
    assert asked == list(range(8, 22))
    (local,) = (tmp_path / "there" / "runs").iterdir()
    evaluate(dataset, settings, tmp_path / "whole")
    assert told(local) == told(tmp_path / "whole")


def test_a_file_that_has_changed_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "one.sqlite").write_bytes(b"first")
    url = f"file://{tmp_path}/one.sqlite"
    first = fetched(url, tmp_path / "home")
    assert fetched(url, tmp_path / "home") == first
    (tmp_path / "one.sqlite").write_bytes(b"second one")
    assert fetched(url, tmp_path / "home").read_bytes() == b"second one"
    assert first.read_bytes() == b"first"


def test_a_database_that_is_not_at_its_url_is_left_out(
    dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
) -> None:
    there = tmp_path / "bucket"
    (tmp_path / "set" / "database").rename(there)
    (there / "shop3" / "shop3.sqlite").unlink()
    asked = replace(settings, databases=f"file://{there}", home=tmp_path / "home")
    summary = evaluate(dataset, asked, tmp_path / "out")
    assert list(summary["skipped"]) == ["shop3"]
    nowhere = replace(asked, databases="nonsense-protocol://bucket")
    with pytest.raises(DatabaseUnavailable, match="nonsense-protocol"):
        evaluate(dataset, nowhere, tmp_path / "nowhere")
