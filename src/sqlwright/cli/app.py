"""The commands put together: one file each, this one only lists them."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from sqlwright.cli.commands import (
    ablate,
    ask,
    calibrate,
    chat,
    compare,
    demo,
    doctor,
    evaluate,
    golden,
    merge_runs,
    prepare,
    purge,
    recipes,
    report,
    sql,
    tables,
    trace,
)
from sqlwright.cli.commands.finetune.group import group as finetune
from sqlwright.cli.help import GROUP_EPILOG, LAB_EPILOG, CalmCommand, CalmGroup, command_group

app = typer.Typer(
    name="sqlwright",
    cls=CalmGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    epilog=GROUP_EPILOG,
    context_settings={"help_option_names": ["--help", "-h"]},
)
lab = command_group(
    "Experiments: compare recipes, keep golden sets, calibrate confidence, train models.",
    LAB_EPILOG,
)
for _group, _name, _module in (
    (app, "ask", ask),
    (app, "chat", chat),
    (app, "sql", sql),
    (app, "prepare", prepare),
    (app, "purge", purge),
    (app, "doctor", doctor),
    (app, "trace", trace),
    (app, "demo", demo),
    (app, "evaluate", evaluate),
    (lab, "ablate", ablate),
    (lab, "compare", compare),
    (lab, "calibrate", calibrate),
    (lab, "merge-runs", merge_runs),
    (lab, "tables", tables),
):
    _group.command(_name, cls=CalmCommand, epilog=_module.EXAMPLES)(_module.command)
app.add_typer(recipes.group, name="recipes")
app.add_typer(report.group, name="report")
lab.add_typer(golden.group, name="golden")
lab.add_typer(finetune, name="finetune")
app.add_typer(lab, name="lab")


def _print_version(value: bool) -> None:
    if value:
        from sqlwright import __version__

        typer.echo(f"sqlwright {__version__}")
        raise typer.Exit


@app.callback()
def _sqlwright(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  (the callback acts on it)
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[  # noqa: ARG001  (taken out of the arguments in main.py)
        bool, typer.Option("--debug", help="Show tracebacks. Works after the command too.")
    ] = False,
) -> None:
    """Ask a database questions in plain language; get a query you can trust, its rows and the
    evidence. Everything runs on this machine unless you name a language model
    elsewhere, and nothing is ever written to your database.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMANDS = frozenset(command.name for command in app.registered_commands) | frozenset(
    one.name for one in app.registered_groups
)


@cache
def parser() -> Any:
    """The program that reads a command line, made of the commands' signatures once."""
    return get_command(app)
