"""`sqlwright report`: what came of runs, and `report diff`, what changed from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from sqlwright.cli.help import CONTEXT, CalmCommand, CalmGroup, as_command
from sqlwright.cli.typed import options

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


_app = typer.Typer(
    cls=ReportGroup,
    rich_markup_mode=None,
    epilog=EXAMPLES,
    add_completion=False,
    context_settings=dict(CONTEXT),
)


@_app.callback()
def report() -> None:
    """Show what came of measured runs, in the terminal or as a page; `diff` shows what changed.

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
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.views.report import show_runs

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
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.views.report import show_difference

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


group: Any = get_command(_app)
group.add_command(as_command("show", show, SHOW_EXAMPLES, cls=PageCommand))
group.add_command(as_command("diff", diff, DIFF_EXAMPLES, cls=PageCommand))
