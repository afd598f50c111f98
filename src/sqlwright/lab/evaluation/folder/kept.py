"""The records of a run that is being made, known by their places in the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation import json_lines, records
from sqlwright.lab.evaluation.folder.whole_files import whole_file
from sqlwright.lab.evaluation.records import PREDICTIONS, Record


class KeptRecords:
    """The file of a folder's records. One process writes it at a time (`lock.locked`)."""

    def __init__(self, folder: Path) -> None:
        """Read which questions have a record. Raises DatasetError for a line that is none."""
        self._folder = folder
        self._path = folder / PREDICTIONS
        self._places: dict[str, int] = {}
        for place, row in records.placed_rows(folder):
            if not isinstance(row.get("id"), str):
                raise DatasetError(f"{self._path} has a record without an id")
            self._places.setdefault(row["id"], place)

    def __contains__(self, question: object) -> bool:
        return question in self._places

    def __len__(self) -> int:
        return len(self._places)

    def append(self, record: Record) -> None:
        """Add one, on disk before this returns."""
        records.append(self._folder, record)
        # Only its being there counts from now on: places are read again where they are needed.
        self._places[record.id] = -1

    def arrange(self, order: Iterable[str]) -> None:
        """Put the records in the order of these ids, any others behind them as they stand: copied
        from place to place into a file aside, which then takes this one's name."""
        found = KeptRecords(self._folder)
        places = found._places
        known = [question for question in order if question in places]
        listed = set(known)
        known += [question for question in places if question not in listed]
        if known == list(places):
            return
        with self._path.open("rb") as source, whole_file(self._path) as target:
            for question in known:
                source.seek(places[question])
                target.write(source.readline())

    def at(self, questions: Iterable[str]) -> Iterator[Record | None]:
        """The record of each of the questions, None where there is none."""
        places = KeptRecords(self._folder)._places
        for question in questions:
            place = places.get(question)
            found = None if place is None else json_lines.row_at(self._path, place)
            yield None if found is None else Record(**found)
