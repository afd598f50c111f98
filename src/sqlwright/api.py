"""Ask a database from Python.

import sqlwright

with sqlwright.open("shop.sqlite") as shop:
    answer = shop.ask("How many orders are still open?")
    print(answer.sql, answer.rows, answer.confidence)
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlwright import config
from sqlwright.database.address import parse_address
from sqlwright.errors import ModelUnavailable
from sqlwright.prepare import prepared_folder
from sqlwright.prepare.places import home as default_home
from sqlwright.protocols import Limits
from sqlwright.session import Defaults, Session, Target

__all__ = ["EmbeddedModels", "Session", "open"]


def open(  # noqa: A001 - sqlwright.open, as for a file
    url: str | Path,
    *,
    recipe: str = "local",
    overrides: Sequence[str] = (),
    descriptions: str | Path | None = None,
    limits: Limits | None = None,
    seconds: float | None = None,
    home: str | Path | None = None,
    models: Mapping[str, Any] | None = None,
    seed: int = 0,
    record: bool = True,
    allow_code: bool = False,
) -> Session:
    """A session over the database at `url`: a path, or a `sqlite:///` URL.

    `recipe` is a shipped recipe's name or a path to one, `overrides` change its options
    (`generation.embedded.beam=4`). `descriptions` is a folder of description files. `limits` are
    those of one query, `seconds` is the time for one question in all. Prepared data and traces
    are under `home`; `record=False` leaves no trace. `models` replaces the embedded models.

    Raises ConfigError for a recipe or override that doesn't fit, and DatabaseUnavailable for a URL
    that isn't supported.
    """
    address = str(url)
    parse_address(address)
    loaded = config.load_recipe(recipe, overrides, allow_code=allow_code)
    place = Path(home).expanduser() if home is not None else default_home()
    return Session(
        Target(
            address,
            folder=None if home is None else place / "databases" / prepared_folder(address).name,
            descriptions=None if descriptions is None else Path(descriptions).expanduser(),
        ),
        loaded,
        models=EmbeddedModels() if models is None else models,
        defaults=Defaults(limits or Limits(), seconds, seed),
        traces=place / "traces" if record else None,
    )


class EmbeddedModels(Mapping[str, Any]):
    """The models that ship with the package, loaded when first asked for and then kept.

    May be shared between sessions and threads. A model that can't be loaded raises
    ModelUnavailable, the same each time.
    """

    ROLES = ("linker", "parser", "critic", "embedder")

    def __init__(self) -> None:
        self._locks = {role: threading.Lock() for role in self.ROLES}
        self._loaded: dict[str, Any] = {}
        self._failed: dict[str, ModelUnavailable] = {}

    def __getitem__(self, role: str) -> Any:
        if role not in self._locks:
            raise ModelUnavailable(f"no embedded model has the role {role!r}")
        with self._locks[role]:
            if role in self._failed:
                raise self._failed[role]
            if role not in self._loaded:
                from sqlwright.local.models import ON_EMBEDDER, load

                try:
                    shared = self["embedder"] if role in ON_EMBEDDER else None
                    self._loaded[role] = load(role, embedder=shared)
                except ModelUnavailable as error:
                    self._failed[role] = error
                    raise
            return self._loaded[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self.ROLES)

    def __len__(self) -> int:
        return len(self.ROLES)
