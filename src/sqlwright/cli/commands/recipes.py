"""`sqlwright recipes`: list them, show one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.main import get_command

from sqlwright.cli.help import CONTEXT, CalmGroup, as_command
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.layout import wrapped
from sqlwright.cli.terminal.text import clean, clean_block
from sqlwright.cli.typed import options
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.recipes import registry
from sqlwright.recipes.loading import load_recipe, options_of, recipe_names
from sqlwright.running.combinators import NamedStep

EXAMPLES = """\
sqlwright recipes
sqlwright recipes show local > mine.yaml
sqlwright ask shop.sqlite --recipe mine.yaml "How many support tickets are still open?"
"""
SHOW_EXAMPLES = """\
sqlwright recipes show local
sqlwright recipes show chess-ir-ss-cg > mine.yaml
"""


class RecipesGroup(CalmGroup):
    """The group, which leads somebody who names a recipe in a command's place to what shows it."""

    def advice(self, context: Any, word: str) -> str:
        """A hint on a word that is no command."""

        if word in recipe_names() or word.endswith((".yaml", ".yml")):
            return (
                f"To see a recipe: {context.command_path} show {word}. "
                f"To ask by it: sqlwright ask --recipe {word}"
            )
        return super().advice(context, word)


_app = typer.Typer(
    cls=RecipesGroup,
    rich_markup_mode=None,
    invoke_without_command=True,
    epilog=EXAMPLES,
    add_completion=False,
    context_settings=dict(CONTEXT),
)


@_app.callback()
def recipes(context: typer.Context) -> int:
    """List the recipes, or show one."""
    return listed() if context.invoked_subcommand is None else 0


def listed() -> int:
    """List the recipes that ship."""

    screen = Screen.open()
    screen.show(list_lines(DisplayOptions.of(screen)))
    return 0


def shown(
    *,
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A recipe by name, or a YAML file.")
    ] = "local",
    allow_code: options.AllowCode = False,
) -> int:
    """Show the steps and settings of a recipe.

    What it prints is a recipe file: save it, change it, use it with --recipe FILE.
    """

    Screen.open().show(recipe_lines(name, allow_code=allow_code))
    return 0


def list_lines(display: DisplayOptions) -> Iterator[Text]:
    """Every recipe that ships, in a line or two."""
    for name in recipe_names():
        recipe = load_recipe(name)
        line = Text.assemble((clean(name, 60), "name"))
        if recipe.needs_model:
            line.append("  needs a language model: --model", style="quiet")
        elif recipe.spares_model:
            line.append("  asks a language model where one is named: --model", style="quiet")
        yield line
        yield from wrapped(Text(f"  {clean(recipe.description, 400)}"), display.width)


def recipe_lines(name: str, *, allow_code: bool) -> Iterator[Text]:
    """A recipe's file, and as comments the settings that `--set` or the file can change.

    Raises ConfigError when the recipe doesn't fit.
    """
    recipe = load_recipe(name, allow_code=allow_code)
    yield from (Text(line) for line in clean_block(_source(name)).rstrip("\n").split("\n"))
    settings = dict.fromkeys(
        f"{step.name}.{option}={clean(_setting(getattr(step.step, option)), 160)}"
        for step in _leaves(recipe.step)
        for option in options_of(type(step.step))
    )
    if settings:
        yield Text()
        yield Text.assemble(("# Settings as they are, for --set:", "quiet"))
        for setting in settings:
            yield Text.assemble((f"#   {clean(setting, 200)}", "quiet"))


def _setting(value: object) -> str:
    """A value as `--set` takes it."""
    if is_dataclass(value):
        inner = ((part.name, getattr(value, part.name)) for part in fields(value))
        return (
            "{" + ", ".join(f"{name}: {each!r}" for name, each in inner if each is not None) + "}"
        )
    return str(value)


def _source(name: str) -> str:
    if name in registry.RECIPES:
        return files("sqlwright").joinpath(registry.RECIPES[name]).read_text(encoding="utf-8")
    return Path(name).read_text(encoding="utf-8")


def _leaves(step: Any) -> Iterator[NamedStep]:
    """The steps in a step that are no combinators."""
    if isinstance(step, NamedStep):
        yield step
    elif isinstance(step, tuple):
        for inner in step:
            yield from _leaves(inner)
    elif is_dataclass(step):
        for part in fields(step):
            yield from _leaves(getattr(step, part.name))


group: Any = get_command(_app)
group.add_command(as_command("list", listed, "sqlwright recipes list\n"))
group.add_command(as_command("show", shown, SHOW_EXAMPLES))
