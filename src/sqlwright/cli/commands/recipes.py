"""`sqlwright recipes`: list them, show one."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.main import get_command

from sqlwright.cli.help import CONTEXT, CalmGroup, as_command
from sqlwright.cli.typed import options

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
        from sqlwright.recipes.loading import recipe_names

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
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.views import recipes as cookbook
    from sqlwright.cli.views.answer import DisplayOptions

    screen = Screen.open()
    screen.show(cookbook.list_lines(DisplayOptions.of(screen)))
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
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.views import recipes as cookbook

    Screen.open().show(cookbook.recipe_lines(name, allow_code=allow_code))
    return 0


group: Any = get_command(_app)
group.add_command(as_command("list", listed, "sqlwright recipes list\n"))
group.add_command(as_command("show", shown, SHOW_EXAMPLES))
