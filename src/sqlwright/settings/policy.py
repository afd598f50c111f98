"""Checks of settings: recipe and model fit, and the addresses prompts are sent to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from sqlwright.boundary.text import readable
from sqlwright.errors import ConfigError
from sqlwright.recipes.loading import Recipe, load_recipe
from sqlwright.recipes.registry import RECIPES
from sqlwright.running.combinators import leaves
from sqlwright.settings.values import Settings


def check_model_is_asked(*settings: Settings, allow_code: bool = False) -> None:
    """Raise ConfigError where the command names a model that no step of a recipe would ask: the
    answer would pass for the model's. Of several recipes one that asks it is enough. Steps of
    others may ask it without saying so beforehand."""
    for one in settings:
        if one.origins.get("llm.model") != "flag":
            return
        recipe = load_recipe(one.recipe, one.overrides, allow_code=allow_code)
        if "" in recipe.asks or one.llm.model in recipe.asks or not _ours(recipe):
            return
    names = ", ".join(readable(one.recipe) for one in settings)
    raise ConfigError(
        f"the recipe{'s' if len(settings) > 1 else ''} {names} would not ask "
        f"{readable(settings[0].llm.model)}",
        hint="Add -r with one that asks a language model, such as chess-ir-cg-ut; "
        "'sqlwright recipes' says which do. Or leave --model out.",
    )


def remote_destinations(settings: Settings, *, allow_code: bool = False) -> Iterator[str]:
    """Sentences on the other machines that prompts go to because a file alone says so, for a person
    to see first: a project file by its address, a recipe file by its models. Raises ConfigError."""
    url, entries = settings.llm.base_url, settings.llm.models
    shipped = settings.recipe in RECIPES
    if settings.llm.replay is not None or (not url and not entries and shipped):
        return
    from sqlwright.llm.sending.transport import is_loopback
    from sqlwright.llm.vendors.services import service_for

    if url and settings.origins.get("llm.base_url") == str(settings.file) and not is_loopback(url):
        yield f"{settings.file} sends what models are asked to {url}"
    if shipped and not entries:
        return
    recipe = load_recipe(settings.recipe, settings.overrides, allow_code=allow_code)
    names = [name or settings.llm.model for name in recipe.asks]
    for name in entries if not _ours(recipe) else dict.fromkeys(names):
        if name in entries and entries[name].base_url and not is_loopback(entries[name].base_url):
            yield f"{settings.file} sends what {name} is asked to {entries[name].base_url}"
    if shipped:
        return
    for name in recipe.asks:
        if not name or name in entries or any(name in override for override in settings.overrides):
            continue
        with suppress(ConfigError):  # told when the session is opened
            service = service_for(name, settings.llm, os.environ)
            if service.address and not is_loopback(service.address):
                yield f"the recipe {settings.recipe} asks {service.name} at {service.address}"


def _ours(recipe: Recipe) -> bool:
    """True if all steps are this package's, which say what models they ask."""
    return all(type(step).__module__.startswith("sqlwright.") for step in leaves(recipe.step))
