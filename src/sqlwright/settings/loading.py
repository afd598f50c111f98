"""Settings from flags, environment and project file, each value checked."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sqlwright.boundary.arguments import shown
from sqlwright.boundary.named import unknown
from sqlwright.boundary.project_file import NAMED, ProjectFile, find
from sqlwright.database.address import is_bare_path, is_there, may_hold_secret, plain_address
from sqlwright.errors import ConfigError
from sqlwright.llm.options import ModelOptions
from sqlwright.messages import Effort, Privacy, Verbosity
from sqlwright.recipes.registry import default_recipe
from sqlwright.settings.scan import parse_scan
from sqlwright.settings.values import Settings
from sqlwright.spending import parse_budget

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


PREFIX = "SQLWRIGHT_"


class _LimitValues(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", strict=True, allow_inf_nan=False)

    seconds: float | None = Field(default=None, gt=0)
    rows: Whole | None = None
    result_bytes: Whole | None = None
    cell_bytes: Whole | None = None
    memory_bytes: Whole | None = None


class _LlmValues(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", strict=True, allow_inf_nan=False)

    model: str | None = None
    base_url: str | None = None
    budget: str | None = None
    privacy: Privacy | None = None
    remote: bool | None = None
    cache: bool | None = None
    prices: str | None = None
    revision: str | None = None
    reasoning: Effort | None = None
    reasoning_tokens: Whole | None = None
    verbosity: Verbosity | None = None
    concurrency: Whole | None = None
    timeout: float | None = Field(default=None, gt=0)
    retrying: float | None = Field(default=None, gt=0)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    capabilities: CapabilityValues | None = None


class _ProjectSettings(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", strict=True, allow_inf_nan=False)

    database: str | None = None
    recipe: str | None = None
    overrides: list[str] | None = None
    descriptions: str | None = None
    tables: list[str] | None = Field(default=None, min_length=1)
    functions: list[str] | None = Field(default=None, min_length=1)
    home: str | None = None
    calibration: str | None = None
    prepare: bool | None = None
    seconds: float | None = Field(default=None, gt=0)
    max_scan: str | None = None
    limits: _LimitValues = Field(default_factory=_LimitValues)
    llm: _LlmValues = Field(default_factory=_LlmValues)


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Settings from flags (None means not given), then environment, then project file.

    Flags and variables have the names of `Settings`, those of a table with its name before theirs:
    `limits.rows` and `SQLWRIGHT_LIMITS_ROWS`. Overrides of a later source come before those of an
    earlier one, so that the earlier has the last word. Raises ConfigError.
    """
    file, notes = find(folder, environ or {})
    layers = [
        *([(str(file.path), _file_values(file, environ or {}))] if file is not None else []),
        ("environment", _environment_values(environ or {})),
        ("flag", _flag_values(flags or {})),
    ]
    settings = Settings(file=None if file is None else file.path, notes=notes)
    origins = dict[str, str]()
    overrides: list[str] = []
    for origin, values in layers:
        for name, value in values.items():
            origins[name] = _variable(name) if origin == "environment" else origin
            if name == "overrides":
                overrides += value
            else:
                settings = _with(settings, name, value)
    if "recipe" not in origins:
        settings = replace(settings, recipe=default_recipe(settings.llm.model))
    limits = replace(settings.limits, scan=settings.max_scan)
    return replace(settings, overrides=tuple(overrides), limits=limits, origins=origins)


def prepares(environ: Mapping[str, str]) -> bool:
    """True if small databases are prepared without being asked, by the environment variable alone;
    for callers without settings. Raises ConfigError."""
    text = environ.get(_variable("prepare"), "")
    return Settings.prepare if not text else bool(_read("prepare", text))


def _with(settings: Settings, name: str, value: Any) -> Settings:
    """The settings with one value changed, that of a table by `table.name`."""
    table, dot, inner = name.partition(".")
    if dot:
        value = replace(getattr(settings, table), **{inner: value})
    changed: Settings = replace(settings, **{table: value})
    return changed


def _file_values(file: ProjectFile, environ: Mapping[str, str]) -> dict[str, Any]:
    path, table = file.path, dict(file.table)
    _refuse_unknown(path, table, [*_ProjectSettings.model_fields, "models"])
    models = models_from(table.pop("models", {}), path, found=not environ.get(NAMED))
    for name, form in _TABLES.items():
        if isinstance(table.get(name), dict):
            _refuse_unknown(path, table[name], list(form.model_fields))
    try:
        read = _ProjectSettings.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # A list's member is named by the list: that is the setting with its rule.
        place = ".".join(part for part in first["loc"] if isinstance(part, str))
        raise _unfit(f"{path}: {place}", place, first["input"]) from None
    values = read.model_dump(exclude=set(_TABLES))
    for table_name in _TABLES:
        inner = getattr(read, table_name).model_dump()
        values |= {f"{table_name}.{name}": value for name, value in inner.items()}
    given = {name: value for name, value in values.items() if value is not None}
    if models:
        given["llm.models"] = models
    return _placed(given, path.parent, str(path))


def _environment_values(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in _KINDS:
        text = environ.get(_variable(name), "")
        if not text:
            continue
        if _KINDS[name] == Sequence[str]:
            values[name] = text.split("," if name in _STORED_NAMES else None)
            continue
        values[name] = _read(name, text)
    return _placed(values, None, "the environment")


def _read(name: str, text: str) -> Any:
    """A variable's text as its setting's kind of value. Raises ConfigError."""
    kind = _KINDS[name]
    if kind is str:
        return text
    if kind in _CHOICES:
        if text.lower() not in _CHOICES[kind]:
            raise _unfit(_variable(name), name, text)
        return _CHOICES[kind][text.lower()]
    try:
        value = kind(text)
    except ValueError:  # also an integer of thousands of digits
        value = 0
    if not 0 < value < math.inf or (kind is int and value > LARGEST):
        raise _unfit(_variable(name), name, text)
    return value


def _flag_values(flags: Mapping[str, Any]) -> dict[str, Any]:
    for name in flags:
        if name not in _KINDS:
            raise unknown("setting", name, _KINDS)
    given = {name: value for name, value in flags.items() if value is not None}
    for name, value in given.items():
        choices = _CHOICES.get(_KINDS[name], {})
        if choices and value not in choices.values():
            raise _unfit(f"--{name.rpartition('.')[2]}", name, value)
    if "overrides" in given:
        given["overrides"] = list(given["overrides"])
    return _placed(given, None, "")


def _unfit(where: str, name: str, given: object) -> ConfigError:
    """The error for a value that a setting doesn't take, saying what it takes."""
    kind = _KINDS.get(name)
    if name.startswith("llm.capabilities."):
        kind = int if name.endswith("_tokens") else bool
    if kind is float:
        takes = "a number greater than 0"
    elif kind is int:
        takes = "a whole number greater than 0"
        if isinstance(given, int) and given > LARGEST:
            takes += " and up to 10^15"
    elif name in _TABLES:
        takes = "a table of limits" if name == "limits" else "a table"
    elif kind in _CHOICES:
        takes = "true or false" if kind is bool else " or ".join(map(repr, _CHOICES[kind]))
    else:
        takes = "a text in quotes" if kind is str else "a list of texts in quotes"
    if given == []:
        takes += ", at least one"
    return ConfigError(f"{where} takes {takes}, not {shown(given)}")


def _kind(annotation: Any) -> Any:
    """The type of a field other than None: str, bool, float, int, a Literal or a list."""
    for kind in get_args(annotation) if get_origin(annotation) in {Union, UnionType} else ():
        if kind is not NoneType:
            return _kind(kind)
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    return Sequence[str] if annotation == list[str] else annotation


def _kinds(form: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, field in form.model_fields.items():
        kind = _kind(field.annotation)
        if kind in _TABLES.values():
            yield from _kinds(kind, f"{name}.")
        elif kind is not CapabilityValues:
            yield prefix + name, kind


_TABLES: Mapping[str, type[BaseModel]] = {"limits": _LimitValues, "llm": _LlmValues}

_KINDS: Mapping[str, Any] = {
    **dict(_kinds(_ProjectSettings)),
    # Not in a project file: which calls are kept or played back is said for each run.
    "llm.record": str,
    "llm.replay": str,
}
"""Every setting by the name that flags and variables have, with the kind of its value."""

_CHOICES: Mapping[Any, Mapping[str, Any]] = {
    **{kind: {word: word for word in get_args(kind)} for kind in (Privacy, Effort, Verbosity)},
    bool: {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False},
}


_STORED_NAMES = frozenset({"tables", "functions"})
"""Lists of names in the database, which may have blanks: commas stand between them in a text."""
_PARSED: Mapping[str, Callable[[str], Any]] = {
    "llm.budget": parse_budget,
    "max_scan": parse_scan,
}
"""Settings that are amounts, and what reads them."""


def _variable(name: str) -> str:
    return PREFIX + name.replace(".", "_").upper()


def _placed(values: dict[str, Any], folder: Path | None, origin: str) -> dict[str, Any]:
    """The values with their paths as paths, those of a file relative to its folder, the budget
    as such; an empty `origin` is the flags. Raises ConfigError."""
    if "llm.capabilities" in values:
        told = values["llm.capabilities"].items()
        values["llm.capabilities"] = tuple((k, v) for k, v in told if v is not None)
    for name, parsed in _PARSED.items():
        if (given := values.get(name)) is None:
            continue
        try:
            values[name] = parsed(given)
        except ConfigError as error:
            flag = f"--{name.rpartition('.')[2].replace('_', '-')}"
            raise ConfigError(f"{origin or flag}: {error}", hint=error.hint) from None
    for name in _STORED_NAMES & values.keys():
        values[name] = tuple(one.strip() for one in values[name])
    for name in ("descriptions", "home", "calibration", "llm.prices", "llm.record", "llm.replay"):
        if name in values:
            path = Path(values[name]).expanduser()
            values[name] = path if folder is None else folder / path
    if folder is not None:
        database, recipe = values.get("database"), values.get("recipe")
        if database and is_bare_path(database):
            # An address that can't be read stays as it is: the error tells what may be repeated.
            there = f"{folder / os.path.expanduser(plain_address(database))}"  # noqa: PTH111
            if is_there(there) or not may_hold_secret(there):
                values["database"] = there
        if recipe and recipe.endswith((".yaml", ".yml")):
            values["recipe"] = str(folder / Path(recipe).expanduser())
    return values


def _refuse_unknown(path: Path, given: Mapping[str, Any], known: list[str]) -> None:
    for key in given:
        if key not in known:
            error = unknown("key", key, known)
            raise ConfigError(f"{path}: {error}", hint=error.hint)
