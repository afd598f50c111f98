"""The reference part of docs/command-line.md, made from the commands themselves.

`python -m tests.cli.reference` writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlwright.cli.main import parser

FILE = Path(__file__).parents[2] / "docs" / "command-line.md"
BEGIN = "<!-- Made by `python -m tests.cli.reference`; change the commands' own texts instead. -->"


def reference() -> str:
    """A section per command: usage, purpose, options, examples."""
    group: Any = parser()
    context = group.make_context(
        "sqlwright", ["--version-is-not-asked-for"], resilient_parsing=True
    )
    lines: list[str] = [BEGIN, ""]
    lines += ["## sqlwright", "", *_options(group, context)]
    lines += _commands(group, context)
    return "\n".join(lines).rstrip() + "\n"


def current() -> str:
    """What the file holds now, from its marker on."""
    text = FILE.read_text("utf-8")
    return text[text.index(BEGIN) :]


def _commands(group: Any, context: Any) -> Iterator[str]:
    """Those of a group, and of the groups among them, each in a section."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = command.make_context(name, [], parent=context, resilient_parsing=True)
        yield from (f"## {inner.command_path}", "", *_command(command, inner))
        if hasattr(command, "list_commands"):
            yield from _commands(command, inner)


def _command(command: Any, context: Any) -> Iterator[str]:
    arguments = [p.metavar for p in command.get_params(context) if p.param_type_name == "argument"]
    yield "    " + " ".join([context.command_path, *filter(None, arguments), "[OPTIONS]"])
    yield ""
    for paragraph in command.help.strip().split("\n\n"):
        yield " ".join(paragraph.split())
        yield ""
    yield from _options(command, context)
    yield "```sh"
    yield command.epilog.rstrip()
    yield "```"
    yield ""


def _options(command: Any, context: Any) -> Iterator[str]:
    yield "| option | what it does |"
    yield "|---|---|"
    for parameter in command.get_params(context):
        if parameter.param_type_name == "argument":
            yield f"| `{parameter.metavar}` | {parameter.help} |"
            continue
        name, text = parameter.get_help_record(context)
        yield f"| `{name}` | {text} |"
    yield ""


if __name__ == "__main__":
    before = FILE.read_text("utf-8").partition(BEGIN)[0]
    FILE.write_text(before + reference(), "utf-8")
