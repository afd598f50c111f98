"""The tables `[models.NAME]` of a project file: several language models, each with an address of
its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sqlwright.boundary.arguments import shown
from sqlwright.boundary.named import unknown
from sqlwright.errors import ConfigError
from sqlwright.llm.options import ModelOptions
from sqlwright.messages import Effort, Verbosity

LARGEST = 10**15
"""The largest whole number that a setting takes: none means so much."""
Whole = Annotated[int, Field(gt=0, le=LARGEST)]
Natural = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[float, Field(gt=0)]
Price = Annotated[float, Field(ge=0)]

_TAKES = (
    (("concurrency", "context_tokens", "reply_tokens"), "a whole number greater than 0"),
    (("reasoning_tokens",), "a whole number of at least 0"),
    (("prompt_price", "reply_price"), "a number of at least 0"),
    (
        ("timeout", "retrying", "requests_per_minute", "tokens_per_minute"),
        "a number greater than 0",
    ),
    (("capabilities.reasoning",), "true or false"),
    (("reasoning",), " or ".join(map(repr, get_args(Effort)))),
    (("verbosity",), " or ".join(map(repr, get_args(Verbosity)))),
    (("remote", "n", "seed", "json_schema", "tools", "temperature", "logprobs"), "true or false"),
    (("capabilities",), "a table"),
)
"""Keys and the values they take, in words; all others take a text."""


class CapabilityValues(BaseModel):
    """Capabilities of a model, as far as a project file says them."""

    model_config = ConfigDict(defer_build=True, extra="forbid", strict=True)

    n: bool | None = None
    seed: bool | None = None
    json_schema: bool | None = None
    tools: bool | None = None
    temperature: bool | None = None
    reasoning: bool | None = None
    logprobs: bool | None = None
    context_tokens: Whole | None = None
    reply_tokens: Whole | None = None


class _ModelValues(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", strict=True, allow_inf_nan=False)

    model: str
    base_url: str = ""
    key_env: str = ""
    context_tokens: Whole | None = None
    reply_tokens: Whole | None = None
    remote: bool | None = None
    prompt_price: Price | None = None
    reply_price: Price | None = None
    reasoning: Effort | None = None
    reasoning_tokens: Natural | None = None
    verbosity: Verbosity | None = None
    revision: str = ""
    concurrency: Whole | None = None
    timeout: Positive | None = None
    retrying: Positive | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    capabilities: CapabilityValues | None = None


def models_from(table: object, path: Path, *, found: bool) -> Mapping[str, ModelOptions]:
    """The models of a file's table `models`, by name; `found` is True for a file that nobody named.
    Raises ConfigError with file and place."""
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: models takes a table, not {shown(table)}")
    return {name: _model(given, path, name, found) for name, given in table.items()}


def _model(given: object, path: Path, name: str, found: bool) -> ModelOptions:
    place = f"{path}: models.{name}"
    if not isinstance(given, dict):
        raise ConfigError(
            f"{place} takes a table, not {shown(given)}",
            hint=f'Write [models.{name}] and below it model = "provider/model".',
        )
    known = _ModelValues.model_fields
    for key in given:
        if key not in known:
            error = unknown("key", key, known)
            raise ConfigError(f"{place}: {error}", hint=error.hint)
    try:
        read = _ModelValues.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        if first["type"] == "missing":
            raise ConfigError(
                f"{place} names no model", hint='Add model = "provider/model".'
            ) from None
        if first["type"] == "extra_forbidden":
            raise ConfigError(f"{place}.{where} is unknown") from None
        raise ConfigError(
            f"{place}.{where} takes {_takes(where)}, not {shown(first['input'])}"
        ) from None
    values: dict[str, Any] = read.model_dump(exclude={"capabilities"})
    return ModelOptions(**values, capabilities=told(read.capabilities), found=found)


def told(values: CapabilityValues | None) -> tuple[tuple[str, bool | int], ...]:
    """The capabilities that are given, as options have them."""
    given = {} if values is None else values.model_dump(exclude_none=True)
    return tuple(given.items())


def _takes(where: str) -> str:
    name = where.rpartition(".")[2]
    return next(
        (takes for names, takes in _TAKES if {where, name} & set(names)), "a text in quotes"
    )
