"""Writes small .xlsx files: what a test says, and no more."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from html import escape
from typing import Any

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_FORMATS = (0, 14, 22, 21, 46)
"""Formats of numbers by their ids: general, day, moment, time, span."""
_EPOCH = datetime(1899, 12, 30)


class Error(str):
    """A cell that holds an error."""


class Formula(str):
    """A cell with a formula whose value, a number, was stored."""

    value: float = 0


def workbook(
    sheets: Mapping[str, Sequence[Sequence[Any]]],
    *,
    hidden: Sequence[str] = (),
    merged: Mapping[str, Sequence[str]] | None = None,
) -> bytes:
    """A workbook of these sheets, each a list of rows; `merged` has ranges such as A1:C1."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        names = list(sheets)
        packed.writestr("[Content_Types].xml", _content_types(len(names)))
        packed.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" '
            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        packed.writestr("xl/_rels/workbook.xml.rels", _relations(len(names)))
        packed.writestr("xl/workbook.xml", _book(names, hidden))
        packed.writestr("xl/styles.xml", _styles())
        for number, name in enumerate(names, 1):
            ranges = (merged or {}).get(name, ())
            packed.writestr(f"xl/worksheets/sheet{number}.xml", sheet_xml(sheets[name], ranges))
    return made.getvalue()


def sheet_xml(rows: Sequence[Sequence[Any]], merged: Sequence[str] = ()) -> str:
    """The XML of one sheet."""
    body = "".join(
        f'<row r="{number}">{"".join(_cell(at, number, cell) for at, cell in enumerate(row))}</row>'
        for number, row in enumerate(rows, 1)
    )
    ranges = "".join(f'<mergeCell ref="{one}"/>' for one in merged)
    tail = f"<mergeCells>{ranges}</mergeCells>" if ranges else ""
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData>{tail}</worksheet>'


def _cell(at: int, number: int, value: Any) -> str:
    if value is None:
        return ""
    place = f'r="{_letters(at)}{number}"'
    if isinstance(value, Error):
        return f'<c {place} t="e"><v>{value}</v></c>'
    if isinstance(value, Formula):
        return f"<c {place}><f>{escape(value)}</f><v>{value.value}</v></c>"
    if isinstance(value, str):
        return f'<c {place} t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c {place} t="b"><v>{int(value)}</v></c>'
    style, stored = _number(value)
    return f'<c {place} s="{style}"><v>{stored}</v></c>'


def _number(value: Any) -> tuple[int, float]:
    """The style of a value, and the number that stands for it."""
    if isinstance(value, datetime):
        return 2, (value - _EPOCH) / timedelta(days=1)
    if isinstance(value, date):
        return 1, (datetime(value.year, value.month, value.day) - _EPOCH).days
    if isinstance(value, time):
        return 3, (value.hour * 3600 + value.minute * 60 + value.second) / 86_400
    if isinstance(value, timedelta):
        return 4, value / timedelta(days=1)
    return 0, value


def _letters(at: int) -> str:
    return (_letters(at // 26 - 1) if at >= 26 else "") + chr(ord("A") + at % 26)


def _content_types(count: int) -> str:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{kind}.worksheet+xml"/>'
        for n in range(1, count + 1)
    )
    return (
        f'<Types xmlns="{_TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>{parts}'
        f'<Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/></Types>'
    )


def _relations(count: int) -> str:
    sheets = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, count + 1)
    )
    styles = f'<Relationship Id="rId0" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    return f'<Relationships xmlns="{_PACKAGE}">{sheets}{styles}</Relationships>'


def _book(names: Sequence[str], hidden: Sequence[str]) -> str:
    sheets = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}" '
        f'state="{"hidden" if name in hidden else "visible"}"/>'
        for n, name in enumerate(names, 1)
    )
    return f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>'


def _styles() -> str:
    formats = "".join(f'<xf numFmtId="{one}" applyNumberFormat="1"/>' for one in _FORMATS)
    return f'<styleSheet xmlns="{_MAIN}"><cellXfs count="5">{formats}</cellXfs></styleSheet>'
