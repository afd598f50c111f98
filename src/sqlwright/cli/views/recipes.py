"""Recipes for reading: their list, and one as its file with every setting it could change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.layout import wrapped
from sqlwright.cli.terminal.text import clean, clean_block
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.recipes import registry
from sqlwright.recipes.loading import load_recipe, options_of, recipe_names
from sqlwright.running.combinators import NamedStep


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
