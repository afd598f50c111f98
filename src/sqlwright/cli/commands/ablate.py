"""`sqlwright lab ablate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sqlwright.boundary.text import to_json
from sqlwright.cli.commands.evaluate import RESUME, Counter
from sqlwright.cli.failure import UsageError
from sqlwright.cli.opening import note_destinations, settled
from sqlwright.cli.terminal.console import UNLIMITED, Screen, write_result
from sqlwright.cli.terminal.interrupt import noted_interrupt
from sqlwright.cli.terminal.layout import PROSE, wrapped
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import measuring, options
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.cli.views.measured import difference_line, share_line
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.evaluation.ablation import ablate
from sqlwright.lab.evaluation.run import EvaluationSettings
from sqlwright.recipes.ablation_lists import Ablation, ablations, with_compared

EXAMPLES = """\
sqlwright lab ablate --list
sqlwright lab ablate without-revise --data bird:data/bird -m openai/gpt-4.1 -o runs/table4
sqlwright lab ablate --all --data bird:data/bird --prepare --jobs 8 -m vllm/qwen3 --out runs/chess
"""


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Ablations, or recipes as they are."),
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All ablations that ship.")] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="Say what there is, and ask nothing.")
    ] = False,
    questions: measuring.QuestionOptions,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of all. Repeatable."),
    ] = None,
    model: options.ModelOptions,
    access: options.AccessOptions,
    running: measuring.RunningOptions,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="A folder in it for each of them."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the runs that the folder holds.")
    ] = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure ablations of a recipe on a benchmark, and compare them question by question.

    What each is compared with is measured, too. Every --set changes all of them.
    """

    screen = Screen.open()
    if listing:
        return show_ablations(screen, as_json=as_json)
    chosen_names = [*ablations()] if every else [*(names or ())]
    with_compared(chosen_names)
    if out is None:
        raise UsageError("the runs need a folder", hint="Name it with --out.")
    dataset = questions.dataset()

    chosen = settled(model, access, overrides=settings)
    note_destinations(screen, chosen)
    measuring.note_left_out(screen, dataset)
    return compare(
        screen,
        dataset,
        chosen_names,
        running.settings(chosen, questions, overrides=settings or ()),
        folder=measuring.check_folder(out, resume=resume),
        as_json=as_json,
    )


RULE_NAMES = {"spider": "Spider's", "bird": "BIRD's"}


def show_ablations(screen: Screen, *, as_json: bool) -> int:
    """List what ships; give the exit code."""

    if as_json:
        listed = [asdict(one) for one in ablations().values()]
        write_result(to_json(listed, indent=2) + "\n")
        return 0
    screen.show(listed_lines(ablations(), DisplayOptions.of(screen)))
    return 0


def listed_lines(listed: Mapping[str, Ablation], display: DisplayOptions) -> Iterator[Text]:
    """The ablations by the paper or recipe that they are of: a name, and below it what differs."""
    paper, width = "", display.width
    if width < UNLIMITED // 2:
        width = min(width, PROSE)
    for one in listed.values():
        if one.listed != paper:
            if paper:
                yield Text()
            paper = one.listed
            yield Text(paper, style="strong")
        yield Text(f"  {one.name}", style="name")
        line = Text(f"    {one.about}")
        compared = f"against {one.against}" if one.against else f"{one.recipe}, by itself"
        line.append(f" ({'; '.join(filter(None, (one.paper, compared)))})", style="quiet")
        yield from wrapped(line, width)


def compare(
    screen: Screen,
    dataset: Dataset,
    names: Sequence[str],
    settings: EvaluationSettings,
    *,
    folder: Path,
    as_json: bool,
) -> int:
    """Run them, show the table, give the exit code."""

    with noted_interrupt(screen, RESUME), Spinner(screen, "loading the models") as spinner:
        table = ablate(
            dataset,
            names,
            settings,
            folder,
            progress=lambda name: Counter(screen, spinner, dataset.rule, name),
            notice=screen.warn,
        )
    if as_json:
        write_result(to_json(table, indent=2) + "\n")
        return 0
    screen.show(table_lines(table))
    screen.note(f"kept in {clean(str(folder), 400)}")
    return 0


def table_lines(table: Mapping[str, Any]) -> Iterator[Text]:
    """A line for each ablation and, below those that are compared, one for the difference."""
    rule = RULE_NAMES[table["rule"]]
    yield Text(f"{clean(table['dataset'], 80)}, by {rule} rule", style="strong")
    widest = max(len(row["name"]) for row in table["rows"])
    for row in table["rows"]:
        share, some = row["execution_accuracy"], row["oracle_over_candidates"]
        line = share_line(f"{clean(row['name'], 60):<{widest}}  ", share)
        line.append(f"  some candidate {some['value']:.1%}", style="quiet")
        yield line
        if "difference" in row:
            yield difference_line(row["difference"], row["against"], widest + 2)
