"""Ask a database from Python.

import sqlwright

with sqlwright.open("shop.sqlite") as shop:
    answer = shop.ask("How many support tickets are still open?")
    print(answer.sql, answer.rows, answer.confidence)
"""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import InstanceOf

from sqlwright.boundary.arguments import AnyPath, Names, Positive, Private, Words, checked
from sqlwright.boundary.home import home as default_home
from sqlwright.boundary.home import own_home
from sqlwright.catalog.descriptions import check_folder
from sqlwright.database import check_address
from sqlwright.database.address import parse_address
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions
from sqlwright.messages import Privacy
from sqlwright.prepare import prepared_folder
from sqlwright.protocols import Limits
from sqlwright.protocols.embedded import embedded_models
from sqlwright.recipes.loading import load_recipe
from sqlwright.recipes.registry import default_recipe
from sqlwright.session import Session
from sqlwright.settings.defaults import Defaults, Target
from sqlwright.settings.loading import prepares
from sqlwright.settings.scan import limits_with
from sqlwright.spending import Budget, parse_budget

__all__ = ["Session", "open"]

AnyBudget = Annotated[
    str | Budget, Words("an amount in a text, such as '$0.05, 20 calls', or a Budget")
]
ByRole = Annotated[
    InstanceOf[Mapping[str, Any]] | None,
    Words("a mapping from roles to models, or None"),
    Private(),
]
Variables = Annotated[
    Mapping[str, str] | None, Words("a mapping from texts to texts, or None"), Private()
]


@checked
def open(  # noqa: A001 - sqlwright.open, as for a file
    url: str | Path,
    *,
    recipe: str | Path = "",
    overrides: Sequence[str] = (),
    descriptions: AnyPath | None = None,
    tables: Names | None = None,
    functions: Names | None = None,
    limits: Limits | None = None,
    seconds: Positive | None = None,
    max_scan: str | None = None,
    home: AnyPath | None = None,
    prepare: bool | None = None,
    model: str = "",
    base_url: str = "",
    budget: AnyBudget | None = None,
    privacy: Privacy | None = None,
    stand_in: bool = True,
    cache: bool | None = None,
    llm: Annotated[LlmOptions | None, Private()] = None,
    models: ByRole = None,
    seed: int = 0,
    record: bool = True,
    calibration: AnyPath | None = None,
    allow_code: bool = False,
    environ: Variables = None,
) -> Session:
    """A session over the database at `url`: a path, a pattern, or a URL (docs/engines.md).

    `recipe` is a shipped recipe's name or a path to one, by default `local`, or `chess-ir-ss-cg`
    where a language model is named. `overrides` change its options
    (`generation.embedded.beam=4`). `descriptions` is a folder of description files. With `tables`
    it is as if the database had no others: they are in no prompt, no value of theirs is found, no
    query can read them. `functions` of its own may be called. `limits` are those of one query,
    `seconds` is one question's in all; `max_scan` is the most that a query may read (`"10GB"`).
    Prepared data and traces are under `home`; `record=False` leaves no trace. `models` takes the
    place of models by role or name.

    `model` is the language model (`openai/gpt-4.1`) of recipes that use one, `base_url` where it is
    if not at its vendor's. A question may cost `budget` at most (`"$0.05, 20 calls"`); under
    `privacy="schema-only"` no stored value leaves this machine. Replies are kept with `cache`, by
    default where traces are. With `stand_in=False` no embedded model answers where it wrote none.
    `llm` has all options of language models, the named ones come first. `calibration` is what
    `calibrate` wrote to `out`. Keys are looked up in `environ`, else in the environment.

    A small database is prepared when it is opened, as `sqlwright prepare` does, and kept so when it
    changes; what would take two seconds, or has no place to write to, isn't. It is logged, and
    `on_event` is told. With `prepare=False`, or SQLWRIGHT_PREPARE=false, nothing is written.

    Raises UserError for an argument that doesn't fit (ConfigError for recipe, override or model),
    DatabaseUnavailable where there is no database, WorkspaceError for missing descriptions.
    """
    check_address(parse_address(address := str(url)))
    place = own_home(Path(home).expanduser()) if home is not None else default_home()
    if (described := None if descriptions is None else Path(descriptions).expanduser()) is not None:
        check_folder(described)
    options = llm or LlmOptions(cache=record)
    named: dict[str, Any] = {"base_url": base_url, "privacy": privacy, "cache": cache}
    named |= {"model": model, "budget": parse_budget(budget) if isinstance(budget, str) else budget}
    options = replace(options, **{k: v for k, v in named.items() if v not in {None, ""}})
    chosen = str(recipe) or default_recipe(options.model)
    loaded = load_recipe(chosen, overrides, allow_code=allow_code)
    chosen_models = Models(
        ChainMap(cast("Any", models or {}), cast("Any", embedded_models())),
        options,
        environ=os.environ if environ is None else environ,
        cache=place / "replies" / prepared_folder(address).name,
    )
    # What is missing is told now, not in the middle of a question.
    chosen_models.need(loaded.asked_of(chosen_models), asker=f"the recipe {loaded.name}")
    return Session(
        Target(
            address,
            folder=None if home is None else place / "databases" / prepared_folder(address).name,
            descriptions=described,
            tables=None if tables is None else tuple(tables),
            functions=tuple(functions or ()),
            prepare=prepares(os.environ) if prepare is None else prepare,
        ),
        loaded,
        models=chosen_models,
        defaults=Defaults(limits_with(limits, max_scan), seconds, seed, options, stand_in),
        traces=place / "traces" if record else None,
        calibration=None if calibration is None else Path(calibration).expanduser(),
    )
