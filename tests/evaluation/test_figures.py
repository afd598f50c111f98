"""A run's figures: small ones by hand (tests/cases/figures), a large one against plain counting."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import comb
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest
import yaml
from benchmarks.summary_scale import drawn_records, measured, write

from sqlwright.boundary.text import to_json
from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.figures.accuracy import MOST_VALUES
from sqlwright.lab.evaluation.figures.candidates import MOST_ROWS
from sqlwright.lab.evaluation.figures.confidence import POINTS
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.records import Record

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "figures" / "runs.yaml").read_text("utf-8")
)
LARGE = 5_000


def record(number: int, told: Mapping[str, Any]) -> Record:
    judged = [("abcdefgh"[n], one == "R") for n, one in enumerate(told.get("judged", ""))]
    right = told.get("right", False)
    return Record(
        id=str(number),
        db_id=told.get("db", "d"),
        question="?",
        gold_sql="SELECT 1",
        sql="SELECT 1",
        status=told.get("status", "answered"),
        verdicts={"spider": right},
        measures=told.get("measures", {}),
        oracle=told.get("oracle", right or any(good for _, good in judged)),
        first=told.get("first", False),
        candidates=told.get("candidates", len(judged)),
        judged=judged,
        judgements=told.get("judgements", ()),
        notes=told.get("notes", ()),
        confidence=told.get("sure"),
        usage=told.get("usage", {}),
        difficulty=told.get("level", ""),
        features=told.get("features", ()),
        tags=told.get("tags", {}),
    )


def looked_up(summary: Mapping[str, Any], path: str) -> Any:
    """A figure by its keys; `coverage_at.0.95` has a dot in a key."""
    place: Any = summary
    keys = path.replace("0.9", "0~9").split(".")
    for key in keys:
        place = place.get(key.replace("~", "."))
        if place is None:
            return None
    return place


def rounded(value: Any) -> Any:
    """Numbers to six digits, wherever they stand."""
    if isinstance(value, float):
        return round(value, 6) + 0.0
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_figures_of_small_runs(case: dict[str, Any]) -> None:
    told = [one for one in case["records"] for _ in range(one.get("times", 1))]
    summary = summarize(record(number, one) for number, one in enumerate(told))
    found = {path: rounded(looked_up(summary, path)) for path in case["expect"]}
    assert found == {path: rounded(value) for path, value in case["expect"].items()}
    assert json.loads(to_json(summary)) == summary


@pytest.fixture(scope="module")
def large() -> list[Record]:
    return list(drawn_records(LARGE))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same records as a run writes them."""
    made = tmp_path_factory.mktemp("run")
    write(made, LARGE)
    return made


@pytest.fixture(scope="module")
def summary(folder: Path) -> dict[str, Any]:
    return summarize(records.stream(folder), skipped={"lost": (7, "not a database")})


@pytest.fixture(scope="module")
def scored(large: list[Record]) -> list[Record]:
    return [one for one in large if one.status != "gold"]


def right(one: Record) -> bool:
    return one.verdicts["spider"]


def share(group: Sequence[Record], hit: Callable[[Record], bool] = right) -> dict[str, float]:
    return Share(len([one for one in group if hit(one)]), len(group)).as_dict()


def grouped(
    group: Sequence[Record], by: Callable[[Record], Sequence[str]]
) -> dict[str, dict[str, float]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for one in group:
        for name in by(one):
            found[name].append(one)
    return {name: share(found[name]) for name in sorted(found)}


def test_counts_and_shares(
    summary: dict[str, Any], large: list[Record], scored: list[Record]
) -> None:
    assert summary["questions"] == LARGE
    assert summary["gold_does_not_run"] == LARGE - len(scored) > 0
    assert summary["gold_returns_nothing"] == sum(one.gold_empty for one in scored)
    assert summary["skipped"] == {"lost": {"questions": 7, "reason": "not a database"}}
    assert summary["status"] == Counter(one.status for one in scored)
    assert summary["stood_in"] == share([one for one in scored if one.answered_by == "stand_in"])
    assert summary["execution_accuracy"] == share(scored)
    assert summary["execution_accuracy_gold_not_empty"] == share(
        [one for one in scored if not one.gold_empty]
    )
    assert summary["by_rule"]["bird"] == share(scored, lambda one: one.verdicts["bird"])
    assert summary["first_candidate"] == share(scored, lambda one: one.first)
    assert summary["oracle_over_candidates"] == share(scored, lambda one: one.oracle)
    assert summary["by_difficulty"] == grouped(scored, lambda one: [one.difficulty])
    assert summary["by_database"] == grouped(scored, lambda one: [one.db_id])
    assert summary["by_feature"] == grouped(scored, lambda one: one.features)
    assert summary["by_tag"] == {"topic": grouped(scored, lambda one: [one.tags["topic"]])}
    assert large[0].tags["number"]  # of which there are too many to tell
    clustered = summary["clustered"]
    assert clustered["databases"] == len(summary["by_database"])
    assert clustered["low"] < summary["execution_accuracy"]["value"] < clustered["high"]


def test_a_tag_is_broken_down_up_to_a_number_of_values() -> None:
    def of(values: int) -> dict[str, Any]:
        made = (record(n, {"tags": {"n": str(n % values)}}) for n in range(300))
        found: dict[str, Any] = summarize(made)["by_tag"]
        return found

    assert len(of(MOST_VALUES)["n"]) == MOST_VALUES
    assert of(MOST_VALUES + 1) == {}


def test_measures_and_tiers(summary: dict[str, Any], scored: list[Record]) -> None:
    names = {name for one in scored for name in one.measures}
    assert {f"tier:{name}" for name in summary["tiers"]} | set(summary["measures"]) == names
    for name, found in summary["measures"].items():
        assert found["value"] == pytest.approx(mean(one.measures[name] or 0.0 for one in scored))
        assert found["low"] < found["value"] < found["high"]
        assert found["total"] == len(scored)
    assert summary["tiers"]["rows"] == share(scored, lambda one: one.measures["tier:rows"] == 1)


def test_candidates(summary: dict[str, Any], scored: list[Record]) -> None:
    def rights(one: Record) -> int:
        return [agrees for _, agrees in one.judged].count(True)

    bounds = summary["bounds"]
    assert bounds["oracle"] == summary["oracle_over_candidates"]
    assert bounds["adversary"] == share(scored, lambda one: all(good for _, good in one.judged))
    assert list(bounds["pass_at"]) == ["1", "2", "3", "5"]
    for k, found in bounds["pass_at"].items():
        chances = [1 - comb(8 - rights(one), int(k)) / comb(8, int(k)) for one in scored]
        assert found["value"] == pytest.approx(mean(chances))
    mixed = [one for one in scored if 0 < rights(one) < 8]
    assert summary["selection"]["questions"] == share(mixed)
    for writer, told in summary["by_generator"].items():
        mine = [[good for who, good in one.judged if who == writer] for one in scored]
        assert told["oracle"]["hits"] == sum(map(any, mine))
        assert told["candidates"] == sum(map(len, mine))
        chance = mean(sum(written) / len(written) if written else 0.0 for written in mine)
        assert told["pass_at"]["1"]["value"] == pytest.approx(chance)
    first, oracle, chosen = (
        sum(hit(one) for one in scored)
        for hit in (lambda one: one.first, lambda one: one.oracle, right)
    )
    assert summary["gap_share"] == pytest.approx((chosen - first) / (oracle - first))
    sets = Counter(
        tuple(sorted({source for source, good in one.judged if good}))
        for one in scored
        if rights(one)
    )
    assert {tuple(one["sources"]): one["questions"] for one in summary["generators"]} == sets
    counts = [one["questions"] for one in summary["generators"]]
    assert counts == sorted(counts, reverse=True)


def test_sets_of_generators_are_told_up_to_a_number() -> None:
    made = [
        Record(
            str(n), "d", "?", "g", "s", "answered",
            judged=[(f"s{bit}", bool(n >> bit & 1)) for bit in range(6)], candidates=6,
        )
        for n in range(64)
        for _ in range(n % 3 + 1)
    ]  # fmt: skip
    told = summarize(made)["generators"]
    assert len(told) == MOST_ROWS
    assert {one["questions"] for one in told} == {2, 3}


def test_confidence(summary: dict[str, Any], scored: list[Record]) -> None:
    def sure(one: Record) -> float:
        return one.confidence or 0.0

    ranked = sorted(scored, key=sure, reverse=True)
    assert summary["most_confident_half"] == share(ranked[: len(ranked) // 2])
    gap = 0.0
    for told in summary["calibration"]["bins"]:
        above = told["high"] if told["high"] < 1 else 2.0  # certainty is in the last bin
        inside = [one for one in scored if told["low"] <= sure(one) < above]
        assert told["count"] == len(inside)
        assert told["confidence"] == pytest.approx(mean(sure(one) for one in inside))
        assert told["right"] == pytest.approx(mean(right(one) for one in inside))
        gap += abs(told["confidence"] - told["right"]) * len(inside) / len(scored)
    assert summary["expected_calibration_error"] == pytest.approx(gap)
    assert summary["calibration"]["ece"] == summary["expected_calibration_error"]
    good = [sure(one) for one in scored if right(one)]
    bad = [sure(one) for one in scored if not right(one)]
    wins = sum((one > other) + (one == other) / 2 for one in good for other in bad)
    assert summary["calibration"]["auroc"] == pytest.approx(wins / len(good) / len(bad))


def test_risk_and_coverage(summary: dict[str, Any], scored: list[Record]) -> None:
    answered = [one for one in scored if one.status == "answered"]

    def at(least: float) -> tuple[int, int]:
        given = [one for one in answered if (one.confidence or 0.0) >= least]
        return len(given), sum(map(right, given))

    curve = summary["risk_coverage"]
    assert len(curve) == POINTS
    assert curve[-1]["coverage"] == pytest.approx(len(answered) / len(scored))
    for point in curve:
        given, hits = at(point["confidence"])
        assert point["coverage"] == pytest.approx(given / len(scored))
        assert point["risk"] == pytest.approx(1 - hits / given)
    ranked = sorted(answered, key=lambda one: one.confidence or 0.0, reverse=True)
    for precision, told in summary["coverage_at"].items():
        hits, best = 0, None
        for given, one in enumerate(ranked, 1):
            hits += right(one)
            last = given == len(ranked) or ranked[given].confidence != one.confidence
            if last and hits / given >= float(precision):
                best = (given, one.confidence, Share(hits, given).interval[0])
        found = told and (told["answers"], told["confidence"], told["low"])
        assert found == best
    assert summary["coverage_at"]["0.90"]


def test_reliability(summary: dict[str, Any], scored: list[Record]) -> None:
    for name, told in summary["reliability"].items():
        penalty = len(scored) if name == "N" else int(name)
        scores = [
            0 if one.status != "answered" else 1 if right(one) else -penalty for one in scored
        ]
        assert told["value"] == pytest.approx(mean(scores))
        assert told["low"] < told["value"] < told["high"]
    assert list(summary["reliability"]) == ["0", "1", "10", "N"]


def test_linking(summary: dict[str, Any], scored: list[Record]) -> None:
    needed = sum(one.needed_columns for one in scored)
    found = sum(one.found_columns for one in scored)
    told = summary["linker"]
    assert told["column_recall"] == found / needed
    assert told["column_precision"] == found / (12 * len(scored))
    assert told["table_recall"] == mean(one.found_tables for one in scored) / 2
    assert told["all_columns_found"] == share(
        scored, lambda one: one.found_columns == one.needed_columns
    )
    view = summary["views"]["schema_linking"]
    shown = [one.views["schema_linking"]["columns"] for one in scored]
    assert view["columns"] == pytest.approx(mean(shown))
    assert view["column_precision"] == pytest.approx(needed / sum(shown))
    assert view["column_recall"] == 1.0
    assert view["table_precision"] == 0.5
    assert view["table_recall"] == 1.0
    assert summary["views"]["whole schema"]["tables"] == 4
    (database, columns), *_ = view["columns_by_database"].items()
    there = [n for n, one in zip(shown, scored, strict=True) if one.db_id == database]
    assert columns == pytest.approx(mean(there))


def test_spending(summary: dict[str, Any], large: list[Record], scored: list[Record]) -> None:
    costs = [sum(used["cost"] for used in one.usage.values()) for one in large]
    assert summary["cost"]["in_all"] == pytest.approx(sum(costs))
    assert summary["cost"]["per_question"]["value"] == pytest.approx(mean(costs))
    assert summary["cost"]["per_right_answer"] == pytest.approx(sum(costs) / sum(map(right, large)))
    assert summary["calls"]["per_question"]["value"] == 2
    prompts = [used["prompt_tokens"] for one in large for used in one.usage.values()]
    replies = [used["reply_tokens"] for one in large for used in one.usage.values()]
    assert (summary["tokens"]["prompt"], summary["tokens"]["reply"]) == (sum(prompts), sum(replies))
    assert summary["tokens"]["in_all"] == sum(prompts) + sum(replies)
    assert summary["usage"]["in all"]["prompt_tokens"] == sum(prompts)
    seconds = sorted(one.seconds for one in scored)
    assert summary["seconds"]["median"] == pytest.approx(median(seconds), rel=1e-3)
    assert summary["seconds"]["p95"] == seconds[round(0.95 * (len(seconds) - 1))]
    assert summary["seconds"]["max"] == seconds[-1]
    assert list(summary["seconds_per_step"]) == list(scored[0].times)


def test_wrong_answers(summary: dict[str, Any], large: list[Record], scored: list[Record]) -> None:
    errors = summary["errors"]
    wrong = [one for one in scored if not right(one)]
    main = Counter((one.errors or [{"class": ""}])[0]["class"] for one in wrong)
    among = Counter(said["class"] for one in wrong for said in one.errors or ())
    assert errors["wrong"] == len(wrong)
    for name, told in errors["classes"].items():
        assert (told["main"]["hits"], told["any"]["hits"]) == (main[name], among[name])
    origins = Counter((one.origin["kind"], one.origin["step"]) for one in wrong)
    assert {(one["kind"], one["step"]): one["hits"] for one in errors["origins"]} == origins
    doubted = [one for one in large if one.status == "gold" or one.origin.get("kind") == "gold"]
    assert errors["split"]["gold_doubtful"]["hits"] == len(doubted)
    assert sum(part["hits"] for part in errors["split"].values()) == LARGE


def test_a_stream_leaves_out_what_a_kill_cut_short(tmp_path: Path) -> None:
    assert list(records.stream(tmp_path)) == []
    records.append(tmp_path, record(1, {"right": True, "judged": "RW"}))
    records.append(tmp_path, record(2, {"db": "line\u2028end \x85 \u2029"}))
    path = tmp_path / records.PREDICTIONS
    path.write_bytes(path.read_bytes() + path.read_bytes()[:40])
    first, second = records.stream(tmp_path)
    assert (first.id, [tuple(one) for one in first.judged]) == ("1", [("a", True), ("b", False)])
    assert second.db_id == "line\u2028end \x85 \u2029"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 1 isn't a record: Invalid JSON"),
        ("[]", "line 1 isn't a record"),
        ('{"id": 1}', "line 1 isn't a record: id: Input should be a valid string"),
        ("{}", "line 1 isn't a record: id: Field required"),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / records.PREDICTIONS).write_text(f"{line}\n{{}}\n")
    with pytest.raises(DatasetError, match=why):
        list(records.stream(tmp_path))


def test_records_are_not_kept(folder: Path) -> None:
    tracemalloc.start()
    try:
        summarize(records.stream(folder))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40e6  # kept, they take 90 MB


def test_the_benchmark_measures_the_stream(tmp_path: Path) -> None:
    write(tmp_path, 200)
    found = measured(tmp_path)
    assert found["questions"] == 200
    assert found["cpu_seconds"] > 0
