from dataclasses import replace

import pytest

from sqlwright.cli.commands.ablate import listed_lines, table_lines
from sqlwright.cli.commands.evaluate import error_lines, summary_lines
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.records import Record
from sqlwright.recipes.ablation_lists import ablations
from tests.cli.hostile import acting
from tests.cli.rendering import look, rendered


def record(number: int, *, right: bool, **fields: object) -> Record:
    return Record(
        id=str(number),
        db_id="shop",
        question="?",
        gold_sql="SELECT 1",
        sql="SELECT 1",
        status="answered",
        verdicts={"spider": right, "bird": right},
        oracle=True,
        confidence=0.8 if right else 0.3,
        needed_columns=2,
        found_columns=1,
        kept_columns=4,
        seconds=0.2,
        times={"generation\x1b[31m": 0.1},
        difficulty="easy\x1b]0;x\x07",
        **fields,  # type: ignore[arg-type]
    )


def test_a_report_for_reading() -> None:
    summary = summarize([record(i, right=i % 4 != 0) for i in range(40)])
    text = rendered(summary_lines(summary, look(100)), 100)
    assert "40 questions" in text
    assert "execution accuracy   75.0%   59.8% to  85.8%  30 of 40" in text
    assert "columns: recall 50.0%, precision 25.0%" in text
    assert "median 0.2 s" in text
    assert acting(text) <= {"\n"}


def test_a_report_on_a_recipe_without_a_linker_leaves_it_out() -> None:
    unlinked = [replace(record(i, right=True), kept_columns=0) for i in range(4)]
    assert "linker" not in rendered(summary_lines(summarize(unlinked), look(100)), 100)


def test_a_report_says_what_language_models_took() -> None:
    used = {"calls": 2, "prompt_tokens": 100, "reply_tokens": 10, "cost": 0.01, "cached": 1}
    unknown = used | {"cost": None, "calls": 1}
    usage = {"generation.direct": used, "selection.evaluate_tests": unknown}
    summary = summarize([record(i, right=True, usage=usage) for i in range(10)])
    assert summary["usage"]["generation.direct"]["prompt_tokens"] == 1_000
    total = {"calls": 30, "prompt_tokens": 2_000, "reply_tokens": 200, "cost": None, "cached": 20}
    assert summary["usage"]["in all"].items() >= total.items()
    text = rendered(summary_lines(summary, look(100)), 100)
    assert "in all: 30 model calls and 20 cached replies, 2,000 tokens in, 200 out" in text
    assert "generation.direct: 20 model calls and 10 cached replies, 1,000 tokens in" in text
    assert summarize([record(1, right=True)])["usage"] == {}


def test_a_report_says_first_what_went_otherwise_than_planned() -> None:
    noted = ("examples", "the model made no examples\x1b[31m")
    made = [record(n, right=True, notes=[noted, ("tied", "equal")]) for n in range(3)]
    text = rendered(summary_lines(summarize(made), look(100)), 100)
    said = "notes on examples for the prompt at 3 questions, the first: the model made no examples"
    assert said in text.split("\n\n")[0]
    assert "equal" not in text


def test_a_report_says_how_many_answers_were_not_the_language_models() -> None:
    ours = [record(i, right=i > 0, answered_by="stand_in") for i in range(3)]
    theirs = [record(i, right=True, answered_by="language_model") for i in range(3, 10)]
    text = rendered(summary_lines(summarize(ours + theirs), look(100)), 100)
    assert "3 of them answered by embedded models" in text
    assert "2 right: --no-stand-in" in text
    assert "embedded" not in rendered(summary_lines(summarize(theirs), look(100)), 100)


def test_no_calibration_is_told_where_some_answers_have_no_probability() -> None:
    stood_in = replace(record(1, right=True, answered_by="stand_in"), confidence=0.9)
    unfitted = [replace(record(n, right=True), confidence=None) for n in (2, 3)]
    failed = replace(record(4, right=False), confidence=0.0, status="failed")
    for records in ([stood_in, *unfitted, failed], [failed]):
        summary = summarize(records)
        assert summary["expected_calibration_error"] is None
        assert "confident half" not in rendered(summary_lines(summary, look(100)), 100)


FIGURES = (
    "databases",
    "metrics",
    "selection",
    "coverage",
    "reliability",
    "difficulty",
    "a question",
)
"""Labels of figures that not every run has."""


def labels(text: str) -> list[str]:
    """The labels of figures that a summary has, in its order."""
    lines = text.split("\n")
    return [name for line in lines for name in FIGURES if line.startswith(f"{name} ")]


def test_a_summary_tells_every_figure_there_is() -> None:
    used = {"calls": 2, "prompt_tokens": 990, "reply_tokens": 10, "cost": 0.25, "cached": 0}
    made = [
        replace(
            record(n, right=n % 10 != 0, usage={"write": used}),
            db_id=f"shop {n % 4}",
            judged=[("plan\x1b[31m", n % 10 != 0), ("direct", n % 2 == 0)],
            candidates=2,
            first=n % 2 == 0,
            measures={"f1\x1b[31m": 0.5, "tier:rows\x1b[31m": float(n % 5 == 0)},
        )
        for n in range(40)
    ]
    text = rendered(summary_lines(summarize(made), look(100)), 100)
    assert labels(text) == list(FIGURES)
    said = " ".join(text.split())
    assert "execution accuracy 80.0% to 100.0% where whole databases are drawn anew, of 4" in said
    assert r"f1\x1b[31m 0.500 (0.500 to 0.500)" in said
    assert r"right or as good but for rows\x1b[31m 20.0%" in said
    assert (
        "right in 20 of 24, 83.3% (64.1% to 93.3%) with right and wrong candidates; 80.0%" in said
    )
    assert "every candidate right in 16 of 40, 40.0% (26.3% to 55.4%)" in said
    assert "right above wrong (AUROC) 1.000" in said
    assert "90% right in the surest 100.0% of questions: confidence from 0.300, at least" in said
    assert "95% right in the surest 90.0% of questions: confidence from 0.800" in said
    assert (
        "penalty of a wrong answer: 0.80 (0.60 to 0.95) at 1; -0.10 (-1.20 to 0.72) at 10;" in said
    )
    assert "2.0 calls, 1,000 tokens, $0.25 ($0.25 to $0.25); $0.28 a right answer" in said
    assert acting(text) <= {"\n"}


def test_a_summary_is_silent_where_there_is_nothing() -> None:
    assert labels(rendered(summary_lines(summarize([]), look(100)), 100)) == []
    unsure = [replace(record(n, right=False), confidence=None, difficulty="") for n in range(3)]
    assert labels(rendered(summary_lines(summarize(unsure), look(100)), 100)) == ["reliability"]
    wrong = [record(n, right=False) for n in range(3)]
    text = rendered(summary_lines(summarize(wrong), look(100)), 100)
    assert "90% right at no confidence" in text
    assert "AUROC" not in text
    unpriced = {"calls": 1, "prompt_tokens": 9, "reply_tokens": 1, "cost": None, "cached": 0}
    text = rendered(
        summary_lines(summarize([record(1, right=True, usage={"w": unpriced})]), look())
    )
    assert "1.0 calls, 10 tokens\n" in text


def test_a_summary_shows_the_most_frequent_errors() -> None:
    classes = ["table", "column", "join", "literal", "condition", "limit", "order", "shape", "gold"]
    origins = [("never_generated", f"step {n}") for n in range(9)]
    made = [
        replace(
            record(10 * n + k, right=False),
            errors=[{"class": name, "shown_by": ""}],
            origin={"kind": kind, "step": step},
        )
        for n, (name, (kind, step)) in enumerate(zip(classes, origins, strict=True))
        for k in range(n + 1)
    ]
    errors = summarize(made)["errors"]
    text = rendered(error_lines(errors, look(100), most=8), 100)
    assert "gold 9 of 45" in text
    assert "table 1 of 45" not in text
    assert "order 7 of 45" in text
    assert "at step 8" in text
    assert "at step 0 " not in text
    assert text.count("1 more in the report") == 2
    whole = rendered(error_lines(errors, look(100)), 100)
    assert "table 1 of 45" in whole
    assert "at step 0 " in whole
    assert "more" not in whole


def test_a_table_of_ablations() -> None:
    share = {"value": 0.75, "low": 0.6, "high": 0.86, "hits": 30, "total": 40}
    row = {"name": "without\x1b[31m", "execution_accuracy": share, "oracle_over_candidates": share}
    pair = {"value": -0.05, "low": -0.12, "high": 0.021, "gained": 1, "lost": 3, "p": 0.625}
    compared = row | {"name": "less", "against": "whole", "difference": pair}
    table = {"dataset": "dev\x1b]0;x\x07", "rule": "bird", "rows": [row, compared]}
    text = rendered(table_lines(table), 100)
    assert "by BIRD's rule" in text
    assert " 75.0%   60.0% to  86.0%  30 of 40  some candidate 75.0%" in text
    assert "−5.0 points  −12.0 to +2.1  against whole: 1 gained, 3 lost, p 0.62" in text
    assert acting(text) <= {"\n"}


@pytest.mark.parametrize("width", [40, 80, 120])
def test_ablations_are_listed_by_paper_and_fit_the_terminal(width: int) -> None:
    lines = rendered(listed_lines(ablations(), look(width)), width).split("\n")
    assert all(len(line) <= width for line in lines)
    headings = [line for line in lines if line and not line.startswith(" ")]
    assert headings == ["chess", "chase", "mag", "msc", "local"]
    words = " ".join(" ".join(lines).split())
    assert words.count("(table 7, 69.23; against chase)") == 1
    assert "instead of eight (against local)" in words
    for name, one in ablations().items():
        assert f" {name} " in f"{words} "
        assert one.about in words
