"""Prices of tokens: a dated table, the user's own one before it, and None where nobody knows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sqlwright.errors import ConfigError

MILLION = 1_000_000
"""Tokens that a price of the table is for."""
LARGEST = 256 * 1024
"""Bytes a file of prices may have."""

_DATED = re.compile(r"(?:-latest|-\d{4}-?\d{2}-?\d{2})$")
"""Ending of a revision's name; a revision costs what the model costs."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    prompt: float
    reply: float
    cached: float | None = None
    """Price of the part of a prompt that the vendor had in its prefix cache; None is as
    `prompt`."""
    written: float | None = None
    """Price of the part that the vendor put there with this request; None is as `prompt`."""
    above: int = 0
    """Prompts with more tokens than that cost `long`; without one it doesn't matter."""
    long: Price | None = None
    date: str = field(default="", compare=False)
    """The day it was looked up; empty where nobody says."""
    source: str = field(default="", compare=False)
    """The place it was looked up at."""

    def cost(
        self, prompt_tokens: int, reply_tokens: int, cached_tokens: int = 0, written_tokens: int = 0
    ) -> float:
        """US dollars of one request; cached and written tokens are parts of `prompt_tokens`."""
        if self.long is not None and prompt_tokens > self.above:
            return self.long.cost(prompt_tokens, reply_tokens, cached_tokens, written_tokens)
        held = min(max(cached_tokens, 0), prompt_tokens)
        put = min(max(written_tokens, 0), prompt_tokens - held)
        cached = self.prompt if self.cached is None else self.cached
        written = self.prompt if self.written is None else self.written
        paid = (prompt_tokens - held - put) * self.prompt + held * cached + put * written
        return (paid + reply_tokens * self.reply) / MILLION

    def highest(self, prompt_tokens: int, reply_tokens: int) -> float:
        """US dollars of one request at most, whatever the prefix cache does."""
        return max(
            self.cost(prompt_tokens, reply_tokens),
            self.cost(prompt_tokens, reply_tokens, written_tokens=prompt_tokens),
        )

    def times(self, share: float) -> Price:
        """The price of requests that cost this share of it."""
        return replace(
            self,
            prompt=share * self.prompt,
            reply=share * self.reply,
            cached=None if self.cached is None else share * self.cached,
            written=None if self.written is None else share * self.written,
            long=None if self.long is None else self.long.times(share),
        )

    def __str__(self) -> str:
        told = f"${self.prompt:g} in and ${self.reply:g} out per million tokens"
        return f"{told} ({self.date})" if self.date else told

    @property
    def free(self) -> bool:
        return self.prompt == self.reply == 0


FREE = Price(0.0, 0.0)
"""Price of a model that runs on the user's own machine."""


class _Long(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid")

    above: int = Field(gt=0)
    prompt: float = Field(ge=0, allow_inf_nan=False)
    reply: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    written: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class _Price(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid")

    prompt: float = Field(ge=0, allow_inf_nan=False)
    reply: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    written: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    long: _Long | None = None
    date: str = ""
    source: str = ""


class _File(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid")

    date: str = ""
    source: str = ""
    models: dict[str, _Price] = Field(default_factory=dict)
    batches: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)


@dataclass(frozen=True)
class Prices:
    """Prices by `provider/model`."""

    table: Mapping[str, Price] = field(default_factory=dict)
    batches: Mapping[str, float] = field(default_factory=dict)
    """By provider, the share of it that requests in batches cost."""

    def of(self, model: str) -> Price | None:
        """The model's price, by its own name or, for a dated revision, the undated one; None when
        it isn't known."""
        return self.table.get(model) or self.table.get(_DATED.sub("", model))


def load_prices(user_file: Path | None = None) -> Prices:
    """The table that ships with the package with the user's own before it. Raises ConfigError."""
    shipped = _read(
        files("sqlwright.llm").joinpath("prices.toml").read_text(encoding="utf-8"), "prices.toml"
    )
    if user_file is None:
        return shipped
    try:
        if user_file.stat().st_size > LARGEST:
            raise ConfigError(f"{user_file} is too large for a file of prices")
        text = user_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"the prices {user_file} can't be read: {problem}") from None
    users = _read(text, str(user_file))
    return Prices({**shipped.table, **users.table}, {**shipped.batches, **users.batches})


def _read(text: str, origin: str) -> Prices:
    try:
        file = _File.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{origin} is not readable as TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{origin}: {where}: {first['msg']}",
            hint='A price is written [models."provider/model"] prompt = 2.5, reply = 10, in '
            "dollars per million tokens.",
        ) from None
    table = {name: _price(price, file) for name, price in file.models.items()}
    return Prices(table, file.batches)


def _price(read: _Price, file: _File) -> Price:
    """The price, with the date and source of its file where it has none of its own."""
    date, source = read.date or file.date, read.source or file.source
    usual = Price(read.prompt, read.reply, read.cached, read.written, date=date, source=source)
    if read.long is None:
        return usual
    beyond = Price(read.long.prompt, read.long.reply, read.long.cached, read.long.written)
    return replace(usual, above=read.long.above, long=beyond)
