"""`sqlwright evaluate`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sqlwright.boundary.text import counted, duration, money, to_json
from sqlwright.cli.commands.golden import Checks
from sqlwright.cli.failure import RUN_BUDGET_SPENT, UsageError
from sqlwright.cli.opening import note_destinations, settled
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.interrupt import noted_interrupt
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import measuring, options
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.cli.views.measured import (
    estimate_lines,
    in_brackets,
    left_unasked,
    part_entries,
    seed_lines,
    selection_entries,
    share_line,
    view_entries,
)
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.evaluation.error_classes.origins import MEANINGS, ORIGINS
from sqlwright.lab.evaluation.figures.notes import otherwise
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.metrics.metric import find_metric
from sqlwright.lab.evaluation.pages.sections.costs import BY_TEXT
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.rules.rule import all_rules, find_rule
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from sqlwright.lab.evaluation.several import estimate, evaluate_seeds
from sqlwright.presentation.numbers import usage_words
from sqlwright.recipes.ablation_lists import find_ablation
from sqlwright.settings.values import Settings
from sqlwright.spending import parse_budget
from sqlwright.types import Usage

EXAMPLES = """\
sqlwright evaluate --data spider:data/spider --split dev --out runs/local
sqlwright evaluate --data bird:data/bird --prepare --jobs 8 -m openai/gpt-4.1 --limit 100
sqlwright evaluate --data bird:data/bird --jobs 8 -m openai/gpt-4.1 --estimate
sqlwright evaluate --data spider:data/spider --workers 4 --shard 2/3 --out runs/part2
sqlwright evaluate my-questions.yaml --database shop.sqlite
sqlwright evaluate my-questions.yaml --fail-under 0.9 --baseline last.json --junit junit.xml
"""
RESUME = " with --resume"


def command(
    golden: Annotated[
        Path | None,
        typer.Argument(
            metavar="[GOLDEN_SET]",
            help="Your own questions with what answers them: YAML, JSON, JSONL or CSV.",
        ),
    ] = None,
    *,
    questions: measuring.QuestionOptions,
    recipe: options.RecipeOptions,
    ablation: Annotated[
        str | None,
        typer.Option(
            "--ablation",
            metavar="NAME",
            help="A recipe with a list of changes; 'sqlwright lab ablate --list' lists them.",
        ),
    ] = None,
    model: options.ModelOptions,
    access: options.AccessOptions,
    running: measuring.RunningOptions,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard",
            metavar="I/N",
            help="Ask one of N parts, counted from 1; 'sqlwright lab merge-runs' puts them "
            "together.",
        ),
    ] = None,
    traces: Annotated[
        bool, typer.Option("--traces", help="Keep the trace of each question in the run folder.")
    ] = False,
    databases: Annotated[
        str,
        typer.Option(
            "--databases",
            metavar="URL",
            help="Where the databases are, if not with the questions: a folder, or "
            "s3://bucket/name.",
        ),
    ] = "",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="A metric besides the usual ones: ves, r_ves, or one of a package. Repeatable.",
        ),
    ] = None,
    estimating: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Ask a sample of eight questions and tell what all of them would take.",
        ),
    ] = False,
    run_budget: Annotated[
        str | None,
        typer.Option(
            "--run-budget",
            metavar="AMOUNT",
            help="The most that all questions together may cost; then the run ends (exit code 19). "
            "Goes on with --resume and more.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            metavar="N",
            parser=options.count,
            help="Measure with so many seeds, in a folder each, and tell the mean over them.",
        ),
    ] = 1,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Run folder, or a URL; a temporary one if none."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that the folder holds.")
    ] = False,
    gate: measuring.GateOptions,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure a recipe on a benchmark or on questions of your own: accuracy, calibration, time.

    Interrupt it whenever you like: with --out and --resume it goes on where it was. --fail-under,
    --baseline and --junit make it a check in CI.
    """
    folder = measuring.folder(out, resume=resume)
    dataset = questions.dataset(golden)

    for name in metrics or ():
        find_metric(name)  # before anything is prepared or asked
    screen = Screen.open()
    chosen = _chosen(recipe, ablation, model, access, allow_code=allow_code)
    measuring.note_left_out(screen, dataset)
    settings = running.settings(
        chosen,
        questions,
        recipe=chosen.recipe,
        overrides=chosen.overrides,
        allow_code=allow_code,
        metrics=tuple(metrics or ()),
        ablation=ablation or "",
        shard=measuring.one_shard(shard),
        traces=traces,
        databases=databases,
    )
    if run_budget is not None:
        budgeted = replace(settings.llm, run_budget=parse_budget(run_budget))
        settings = replace(settings, llm=budgeted)
    checks = Checks.of(gate, dataset, questions.limit, folder, part=shard is not None)
    if not estimating and seeds == 1:
        return measure(screen, dataset, settings, folder=folder, checks=checks, as_json=as_json)
    if checks is not None or (estimating and (folder or seeds > 1)):
        raise UsageError(
            "--estimate and --seeds go with no checks, and an estimate with no run folder",
            hint="Leave out one or the other.",
        )
    if not estimating and not isinstance(folder, Path):
        raise UsageError("the runs need a folder", hint="Name it with --out.")
    return _several(screen, dataset, settings, folder, seeds, as_json=as_json)


def _several(
    screen: Screen,
    dataset: Dataset,
    settings: EvaluationSettings,
    folder: Path | str | None,
    seeds: int,
    *,
    as_json: bool,
) -> int:
    """An estimate where there is no folder, else a run for each seed; the exit code."""
    with (
        noted_interrupt(screen, RESUME, kept=folder is not None),
        Spinner(screen, "loading the models") as spinner,
    ):
        if isinstance(folder, Path):
            summary = evaluate_seeds(
                dataset,
                settings,
                folder,
                seeds,
                progress=lambda name: Counter(screen, spinner, dataset.rule, name),
                notice=screen.warn,
            )
            lines, ended = seed_lines(summary), [left_unasked(one) for one in summary["runs"]]
        else:
            summary = estimate(
                dataset,
                settings,
                progress=Counter(screen, spinner, dataset.rule, "sample"),
                notice=screen.warn,
            )
            lines, ended = estimate_lines(summary), []
    if as_json:
        write_result(to_json(summary, indent=2) + "\n")
    else:
        screen.show(lines)
    return RUN_BUDGET_SPENT if any(ended) else 0


def _chosen(
    recipe: options.RecipeOptions,
    ablation: str | None,
    model: options.ModelOptions,
    access: options.AccessOptions,
    *,
    allow_code: bool,
) -> Settings:
    """The settings of the run, with a note where prompts go elsewhere; changes of an ablation come
    before others. Raises UsageError where both a recipe and an ablation are named, and
    ConfigError."""

    if ablation is not None and recipe.recipe is not None:
        raise UsageError(
            "--ablation names a recipe and its changes", hint="Leave out --recipe, or --ablation."
        )
    if ablation is not None:
        named = find_ablation(ablation)
        changes = [*named.overrides, *(recipe.overrides or ())]
        recipe = options.RecipeOptions(named.recipe, changes)
    chosen = settled(recipe, model, access)
    note_destinations(Screen.open(), chosen, allow_code=allow_code)
    return chosen


def measure(
    screen: Screen,
    dataset: Dataset,
    settings: EvaluationSettings,
    *,
    folder: Path | str | None,
    checks: Checks | None,
    as_json: bool,
) -> int:
    """Run, show, give the exit code. Without `folder` nothing is kept."""

    with (
        noted_interrupt(screen, RESUME, kept=folder is not None),
        tempfile.TemporaryDirectory(prefix="sqlwright-") as temporary,
        Spinner(screen, "loading the models") as spinner,
    ):
        summary = evaluate(
            dataset,
            settings,
            folder if folder is not None else Path(temporary),
            progress=Counter(screen, spinner, dataset.rule),
            notice=screen.warn,
        )
        kept = folder if isinstance(folder, Path) else Path(temporary)
        left = left_unasked(summary)
        outcome = None if checks is None or left else checks.outcome(kept)
    code = RUN_BUDGET_SPENT if left else 0 if outcome is None else outcome.code
    if as_json:
        told = {} if outcome is None else outcome.data()
        write_result(to_json({**summary, **told}, indent=2) + "\n")
        return code
    display = DisplayOptions.of(screen)
    screen.show(summary_lines(summary, display))
    if outcome is not None:
        screen.show(outcome.lines(display))
    if folder is not None:
        screen.note(f"kept in {clean(str(folder), 400)}")
    return code


class Counter:
    """Questions done, accuracy and cost of those asked so far, time left; on a terminal as it
    happens, else every 50."""

    def __init__(self, screen: Screen, spinner: Spinner, rule: str, name: str = "") -> None:
        self._screen = screen
        self._spinner = spinner
        self._rule = rule
        self._lead = f"{name}: " if name else ""
        self._started = time.monotonic()
        self._before = self._scored = self._right = 0
        self._cost: float | None = None

    def __call__(self, done: int, total: int, record: Record | None) -> None:
        if record is None:
            self._before = done
            return
        self._scored += record.status != "gold"
        self._right += record.right(self._rule)
        for used in record.usage.values():
            self._cost = (self._cost or 0.0) + (used.get("cost") or 0.0)
        fresh = done - self._before
        left = (time.monotonic() - self._started) / fresh * (total - done)
        words = f"{self._lead}{done:,} of {total:,} questions, {self._so_far(left)}"
        self._spinner.tell(words)
        if not self._screen.err.is_terminal and (fresh % 50 == 0 or done == total):
            self._screen.note(words)

    def _so_far(self, left: float) -> str:
        share = Share(self._right, self._scored)
        low, high = share.interval
        told = f"{share.value:.1%} right so far ({low:.0%} to {high:.0%}), "
        if self._cost is not None:
            told += f"{money(self._cost)} spent, "
        return f"{told}{duration(left)} left"


SPLIT = {
    "right": "right",
    "not_chosen": "wrong, another candidate right",
    "none_right": "wrong, no candidate right",
    "gold_doubtful": "gold doubtful",
}
MOST_ENTRIES = 8
"""Classes of errors, and origins, that the summary of a run shows; a screen has no more room."""


def error_lines(
    errors: Mapping[str, Any], display: DisplayOptions, *, most: int | None = None
) -> Iterator[Text]:
    """The wrong answers by class and by where they came from, the `most` frequent of each; nothing
    where none is wrong."""
    if not errors["wrong"]:
        return
    split = [Text(f"{SPLIT[name]} {in_brackets(share)}") for name, share in errors["split"].items()]
    yield from labelled("answers", split, display.width)
    ordered = sorted(errors["classes"].items(), key=lambda item: -item[1]["main"]["hits"])
    classes = [
        Text.assemble(
            f"{name} {in_brackets(shares['main'])}",
            (f"{_beside(shares)}: {MEANINGS[name]}", "quiet"),
        )
        for name, shares in ordered[:most]
    ]
    classes += _more(len(ordered), most)
    yield from labelled("errors", classes, display.width)
    known = [one for one in errors["origins"] if one["kind"] in ORIGINS]
    frequent = sorted(one["hits"] for one in known)[-most:] if most else []
    kept = [one for one in known if one["hits"] >= min(frequent, default=0)][:most]
    origins = [
        Text.assemble(
            f"{one['kind'].replace('_', ' ')}",
            f" at {clean(one['step'], 60)}" if one["step"] else "",
            f" {in_brackets(one)}",
            (f": {ORIGINS[one['kind']]}", "quiet"),
        )
        for one in kept
    ]
    origins += _more(len(known), most)
    yield from labelled("first lost", origins, display.width)


def _more(count: int, most: int | None) -> list[Text]:
    """A line that says how many aren't shown, if any."""
    if most is None or count <= most:
        return []
    return [Text(f"{count - most:,} more in the report", style="quiet")]


def _beside(shares: Mapping[str, Any]) -> str:
    """The number of answers in which a class holds beside the main one."""
    more = shares["any"]["hits"] - shares["main"]["hits"]
    return f", beside others in {more:,} more" if more else ""


SHARES = (
    ("execution_accuracy_gold_not_empty", "gold not empty", "the same where the gold has rows"),
    ("oracle_over_candidates", "oracle", "some candidate was right"),
    ("first_candidate", "first candidate", "before selection"),
    ("most_confident_half", "confident half", "the surest half of the answers"),
)


def summary_lines(summary: Mapping[str, Any], display: DisplayOptions) -> Iterator[Text]:
    """A report in about a screen."""
    yield Text.assemble(
        (counted(summary["questions"], "question"), "strong"),
        (f"  {_statuses(summary['status'])}", "quiet"),
    )
    if summary["gold_does_not_run"]:
        yield Text(f"{summary['gold_does_not_run']} left out: their gold query doesn't run")
    if left := left_unasked(summary):
        limit = summary["run_budget"]["limit"]
        told = f"the budget of the run ({limit}) is spent, {counted(left, 'question')} not asked"
        yield Text(f"{told}: --resume with a larger one goes on", style="warning")
    if stood_in := summary["stood_in"]["total"]:
        yield Text(
            f"{stood_in:,} of them answered by embedded models in place of the language model, "
            f"{summary['stood_in']['hits']:,} right: --no-stand-in has them fail",
            style="warning",
        )
    yield from (Text(clean(line, 300), style="warning") for line in otherwise(summary))
    for db_id, left_out in summary["skipped"].items():
        yield Text(
            f"{clean(db_id, 60)} and its {counted(left_out['questions'], 'question')} left out: "
            f"{clean(left_out['reason'], 200)}"
        )
    yield Text()
    yield from _share_lines(summary, display)
    yield Text()
    yield from labelled("databases", _clustered_entries(summary), display.width)
    yield from labelled("metrics", _metric_entries(summary), display.width)
    yield from labelled("tiers", _tier_entries(summary), display.width)
    yield from labelled("selection", selection_entries(summary), display.width)
    linker = summary["linker"]
    if linker["all_columns_found"]["total"]:  # recipes without a linker have nothing to measure
        recalls = (
            f"columns: recall {linker['column_recall']:.1%}, precision "
            f"{linker['column_precision']:.1%}; tables: recall {linker['table_recall']:.1%}"
        )
        yield from labelled("linker", [Text(recalls)], display.width)
    yield from labelled("views", view_entries(summary), display.width)
    yield from labelled("parts", part_entries(summary), display.width)
    error = summary["expected_calibration_error"]
    told = "no probabilities: nothing was fitted to give them"
    if error is not None:
        told = f"expected error {error:.3f}{_area(summary['calibration']['auroc'])}"
    yield from labelled("calibration", [Text(told)], display.width)
    yield from labelled("coverage", _coverage_entries(summary), display.width)
    yield from labelled("reliability", _reliability_entries(summary), display.width)
    if summary["by_difficulty"]:
        entries = [
            Text(
                f"{clean(level, 40)} {share['value']:.1%} of {share['total']}, "
                f"{share['low']:.1%} to {share['high']:.1%}"
            )
            for level, share in summary["by_difficulty"].items()
        ]
        yield from labelled("difficulty", entries, display.width)
    yield from error_lines(summary["errors"], display, most=MOST_ENTRIES)
    yield from labelled("time", _time_entries(summary), display.width)
    yield from labelled("models", _usage_entries(summary), display.width)
    yield from labelled("a question", _cost_entries(summary), display.width)


def _share_lines(summary: Mapping[str, Any], display: DisplayOptions) -> Iterator[Text]:
    """The shares that are shown, by the set's own rule first."""
    own = find_rule(summary["rule"])
    yield _share_line("execution accuracy", summary["execution_accuracy"], own.about, display)
    for rule in all_rules():
        if rule.name != own.name:
            share = summary["by_rule"][rule.name]
            yield _share_line(rule.name, share, rule.about, display)
    for key, name, meaning in SHARES:
        if key != "most_confident_half" or summary["expected_calibration_error"] is not None:
            yield _share_line(name, summary[key], meaning, display)


def _clustered_entries(summary: Mapping[str, Any]) -> Iterator[Text]:
    """The interval over whole databases: another one's questions are asked elsewhere."""
    if clustered := summary["clustered"]:
        yield Text(
            f"execution accuracy {clustered['low']:.1%} to {clustered['high']:.1%} where whole "
            f"databases are drawn anew, of {clustered['databases']:,}"
        )


def _metric_entries(summary: Mapping[str, Any]) -> Iterator[Text]:
    """The metrics' means, one after another in a line."""
    means = [
        f"{clean(name, 40)} {mean['value']:.3f} ({mean['low']:.3f} to {mean['high']:.3f})"
        for name, mean in summary["measures"].items()
    ]
    if means:
        yield Text(", ".join(means))


def _tier_entries(summary: Mapping[str, Any]) -> Iterator[Text]:
    """The shares that reach each tier, one after another in a line."""
    tiers = [f"{clean(name, 40)} {tier['value']:.1%}" for name, tier in summary["tiers"].items()]
    if tiers:
        yield Text("right or as good but for " + ", ".join(tiers))


def _area(area: float | None) -> str:
    return "" if area is None else f", right above wrong (AUROC) {area:.3f}"


def _coverage_entries(summary: Mapping[str, Any]) -> Iterator[Text]:
    """The questions that can be answered with few wrong ones among them."""
    for precision, at in summary["coverage_at"].items():
        if at is not None:
            yield Text(
                f"{float(precision):.0%} right in the surest {at['coverage']:.1%} of questions: "
                f"confidence from {at['confidence']:.3f}, at least {at['low']:.1%} right"
            )
        elif summary["risk_coverage"]:
            yield Text(f"{float(precision):.0%} right at no confidence")


def _reliability_entries(summary: Mapping[str, Any]) -> Iterator[Text]:
    """The score by penalty, but for none, which is the share of right answers."""
    scores = [
        f"{_score(of['value'])} ({_score(of['low'])} to {_score(of['high'])}) at {name}"
        for name, of in summary["reliability"].items()
        if name != "0"
    ]
    if scores:
        yield Text(f"by the penalty of a wrong answer: {'; '.join(scores)}")


def _score(score: float) -> str:
    return f"{score:,.{2 if abs(score) < 10 else 0}f}"


def _cost_entries(summary: Mapping[str, Any]) -> Iterator[Text]:
    """Calls, tokens and cost of a question at the mean with nothing in the cache; nothing without a
    language model."""
    fresh = summary["fresh"]
    calls, tokens = fresh["calls"]["per_question"], fresh["tokens"]["per_question"]
    if calls is None or tokens is None:
        return
    told = f"{calls['value']:,.1f} calls, {tokens['value']:,.0f} tokens"
    if mean := fresh["cost"]["per_question"]:
        told += f", {money(mean['value'])} ({money(mean['low'])} to {money(mean['high'])})"
    if right := fresh["cost"]["per_right_answer"]:
        told += f"; {money(right)} a right answer"
    yield Text(told)
    if summary["calls"]["cached"]:
        yield Text("with nothing in the cache; below is what was sent", style="quiet")
    if fresh["by_text"]:
        yield Text(BY_TEXT.format(fresh["by_text"]), style="warning")


def _usage_entries(summary: Mapping[str, Any]) -> list[Text]:
    return [
        Text(f"{clean(step, 40)}: {usage_words(Usage(**used))}", "quiet" if index else "")
        for index, (step, used) in enumerate(summary["usage"].items())
    ]


def _time_entries(summary: Mapping[str, Any]) -> list[Text]:
    steps = summary["seconds_per_step"].items()
    return [
        _quantile_text("a question", summary["seconds"]),
        *(_quantile_text(clean(step, 40), times, style="quiet") for step, times in steps),
    ]


def _quantile_text(name: str, times: Mapping[str, float], style: str = "") -> Text:
    told = f"{name}: median {duration(times['median'])}, 95% within {duration(times['p95'])}"
    return Text(told, style)


def _share_line(name: str, share: Mapping[str, Any], meaning: str, display: DisplayOptions) -> Text:
    line = share_line(f"{name:<20}", share)
    if display.width >= 80:
        line.append(f"  {meaning}", style="quiet")
    return line


def _statuses(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {clean(name, 20)}" for name, count in sorted(counts.items()))
