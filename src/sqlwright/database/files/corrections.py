"""Corrections by the user where guesses about files are wrong: a YAML file beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.database.files.cells import Unfit
from sqlwright.database.files.encodings import DECODED, OWN
from sqlwright.database.files.table import Columns
from sqlwright.errors import ConfigError

NAME = "sqlwright-files.yaml"
_MOST_BYTES = 1_000_000
"""Bytes of the file at most; a larger one is refused unread."""
ONE_TYPE = re.compile(r"[A-Za-z][A-Za-z_ ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?(\[\])*")


def _type(text: str) -> str:
    if not ONE_TYPE.fullmatch(text.strip()):
        raise ValueError("is no type; write one such as INTEGER, DATE, VARCHAR or DECIMAL(10, 2)")
    return text.strip().upper()


One = Annotated[str, Field(min_length=1, max_length=1)]
Type = Annotated[str, AfterValidator(_type)]


class SheetCorrection(BaseModel):
    """The right readings of some sheets of a workbook. All of it may be left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: str | None = Field(None, min_length=1, max_length=100)
    """The table's name."""
    leave_out: bool = False
    """No table is made of it. A hidden sheet is one where this is false."""
    header: bool | None = None
    skip: int | None = Field(None, ge=0, le=1_000_000)
    """Lines before the header."""
    dateformat: str | None = Field(None, max_length=100)
    timestampformat: str | None = Field(None, max_length=100)
    unfit: Unfit = "text"
    """The fate of cells and lines that don't fit: the column becomes text, they are empty, their
    rows are left out, or the file isn't read. Lines of another length are left out but for the
    last."""
    total_row: bool | None = None
    """True if the last row has the sums of the others, and is left out; if not said, it is where
    its numbers are those sums."""
    nulls: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None = None
    """Texts that stand for no value: in all columns, or by the columns in which they do."""
    types: Mapping[str, Type] = {}
    """Types of columns, by the names they have without this file."""
    names: Mapping[str, str] = {}
    """Other names of columns, likewise."""

    def applied(self, columns: Columns, what: str) -> Columns:
        """Columns with the names and types that are right; `what` they are of, for messages.
        Raises ConfigError."""
        names = [name for name, _ in columns]
        nulls = self.nulls if isinstance(self.nulls, Mapping) else {}
        for name in (*self.types, *self.names, *nulls):
            if name not in names:
                raise ConfigError(
                    f"{NAME}: {what} has no column {name!r}",
                    hint=f"There are: {', '.join(names[:40])}.",
                )
        changed = tuple(
            (self.names.get(name, name), self.types.get(name, kind)) for name, kind in columns
        )
        if len({name.lower() for name, _ in changed}) < len(changed):
            raise ConfigError(f"{NAME}: {what} would have a column's name twice")
        return changed


class Correction(SheetCorrection):
    """The right readings of some files. All of it may be left out; of workbooks it is for all
    sheets, and what can't be said of sheets counts for nothing."""

    delimiter: str | None = Field(None, min_length=1, max_length=4)
    quote: One | None = None
    escape: One | None = None
    comment: One | None = None
    encoding: Literal[*OWN, *DECODED] | None = None  # type: ignore[valid-type]
    decimal: str | None = Field(None, pattern=r"^[.,]$")
    thousands: One | None = None
    sheets: Mapping[str, SheetCorrection] = {}
    """Sheets of a workbook by their names, which may have wildcards."""

    def of_sheet(self, name: str) -> SheetCorrection:
        """All that is said of a sheet; what stands later prevails."""
        return SheetCorrection.model_validate(
            {key: value for pattern, told in self.readings if fnmatchcase(name, pattern)
             for key, value in told.items()}
        )  # fmt: skip

    @property
    def readings(self) -> tuple[tuple[str, dict[str, object]], ...]:
        """Corrections of sheets, by patterns of their names."""
        own = self.model_dump(exclude_unset=True, include=set(SheetCorrection.model_fields))
        each = [(name, one.model_dump(exclude_unset=True)) for name, one in self.sheets.items()]
        return (("*", own), *each)


class Corrections(BaseModel):
    """The whole file: corrections by the names of files, which may have wildcards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: Mapping[str, Correction] = {}

    def unused(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Notes of names that no file has."""
        return tuple(
            f"{NAME} says something of {pattern}, and there is no such file."
            for pattern in self.files
            if not any(fnmatchcase(path.name, pattern) for path in paths)
        )

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
        where = " > ".join(str(part) for part in first["loc"])
        unknown = first["type"] == "extra_forbidden"
        keys = ", ".join(Correction.model_fields) if len(first["loc"]) > 1 else "files"
        raise ConfigError(
            f"{path}, {where}: {'there is no such key' if unknown else first['msg']}",
            hint=f"There are: {keys}." if unknown else "See docs/engines.md, Files.",
        ) from None
