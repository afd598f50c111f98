"""Help pages: plain text with a little emphasis, grouped, quick (nothing heavy is imported)."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from textwrap import wrap
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_RANGE = re.compile(r"  \[x[<>]=?.*\]$")
"""Text that the parser adds to the help of a bounded number."""
GROUPS = (
    ("Ask", ("ask", "chat", "sql")),
    ("Set up", ("demo", "prepare", "doctor", "purge")),
    ("Look inside", ("recipes", "trace")),
    ("Measure", ("evaluate", "report", "lab")),
)
GROUP_EPILOG = """\
sqlwright demo --save shop.sqlite
sqlwright ask shop.sqlite "Which customer in Munich has the most orders?"
sqlwright chat shop.sqlite
sqlwright sql shop.sqlite "SELECT count(*) FROM orders" --check"""

LAB_EPILOG = """\
sqlwright lab compare shop.sqlite "How many orders are pending?" --recipes local,local-unscored
sqlwright lab golden lint my-questions.yaml --database shop.sqlite
sqlwright lab calibrate my-questions.yaml --database shop.sqlite"""


class CalmCommand(TyperCommand):
    """A command whose help is ours, and that takes a text which begins with dashes for a text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        known |= {name for parameter in self.get_params(ctx) for name in parameter.secondary_opts}
        known |= set(ctx.help_option_names)
        dashes = args.index("--") if "--" in args else len(args)
        # A blank before it changes neither a query nor a question, and makes it no option.
        texts = [f" {word}" if _is_text(word, known) else word for word in args[:dashes]]
        parsed: list[str] = super().parse_args(ctx, texts + args[dashes:])
        return parsed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_page(self, ctx))


class CalmGroup(TyperGroup):
    """A group whose help is ours, and that says which commands there are where one is unknown."""

    def advice(self, context: Any, word: str) -> str:  # noqa: ARG002
        """A hint on a word that is no command."""
        return f"Commands: {', '.join(self.list_commands(context))}."

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None:
            ctx.meta["advice"] = self.advice(ctx, args[0])  # told where the error is reported
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_page(self, ctx))


def command_group(purpose: str, examples: str) -> typer.Typer:
    """A group of commands that shows its help where none of them is named."""
    group = typer.Typer(
        cls=CalmGroup,
        rich_markup_mode=None,
        invoke_without_command=True,
        epilog=examples,
        context_settings={"help_option_names": ["--help", "-h"]},
    )

    @group.callback(help=purpose)
    def alone(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return group


def _is_text(word: str, known: Collection[str]) -> bool:
    """True if a word that begins with a dash can't be meant as an option: its name would hold
    blanks, or it has several lines. SQL's comments begin so."""
    name = word.partition("=")[0]
    if not word.startswith("-") or name in known or (word[1:2] != "-" and word[:2] in known):
        return False
    return any(letter.isspace() for letter in name) or "\n" in word


def _page(command: Any, ctx: Any) -> str:
    width = min(max(shutil.get_terminal_size((80, 24)).columns, 40), 96)
    arguments = [p for p in command.get_params(ctx) if p.param_type_name == "argument"]
    records = [
        parameter.get_help_record(ctx)
        for parameter in command.get_params(ctx)
        if parameter.param_type_name != "argument"
    ]
    options = [(name, _RANGE.sub("", text)) for name, text in filter(None, records)]
    parts = [_strong("Usage") + "  " + _usage(command, ctx, [a.metavar for a in arguments])]
    parts.append(_prose(command.help or "", width))
    if isinstance(command, TyperGroup):
        parts += _commands(command, ctx, width)
    parts += _section("Arguments", [(a.metavar or "", a.help or "") for a in arguments], width)
    parts += _section("Options", options, width)
    if command.epilog:
        parts.append(_strong("Examples") + "\n" + _shifted(command.epilog))
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage(command: Any, ctx: Any, arguments: Sequence[str | None]) -> str:
    if isinstance(command, TyperGroup):
        return f"{ctx.command_path} COMMAND [OPTIONS]"
    return " ".join([ctx.command_path, *filter(None, arguments), "[OPTIONS]"])


def _commands(group: TyperGroup, ctx: Any, width: int) -> Iterable[str]:
    known = {name: group.get_command(ctx, name) for name in group.list_commands(ctx)}
    listed: set[str] = set()
    sections = []
    for title, names in GROUPS:
        rows = [(n, known[n].get_short_help_str(200)) for n in names if known.get(n)]  # type: ignore[union-attr]
        listed.update(name for name, _ in rows)
        sections += _section(title, rows, width, column=12)
    others = [
        (name, command.get_short_help_str(200))
        for name, command in known.items()
        if name not in listed and command is not None and not command.hidden
    ]
    return [*sections, *_section("Commands", others, width, column=12)]


def _section(
    title: str, rows: Sequence[tuple[str, str]], width: int, *, column: int | None = None
) -> list[str]:
    if not rows:
        return []
    if column is None:
        column = min(max(len(name) for name, _ in rows) + 2, 30)
    lines = [_strong(title)]
    for name, text in rows:
        beside = wrap(text, max(width - column - 2, 20)) or [""]
        if len(name) >= column:
            lines.append(f"  {_named(name)}")
        else:
            lines.append(f"  {_named(name)}{' ' * (column - len(name))}{beside.pop(0)}".rstrip())
        lines += [" " * (column + 2) + line for line in beside]
    return ["\n".join(lines)]


def _prose(text: str, width: int) -> str:
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join("\n".join(wrap(" ".join(p.split()), width)) for p in paragraphs)


def _shifted(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _strong(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if _coloured() else text


def _named(text: str) -> str:
    return f"\x1b[36m{text}\x1b[0m" if _coloured() else text


def _coloured() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()
