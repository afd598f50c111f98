"""Description folders for data sets that keep what they say of columns in files of their own.

They are written in BIRD's layout, which everything that opens a database reads, into sqlwright's
home, by their content: a data set's own folder is the user's, may be read-only, and is left as it
is. What stands there already isn't written again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlwright.boundary.home import home, make_private
from sqlwright.catalog.descriptions import DescribedColumn
from sqlwright.errors import DatasetError

HEADER = (
    "original_column_name",
    "column_name",
    "column_description",
    "data_format",
    "value_description",
)

Described = Mapping[str, Sequence[DescribedColumn]]
"""The descriptions of each table's columns."""


def description_file(columns: Sequence[DescribedColumn]) -> str:
    """A description file in BIRD's layout."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for one in columns:
        writer.writerow((one.name, one.label, one.description, "", one.value_description))
    return text.getvalue()


def file_name(table: str) -> str:
    """The name of a table's description file."""
    return f"{table}.csv".replace("/", "_").replace("\\", "_").replace("\0", "_")


def written_descriptions(described: Described) -> Path:
    """A folder with these descriptions, written where there is none yet. Raises DatasetError."""
    files = {file_name(table): description_file(columns) for table, columns in described.items()}
    told = "\0".join(f"{name}\0{text}" for name, text in sorted(files.items()))
    place = home() / "descriptions"
    folder = place / hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    if folder.is_dir():
        return folder
    try:
        make_private(place)
        aside = Path(tempfile.mkdtemp(prefix="part-", dir=place))
        for name, text in files.items():
            (aside / name).write_text(text, "utf-8")
        try:
            aside.rename(folder)
        except OSError:
            shutil.rmtree(aside, ignore_errors=True)
            if not folder.is_dir():  # else another run was faster
                raise
    except OSError as error:
        raise DatasetError(
            f"descriptions can't be written to {place}: {error.strerror or error}",
            hint="Name another folder with SQLWRIGHT_HOME.",
        ) from None
    return folder
