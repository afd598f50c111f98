"""`sqlwright report`: what came of runs, and `report diff`, what changed from one to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sqlwright.boundary.text import to_json
from sqlwright.cli.commands.evaluate import summary_lines
from sqlwright.cli.failure import UNHEALTHY
from sqlwright.cli.help import CalmCommand, CalmGroup, as_command, command_group
from sqlwright.cli.page import check_place, keep_page
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import options
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.cli.views.measured import difference_line, share_line
from sqlwright.lab.evaluation.pages.difference_page import difference_page
from sqlwright.lab.evaluation.pages.differences import (
    KINDS,
    Change,
    RunDifference,
    difference,
    difference_data,
    verdict_words,
)
from sqlwright.lab.evaluation.pages.run_page import run_page
from sqlwright.lab.evaluation.pages.runs import MeasuredRun, read_runs, set_words
from sqlwright.lab.evaluation.pages.several_page import repeats, several_data, several_page
from sqlwright.presentation.answer import plain

EXAMPLES = """\
sqlwright report runs/local
sqlwright report runs/local --html
sqlwright report runs/local runs/chess runs/chase --html compared.html
sqlwright report diff runs/before runs/after --html
"""
SHOW_EXAMPLES = """\
sqlwright report show runs/local --html
sqlwright report show runs/local --json
"""
DIFF_EXAMPLES = """\
sqlwright report diff runs/before runs/after
sqlwright report diff runs/before runs/after --html changes.html --fail-on-worse
"""
USUAL = ""
"""The value of `--html` where it names no file."""
PAGE = "--html"

Html = Annotated[
    str | None,
    typer.Option(
        PAGE,
        metavar="[FILE]",
        help="Write a page, too: into the (last) run's folder unless a file is named.",
    ),
]


class PageCommand(CalmCommand):
    """A command whose `--html` may name a file or not."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`--html` without a file gets the usual one; a folder after it is a run."""
        return super().parse_args(ctx, with_usual_page(args))


class ReportGroup(CalmGroup):
    """The group; whatever is no command of its own is a run to show."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`report FOLDER` means `report show FOLDER`."""
        known = {*self.commands, *ctx.help_option_names}
        named = args if args and args[0] in known else ["show", *args]
        parsed: list[str] = super().parse_args(ctx, named)
        return parsed


def with_usual_page(args: Sequence[str]) -> list[str]:
    """The arguments with a value after each `--html` that has none."""
    given: list[str] = []
    for place, word in enumerate(args):
        given.append(word)
        after = args[place + 1] if place + 1 < len(args) else ""
        if word == PAGE and (not after or after.startswith("-") or Path(after).is_dir()):
            given.append(USUAL)
    return given


PURPOSE = """\
Show what came of measured runs, in the terminal or as a page; `diff` shows what changed.

A folder alone is shown: `sqlwright report FOLDER`.
"""


def show(
    *,
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders of runs, finished or not.")
    ],
    html: Html = None,
    as_json: options.AsJson = False,
) -> int:
    """Show a run's figures; of several, each and its difference to the first.

    A page has the figures as charts, and each wrong answer with its evidence.
    """

    return show_runs(Screen.open(), folders, html=_file(html, folders), as_json=as_json)


def diff(
    *,
    first: Annotated[Path, typer.Argument(metavar="BEFORE", help="The folder of a run.")],
    second: Annotated[Path, typer.Argument(metavar="AFTER", help="The one set against it.")],
    html: Html = None,
    as_json: options.AsJson = False,
    fail_on_worse: Annotated[
        bool,
        typer.Option("--fail-on-worse", help="End with 12 where it is worse by more than chance."),
    ] = False,
) -> int:
    """Show which answers changed from one run to another, why, and if that is more than chance.

    Questions that both runs have are compared, by the first one's rule.
    """

    return show_difference(
        Screen.open(),
        first,
        second,
        html=_file(html, [second], name="diff.html"),
        as_json=as_json,
        fail_on_worse=fail_on_worse,
    )


def _file(html: str | None, folders: Sequence[Path], *, name: str = "report.html") -> Path | None:
    """The file for the page; None without one."""
    if html is None:
        return None
    usual = name if len(folders) == 1 else "compared.html"
    return folders[-1] / usual if html == USUAL else Path(html)


SHOWN = 10
"""Changed answers of a kind that the terminal shows; the page and --json have all."""
QUERY = 300
"""Characters shown of a query there."""


def show_runs(screen: Screen, folders: Sequence[Path], *, html: Path | None, as_json: bool) -> int:
    """Show a run, or several side by side; give the exit code."""
    check_place(html, replacing=True)
    runs = read_runs(folders)
    alone = runs[0] if len(runs) == 1 else None
    if html is not None:
        keep_page(screen, html, run_page(alone) if alone else several_page(runs))
    if as_json:
        format_ = {"format": "sqlwright-report", "version": 1}
        data = format_ | alone.as_dict() if alone else several_data(runs)
        write_result(to_json(plain(data), indent=2) + "\n")
        return 0
    display = DisplayOptions.of(screen)
    if alone is None:
        screen.show(several_lines(runs))
        return 0
    if not alone.finished:
        screen.note(f"unfinished: {alone.progress}", style="warning")
    screen.show([Text(clean(alone.title, 200), style="strong")])
    screen.show(summary_lines(alone.summary, display))
    return 0


def show_difference(
    screen: Screen,
    first: Path,
    second: Path,
    *,
    html: Path | None,
    as_json: bool,
    fail_on_worse: bool,
) -> int:
    """Show what changed from one run to another; give the exit code."""
    check_place(html, replacing=True)
    found = difference(*read_runs([first, second]))
    if html is not None:
        keep_page(screen, html, difference_page(found))
    if as_json:
        write_result(to_json(plain(difference_data(found)), indent=2) + "\n")
    else:
        screen.show(difference_lines(found, DisplayOptions.of(screen)))
    return UNHEALTHY if fail_on_worse and found.worse else 0


def several_lines(runs: Sequence[MeasuredRun]) -> Iterator[Text]:
    """A line for each run, and for all but the first one for the difference to it."""
    widest = max(len(run.name) for run in runs)
    for run in runs:
        name, share = f"{clean(run.name, 60):<{widest}}  ", run.summary["execution_accuracy"]
        if not share["total"]:
            yield Text(f"{name}no question scored")
            continue
        line = share_line(name, share)
        line.append("" if run.finished else "  unfinished", style="warning")
        yield line
        if run is not runs[0]:
            pair = difference(runs[0], run).pair
            yield difference_line(pair.as_dict(), runs[0].name, widest + 1)
    for alike in repeats(runs):
        yield Text(alike.told)


def difference_lines(found: RunDifference, display: DisplayOptions) -> Iterator[Text]:
    """The verdict, what was set otherwise, and the changed answers."""
    yield Text(clean(verdict_words(found), 1_000), style="strong")
    yield Text(
        f"{found.pair.total:,} questions compared, {found.pair.both:,} right both times "
        f"({found.rewritten:,} with another query), {found.pair.neither:,} wrong both times",
        style="quiet",
    )
    for warning in found.warnings:
        yield Text(clean(warning, 400), style="warning")
    settings = [
        Text(f"{clean(one.name, 60)}: {_setting(one.first)} → {_setting(one.second)}")
        for one in found.settings
    ]
    yield Text()
    yield from labelled("set", settings or [Text("the same")], display.width)
    for kind in KINDS:
        changes = found.of(kind)
        if not changes:
            continue
        yield Text()
        yield Text(f"{len(changes):,} {KINDS[kind]}", style="strong")
        for change in changes[:SHOWN]:
            yield from _change_lines(change, display)
        if len(changes) > SHOWN:
            more = f"… and {len(changes) - SHOWN:,} more; --html and --json have all of them"
            yield Text(more, style="quiet")


def _change_lines(change: Change, display: DisplayOptions) -> Iterator[Text]:
    after = change.after
    yield Text.assemble(
        clean(after.question, 300),
        (f"  {clean(after.db_id, 60)}, {clean(change.reason, 120)}", "quiet"),
    )
    for label, sql in (
        ("  gold", after.gold_sql),
        ("  before", change.before.sql),
        ("  after", after.sql),
    ):
        shown = clean(sql, QUERY) if sql else "no query"
        yield from labelled(label, [Text(shown, style="quiet")], display.width)


def _setting(text: str) -> str:
    return clean(set_words(text), 200)


group = command_group(PURPOSE, EXAMPLES, cls=ReportGroup)
group.add_command(as_command("show", show, SHOW_EXAMPLES, cls=PageCommand))
group.add_command(as_command("diff", diff, DIFF_EXAMPLES, cls=PageCommand))
