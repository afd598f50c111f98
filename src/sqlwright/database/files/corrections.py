"""Corrections by the user where guesses about files are wrong: a YAML file beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.errors import ConfigError

NAME = "sqlwright-files.yaml"
_MOST_BYTES = 1_000_000
"""Bytes of the file at most; a larger one is refused unread."""
_TYPE = re.compile(r"[A-Za-z][A-Za-z_ ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?(\[\])*")


def _type(text: str) -> str:
    if not _TYPE.fullmatch(text.strip()):
        raise ValueError("is no type; write one such as INTEGER, DATE, VARCHAR or DECIMAL(10, 2)")
    return text.strip().upper()


One = Annotated[str, Field(min_length=1, max_length=1)]
Type = Annotated[str, AfterValidator(_type)]


class Correction(BaseModel):
    """What is right for some files. All of it may be left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: str | None = Field(None, min_length=1, max_length=100)
    """The table's name."""
    leave_out: bool = False
    """No table is made of it."""
    delimiter: str | None = Field(None, min_length=1, max_length=4)
    quote: One | None = None
    escape: One | None = None
    comment: One | None = None
    encoding: str | None = Field(None, pattern=r"^(utf-8|utf-16|latin-1)$")
    header: bool | None = None
    skip: int | None = Field(None, ge=0, le=1_000_000)
    """Lines before the header."""
    decimal: str | None = Field(None, pattern=r"^[.,]$")
    thousands: One | None = None
    dateformat: str | None = Field(None, max_length=100)
    timestampformat: str | None = Field(None, max_length=100)
    nulls: tuple[str, ...] | None = None
    """Texts that stand for no value."""
    types: Mapping[str, Type] = {}
    """Types of columns, by the names they have without this file."""
    names: Mapping[str, str] = {}
    """Other names of columns, likewise."""


class Corrections(BaseModel):
    """The whole file: corrections by the names of files, which may have wildcards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: Mapping[str, Correction] = {}

    def of(self, path: Path) -> Correction:
        """All that is said of a file; what stands later prevails."""
        told: dict[str, object] = {}
        for pattern, one in self.files.items():
            if fnmatchcase(path.name, pattern):
                told |= one.model_dump(exclude_unset=True)
        return Correction.model_validate(told)


def read_corrections(folder: Path) -> Corrections:
    """The file in a folder; without one nothing is corrected. Raises ConfigError."""
    path = folder / NAME
    try:
        if not path.is_file():
            return Corrections()
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{path}: larger than {_MOST_BYTES:,} bytes.")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {error}") from None
    try:
        return Corrections.model_validate(read_yaml(text, str(path)) or {})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            f"{path}, {where}: {first['msg']}",
            hint="See docs/engines.md for what the file may say.",
        ) from None
