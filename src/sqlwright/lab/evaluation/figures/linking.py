"""Schema linking: what the linker found, and what each step that narrows the schema left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.records import Record


class Linker(Family):
    """Recall and precision of the linker's best columns, over the questions that have some."""

    def __init__(self) -> None:
        self._questions = self._whole = 0
        self._needed = self._found = self._kept = 0
        self._needed_tables = self._found_tables = 0

    def add(self, record: Record, right: bool) -> None:
        del right
        if not record.needed_columns or not record.kept_columns:
            return
        self._questions += 1
        self._whole += record.found_columns == record.needed_columns
        self._needed += record.needed_columns
        self._found += record.found_columns
        self._kept += record.kept_columns
        self._needed_tables += record.needed_tables
        self._found_tables += record.found_tables

    def result(self) -> dict[str, object]:
        return {
            "linker": {
                "column_recall": _ratio(self._found, self._needed),
                "column_precision": _ratio(self._found, self._kept),
                "table_recall": _ratio(self._found_tables, self._needed_tables),
                "all_columns_found": Share(self._whole, self._questions).as_dict(),
            }
        }


class Views(Family):
    """Of the whole schema and after each step that may narrow it: recall and precision of what is
    shown over all questions together, columns and tables left at the mean, the columns by database,
    and how often all that a question needs is still there. Empty if no step narrows.

    Each step over the questions for which it ran, `questions`; those whose gold query names no
    column, such as count(*), aren't among them.
    """

    def __init__(self) -> None:
        self._views: defaultdict[str, _View] = defaultdict(_View)

    def add(self, record: Record, right: bool) -> None:
        del right
        if not record.needed_columns:
            return
        for step, counts in record.views.items():
            self._views[step].add(record, counts)

    def result(self) -> dict[str, object]:
        """The figures by step."""
        return {"views": {step: view.figures() for step, view in self._views.items()}}


class _View:
    """The sums of one step."""

    def __init__(self) -> None:
        self._sums: Counter[str] = Counter()
        self._by_database: dict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, record: Record, counts: Mapping[str, int]) -> None:
        self._sums.update(counts)
        self._sums.update(
            questions=1,
            needed_columns=record.needed_columns,
            needed_tables=record.needed_tables,
            all_columns=counts["found_columns"] == record.needed_columns,
            all_tables=counts["found_tables"] == record.needed_tables,
        )
        shown = self._by_database[record.db_id]
        shown[0] += counts["columns"]
        shown[1] += 1

    def figures(self) -> dict[str, object]:
        of, questions = self._sums, self._sums["questions"]
        return {
            "questions": questions,
            "column_recall": _ratio(of["found_columns"], of["needed_columns"]),
            "column_precision": _ratio(of["found_columns"], of["columns"]),
            "table_recall": _ratio(of["found_tables"], of["needed_tables"]),
            "table_precision": _ratio(of["found_tables"], of["tables"]),
            "all_columns_shown": Share(of["all_columns"], questions).as_dict(),
            "all_tables_shown": Share(of["all_tables"], questions).as_dict(),
            "columns": of["columns"] / questions,
            "tables": of["tables"] / questions,
            "columns_by_database": {
                db_id: total / count for db_id, (total, count) in sorted(self._by_database.items())
            },
        }


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
