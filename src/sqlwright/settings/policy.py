"""Checks of settings: recipe and model fit, and the addresses prompts are sent to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from sqlwright.errors import ConfigError
from sqlwright.presentation.answer import readable
from sqlwright.protocols import EMBEDDER
from sqlwright.recipes.loading import load_recipe
from sqlwright.recipes.registry import RECIPES
from sqlwright.running.combinators import leaves
from sqlwright.settings.values import Settings


def check_model_is_asked(settings: Settings, *, allow_code: bool = False) -> None:
    """Raise ConfigError where the command names a model that no step of the recipe would ask: the
    answer would pass for the model's. Steps of others may ask it without saying so beforehand."""
    if settings.origins.get("llm.model") != "flag":
        return
    recipe = load_recipe(settings.recipe, settings.overrides, allow_code=allow_code)
    ours = all(type(step).__module__.startswith("sqlwright.") for step in leaves(recipe.step))
    if "" in recipe.asks or not ours:
        return
    raise ConfigError(
        f"the recipe {readable(settings.recipe)} would not ask {readable(settings.llm.model)}",
        hint="Add -r with one that asks a language model, such as chess-ir-cg-ut; "
        "'sqlwright recipes' says which do. Or leave --model out.",
    )


def remote_destinations(settings: Settings, *, allow_code: bool = False) -> Iterator[str]:
    """Sentences on the other machines that prompts go to because a file alone says so, for a person
    to see first: a project file by its address, a recipe file by its models. Raises ConfigError."""
    url = settings.llm.base_url
    if not url and (settings.recipe in RECIPES or settings.llm.replay is not None):
        return
    from sqlwright.llm.sending.transport import is_loopback
    from sqlwright.llm.vendors.services import service_for

    if url and settings.origins.get("llm.base_url") == str(settings.file) and not is_loopback(url):
        yield f"{settings.file} sends what models are asked to {url}"
    if settings.recipe in RECIPES or settings.llm.replay is not None:
        return
    recipe = load_recipe(settings.recipe, settings.overrides, allow_code=allow_code)
    for role in recipe.asks:
        name = role.removeprefix(f"{EMBEDDER}/")
        if not name or any(name in override for override in settings.overrides):
            continue
        with suppress(ConfigError):  # told when the session is opened
            service = service_for(name, settings.llm, os.environ)
            if service.address and not is_loopback(service.address):
                yield f"the recipe {settings.recipe} asks {service.name} at {service.address}"
