"""Readings of files: guesses, the user's corrections, and notes of what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from sqlwright.database.address import COMPRESSED
from sqlwright.database.failures import READ_FAILURES, Failure, ReadFailed, read_failure
from sqlwright.database.files.corrections import NAME, Correction, Corrections
from sqlwright.database.files.csv.guess import CsvGuess
from sqlwright.database.files.described import described
from sqlwright.database.files.encodings import DECODED, Encoding, address_of, encoding_of
from sqlwright.database.files.excel.sheets import sheet_tables
from sqlwright.database.files.sources import Source, parted, readable_name, unique
from sqlwright.database.files.table import TableFile
from sqlwright.database.files.together import together, union
from sqlwright.database.reader import DatabaseReader
from sqlwright.errors import DatabaseUnavailable

_ALIKE = 50
"""Files of a table whose shape is compared at first."""
_MOST_LOOKED_AT = 400
"""Files that are all looked at where some of them differ."""

Asking = Callable[[Mapping[str, Any]], AbstractContextManager[DatabaseReader]]
"""Reads by a connection whose opening has these entries, too."""


class TooSlow(Exception):
    """Looking through a file was stopped; its path."""


def guess(
    ask: Asking, sources: tuple[Source, ...], corrections: Corrections
) -> tuple[tuple[TableFile, ...], tuple[str, ...]]:
    """The tables that files make, and notes of those that can't be read. Raises ConfigError, and
    DatabaseUnavailable where none can be."""
    texts = (path for one in sources if one.kind in {"csv", "json"} for path in one.paths)
    decoded = [address_of(path, code) for path in texts for code in DECODED]
    with ask({}) as connection, ask({"decoded": decoded}) as decoding:
        return _Guesses(ask, connection, decoding, corrections).all(sources)


@dataclass(frozen=True, slots=True)
class _Guesses:
    ask: Asking
    connection: DatabaseReader
    decoding: DatabaseReader
    """Reads files in encodings that DuckDB doesn't know."""
    corrections: Corrections

    def all(self, sources: tuple[Source, ...]) -> tuple[tuple[TableFile, ...], tuple[str, ...]]:
        found: list[TableFile] = []
        failed: list[tuple[Source, Failure]] = []
        notes: list[str] = []
        for source in unique(self._corrected(sources)):
            try:
                if source.kind == "excel":
                    made, told = sheet_tables(self.ask, source, self.corrections)
                    found += made
                    notes += told
                else:
                    found += self._tables(source)
            except READ_FAILURES as error:
                failure = read_failure(error)
                if failure.kind == "interrupted":
                    raise TooSlow(source.paths[0]) from None
                failed.append((source, failure))
        if failed and not found:
            source, failure = failed[0]
            raise DatabaseUnavailable(
                f"{source.paths[0]} can't be read{self._as_said(source)}: {failure.message}.",
                hint="Check that it is what its name says, or correct how it is read in a file "
                f"{NAME} beside it.",
            )
        notes += (
            f"{source.paths[0].name} is left out, it can't be read{self._as_said(source)}: "
            f"{failure.message}."
            for source, failure in failed
        )
        apart = _told_apart(found)
        names = unique(Source(one.name, one.kind, one.paths) for one in apart)
        tables = (replace(one, name=named.name) for one, named in zip(found, names, strict=True))
        return tuple(tables), tuple(notes)

    def _as_said(self, source: Source) -> str:
        """Words on the corrections of a file that can't be read, which may be why."""
        said = self.corrections.of(source.paths[0]).model_fields_set
        return f" as {NAME} says ({', '.join(sorted(said))})" if said else ""

    def _corrected(self, sources: tuple[Source, ...]) -> Iterator[Source]:
        """The sources without what is left out, those of one table's name together."""
        named: dict[tuple[str, str], Source] = {}
        for source in sources:
            paths = tuple(p for p in source.paths if not self.corrections.of(p).leave_out)
            if not paths:
                continue
            name = self.corrections.of(paths[0]).table
            if name is None:
                yield replace(source, paths=paths)
                continue
            known = named.get((name, source.kind))
            before = known.paths if known is not None else ()
            named[name, source.kind] = Source(name, source.kind, before + paths)
        yield from named.values()

    def _tables(self, source: Source) -> Iterator[TableFile]:
        """One table of files that are alike; else one of each."""
        correction = self.corrections.of(source.paths[0])
        if len(source.paths) == 1:
            yield self._one(source, correction)
            return
        alone = [self._group(source, group) for group in self._groups(source)]
        whole = alone[0] if len(alone) == 1 else together(alone, said=correction.table is not None)
        if whole is not None:
            note = f"{len(source.paths):,} files are one table."
            yield replace(whole, notes=(*whole.notes, note))
            return
        for part in parted(source):
            yield self._one(part, self.corrections.of(part.paths[0]))

    def _groups(self, source: Source) -> list[list[TableFile]]:
        """The files of a table by the way in which they are read, each looked at alone; of many
        files only some are, as long as those are alike."""
        step = max(1, len(source.paths) // _ALIKE)
        for paths in (source.paths[::step], source.paths):
            groups: dict[object, list[TableFile]] = {}
            for path in paths:
                one = replace(source, paths=(path,))
                made = self._one(one, self.corrections.of(path), short=True)
                groups.setdefault(_shape(made), []).append(made)
            if len(groups) == 1:
                (alone,) = groups.values()
                return [[replace(alone[0], paths=source.paths), *alone[1:]]]
            if step == 1 or len(source.paths) > _MOST_LOOKED_AT:
                break
        return [
            [replace(group[0], paths=tuple(one.paths[0] for one in group)), *group[1:]]
            for group in groups.values()
        ]

    def _group(self, source: Source, alone: Sequence[TableFile]) -> TableFile:
        """One table of files that are read in the same way; the first has the paths of all."""
        first = alone[0]
        kinds: tuple[str, ...] = ()
        if any(one.columns != first.columns for one in alone):
            # A column that is empty in some has no type there; who reads them whole knows.
            whole = [
                self._one(replace(source, paths=one.paths[:1]), self.corrections.of(one.paths[0]))
                for one in alone
            ]
            known = dict(union(whole))
            kinds = tuple(known.get(name, "VARCHAR") for name, _ in first.columns)
        correction = self.corrections.of(first.paths[0])
        return self._one(replace(source, paths=first.paths), correction, kinds=kinds)

    def _one(
        self, source: Source, correction: Correction,
        *, kinds: tuple[str, ...] = (), short: bool = False,
    ) -> TableFile:  # fmt: skip
        """One table, its columns of the types given if there are any; with `short` only what tells
        whether files are alike."""
        if source.kind not in {"csv", "json"}:
            return described(self.connection, source, correction, kinds)
        csv = source.kind == "csv"
        encoding = (
            Encoding(correction.encoding) if correction.encoding
            else encoding_of(source.paths[0], csv=csv)
        )  # fmt: skip
        if encoding.name in DECODED and source.paths[0].name.lower().endswith(COMPRESSED):
            message = f"its encoding is {encoding.name}, and it is packed: save it as UTF-8"
            raise ReadFailed(Failure("unavailable", message))
        reader = self.decoding if encoding.name in DECODED else self.connection
        if csv:
            return CsvGuess(reader, source, correction, encoding).table(kinds, short=short)
        made = described(reader, source, correction, kinds, encoding.name)
        return replace(made, quoting=encoding.notes)


def _told_apart(tables: Sequence[TableFile]) -> Iterator[TableFile]:
    """The tables, sheets that are called like another table after their files, too."""
    count = Counter(one.name.lower() for one in tables)
    for one in tables:
        if one.sheets and count[one.name.lower()] > 1:
            part = one.sheets[0]
            yield replace(one, name=readable_name(f"{part.path.stem} {part.sheet}"))
        else:
            yield one


def _shape(one: TableFile) -> object:
    names = tuple(name for name, _ in one.columns)
    if one.kind != "csv":
        return names
    said = tuple((what, tuple(told)) for what, told in sorted(one.said().items()))
    return names, tuple(sorted(one.options.items())), one.encoding, said
