"""The commands of `sqlwright lab golden` put together."""

from __future__ import annotations

import typer

from sqlwright.cli.commands.golden import add, lint
from sqlwright.cli.help import CalmCommand, CalmGroup

EXAMPLES = """\
sqlwright lab golden lint my-questions.yaml --database shop.sqlite
sqlwright lab golden add my-questions.yaml --last
"""

group = typer.Typer(
    cls=CalmGroup,
    rich_markup_mode=None,
    invoke_without_command=True,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@group.callback()
def golden(context: typer.Context) -> None:
    """Look after a golden set: questions of your own, each with a query that answers it.

    'sqlwright evaluate' measures with it, 'sqlwright lab calibrate' fits the confidence to it.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


group.command("lint", cls=CalmCommand, epilog=lint.EXAMPLES)(lint.command)
group.command("add", cls=CalmCommand, epilog=add.EXAMPLES)(add.command)
