"""Ablations that ship, and a table of what was measured of some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from sqlwright.cli.terminal.console import UNLIMITED, Screen, write_result
from sqlwright.cli.terminal.layout import PROSE, wrapped
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.cli.views.evaluate import Counter

if TYPE_CHECKING:
    from sqlwright.lab.datasets.example import Dataset
    from sqlwright.lab.evaluation.run import EvaluationSettings
    from sqlwright.recipes.ablation_lists import Ablation

RULE_NAMES = {"spider": "Spider's", "bird": "BIRD's"}


def show_ablations(screen: Screen, *, as_json: bool) -> int:
    """List what ships; give the exit code."""
    from dataclasses import asdict

    from sqlwright.presentation.answer import to_json
    from sqlwright.recipes.ablation_lists import ablations

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
    from sqlwright.lab.evaluation.ablation import ablate
    from sqlwright.presentation.answer import to_json

    try:
        with Spinner(screen, "loading the models") as spinner:
            table = ablate(
                dataset,
                names,
                settings,
                folder,
                progress=lambda name: Counter(screen, spinner, dataset.rule, name),
                notice=lambda line: screen.note(clean(line, 400), style="warning"),
            )
    except KeyboardInterrupt:
        screen.note("interrupted; the same command with --resume goes on", style="warning")
        raise
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
        line = Text(f"{clean(row['name'], 60):<{widest}}  ")
        line.append(f"{share['value']:6.1%}", style="strong")
        line.append(f"  {share['low']:6.1%} to {share['high']:6.1%}")
        line.append(f"  {share['hits']:,} of {share['total']:,}", style="quiet")
        line.append(f"  some candidate {some['value']:.1%}", style="quiet")
        yield line
        if "difference" in row:
            yield _difference(row["difference"], row["against"], widest)


def _difference(pair: Mapping[str, Any], against: str, indent: int) -> Text:
    line = Text(" " * (indent + 1))
    line.append(f"{100 * pair['value']:+6.1f} points", style="strong")
    line.append(f"  {100 * pair['low']:+.1f} to {100 * pair['high']:+.1f}")
    split = f"{pair['gained']:,} gained, {pair['lost']:,} lost, p {pair['p']:.2g}"
    line.append(f"  against {clean(against, 60)}: {split}", style="quiet")
    return line
