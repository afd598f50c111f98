"""Answers as JSON, CSV, HTML and text; nothing in them may act on what shows them."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from sqlwright.boundary.text import to_json, visible
from sqlwright.presentation.answer import (
    VERSION,
    answer_to_dict,
    answer_to_json,
    answer_to_text,
    cell_to_json,
    rows_words,
)
from sqlwright.presentation.as_csv import answer_to_csv
from sqlwright.presentation.as_html import answer_to_html
from sqlwright.schema import ColumnRef
from sqlwright.types import (
    Answer,
    Candidate,
    ExecutionResult,
    Note,
    QueryCondition,
    QueryPart,
    StepTime,
    Usage,
    ValueMatch,
)
from tests.cli import hostile

TEXTS = hostile.texts()
FORMULAS = (
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1+1", "=cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!D2", "＝1+1", "＋1", "－1", "＠x", "+49 89 123456", "sep=;",
)  # fmt: skip
MARKUP = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</pre></div><img src=x onerror=alert(1)>",
    "\"'><svg/onload=alert(1)>",
    "<!--",
    "]]>",
    "&lt;b&gt;",
    "${7*7} {{7*7}}",
    "<style>*{display:none}</style>",
    "javascript:alert(1)",
)
ALL = [*TEXTS.values(), *FORMULAS, *MARKUP]
NAMES = [*TEXTS, *FORMULAS, *MARKUP]


def answer(**changes: Any) -> Answer:
    plain = Answer(
        "answered",
        "How many?",
        "SELECT a, b FROM t",
        "sqlite",
        ("a", "b"),
        ((1, "x"), (2.5, None)),
        confidence=0.75,
        times=(StepTime("generation.embedded", 0.01),),
        recipe="local",
        trace_id="id",
    )
    return replace(plain, **changes)


def poisoned(text: str) -> Answer:
    """An answer that holds a text wherever somebody else's text can stand."""
    result = ExecutionResult((text,), ((text,),))
    match = ValueMatch(text, ColumnRef(text, text), text, 1.0)
    condition = QueryCondition(text, "=", (text,), (match.column,), (match,))
    return answer(
        question=text,
        sql=f"SELECT '{text}'",
        columns=(text, "b"),
        rows=((text, 1), (text, text)),
        message=text,
        suggestion=text,
        warnings=(Note("model", text),),
        values=(match,),
        reading=(QueryPart("query", text), QueryPart("where", text, 1, condition)),
        used_tables=(text,),
        used_columns=(ColumnRef(text, text),),
        alternatives=(
            Candidate(text, "test", result=result, note=text, warnings=(Note("model", text),)),
        ),
    )


def test_what_a_query_says_is_in_json_and_html() -> None:
    match = ValueMatch("munich", ColumnRef("customers", "city"), "München", 1.0, 2)
    condition = QueryCondition("customers.city", "!=", ("'München'",), (match.column,), (match,))
    parts = (
        QueryPart("query", "t is (customers.city from customers):"),
        QueryPart("where", "customers.city != 'München'", 1, condition),
    )
    told = answer(values=(match,), reading=parts)
    first, second = answer_to_dict(told)["reading"]
    assert first == {"kind": "query", "depth": 0, "text": parts[0].text, "condition": None}
    assert second["condition"] == {
        "subject": "customers.city",
        "operator": "!=",
        "operands": ["'München'"],
        "columns": [{"table": "customers", "column": "city"}],
        "values": answer_to_dict(told)["values"],
    }
    reader = Reader()
    reader.feed(answer_to_html(told))
    assert "munich → customers.city != 'München' (2 rows have it)" in "".join(reader.text)


@pytest.mark.parametrize(
    ("operator", "operands", "rows", "words"),
    [
        ("=", ("'a'",), (3,), "3 rows"),
        ("=", ("'a'",), (1,), "1 row"),
        ("=", ("'a'",), (None,), ""),
        ("!=", ("'a'",), (1,), "1 row has it"),
        ("in", ("'a'", "'b'"), (3, 4), "7 rows"),
        ("in", ("'a'", "'b'", "'c'"), (3, 4), "7 rows have them"),
        ("not in", ("'a'", "'b'"), (3, None), ""),
        ("is null", (), (), ""),
    ],
)
def test_how_many_rows_hold_a_value(
    operator: str, operands: tuple[str, ...], rows: tuple[int | None, ...], words: str
) -> None:
    column = ColumnRef("t", "c")
    matches = tuple(
        ValueMatch("it", column, value, 1.0, n) for value, n in zip("ab", rows, strict=False)
    )
    assert rows_words(QueryCondition("t.c", operator, operands, (column,), matches)) == words


def acting(shown: str) -> set[str]:
    """What a terminal would act on, each character looked at once however long the text."""
    return hostile.acting("".join(set(shown)))


class Reader(HTMLParser):
    """What a browser would see: elements with their attributes, and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data!r}")


ALLOWED_TAGS = {
    "div", "p", "pre", "table", "thead", "tbody", "tr", "th", "td", "bdi", "ul", "li", "details",
    "summary",
}  # fmt: skip


@pytest.mark.parametrize("text", ALL, ids=[name[:40] for name in NAMES])
def test_hostile_text_is_not_interpreted_by_json(text: str) -> None:
    shown = answer_to_json(poisoned(text))
    assert not acting(shown) - {"\n"}
    assert "</" not in shown
    assert "<!" not in shown
    assert "<script" not in shown.casefold()
    shown.encode("utf-8")
    whole = json.loads(shown)
    kept = "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)
    assert whole["question"] == kept
    assert whole["rows"][0] == [kept, 1]
    assert whole["columns"][0] == kept


@pytest.mark.parametrize("text", ALL, ids=[name[:40] for name in NAMES])
def test_hostile_text_is_not_interpreted_by_spreadsheets(text: str) -> None:
    shown = answer_to_csv(poisoned(text), safe=True)
    assert not acting(shown) - {"\n", "\t"}
    shown.encode("utf-8")
    limit = csv.field_size_limit(10 * 1024 * 1024)
    try:
        rows = list(csv.reader(io.StringIO(shown, newline="")))
    finally:
        csv.field_size_limit(limit)
    assert len(rows) == 3
    assert {len(row) for row in rows} == {2}
    for cell in (rows[0][0], rows[1][0], rows[2][1]):
        assert cell.lstrip()[:1] not in {*"=+-@＝＋－＠"}
        assert not cell.startswith(("\t", "\r", "\n"))


@pytest.mark.parametrize("text", ALL, ids=[name[:40] for name in NAMES])
def test_hostile_text_is_not_interpreted_by_html(text: str) -> None:
    reader = Reader()
    shown = answer_to_html(poisoned(text))
    reader.feed(shown)
    reader.close()
    assert reader.tags <= ALLOWED_TAGS
    assert reader.attributes <= {"style", "scope"}
    assert reader.depth == 0
    assert not acting("".join(reader.text)) - {"\n", "\t"}
    assert len(shown) < 100_000


@pytest.mark.parametrize("text", ALL, ids=[name[:40] for name in NAMES])
def test_hostile_text_is_not_interpreted_as_plain_text(text: str) -> None:
    shown = answer_to_text(poisoned(text))
    assert not acting(shown) - {"\n", "\t"}


def test_json_has_a_version_and_keys_in_a_fixed_order() -> None:
    first, second = answer_to_dict(answer()), answer_to_dict(answer(status="refused", sql=None))
    assert first["version"] == VERSION
    assert list(first) == list(second)
    assert list(first)[:5] == ["format", "version", "status", "question", "sql"]


def test_json_carries_bytes_and_numbers_json_has_no_form_for() -> None:
    assert cell_to_json(b"\x00\xff") == {"base64": "AP8="}
    assert [cell_to_json(x) for x in (math.inf, -math.inf, math.nan)] == [
        "Infinity",
        "-Infinity",
        "NaN",
    ]
    assert json.loads(to_json(cell_to_json(2**63 - 1))) == 2**63 - 1


def test_json_is_utf8_and_keeps_letters_readable() -> None:
    assert "Ødegård 山田" in answer_to_json(answer(question="Ødegård 山田"))


@pytest.mark.parametrize("text", ALL, ids=[name[:40] for name in NAMES])
def test_csv_holds_every_text_as_it_is(text: str) -> None:
    limit = csv.field_size_limit(10 * 1024 * 1024)
    try:
        rows = list(csv.reader(io.StringIO(answer_to_csv(poisoned(text)), newline="")))
    finally:
        csv.field_size_limit(limit)
    kept = "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)
    assert rows == [[kept, "b"], [kept, "1"], [kept, kept]]


def test_csv_for_spreadsheets_leaves_numbers_alone_and_marks_only_text() -> None:
    rows = ((-1, "-1"), (-2.5, "plain"), (None, 'it\'s, "quoted"'))
    lines = answer_to_csv(answer(rows=rows), safe=True).splitlines()
    assert lines == ["a,b", "-1,'-1", "-2.5,plain", ',"it\'s, ""quoted"""']


def test_csv_of_bytes_is_base64() -> None:
    assert answer_to_csv(answer(rows=((b"\x00\xff", 1),))).splitlines()[1] == "base64:AP8=,1"


def test_html_cuts_long_results_and_cells_and_says_so() -> None:
    shown = answer_to_html(answer(rows=tuple(("x" * 5_000, i) for i in range(500))))
    assert "450 more rows" in shown
    assert "(5,000 characters)" in shown
    assert len(shown) < 60_000


def test_html_shows_the_rows_of_an_answer_and_the_reason_of_a_refusal() -> None:
    assert ">2.5<" in answer_to_html(answer())
    assert "75% sure" in answer_to_html(answer())
    assert "99% sure" in answer_to_html(answer(confidence=0.996))
    assert "confidence 99%" in answer_to_text(answer(confidence=0.996))
    refused = answer_to_html(answer(status="refused", message="It would write.", sql=None))
    assert "It would write." in refused
    assert "<table" not in refused


def test_doubt_stands_above_the_rows_and_few_are_shown() -> None:
    many = tuple((f"row {i}.", i) for i in range(30))
    doubted = answer(confidence=0.31, doubt="another one is as likely", rows=many)
    for shown in (answer_to_html(doubted), answer_to_text(doubted)):
        assert shown.count("Not sure (31%): another one is as likely") == 1
        assert shown.count("31%") == 1
        assert shown.index("Not sure") < shown.index("row 0.")
        assert "row 4." in shown
        assert "row 5." not in shown
        assert "25 more rows" in shown
    assert answer_to_dict(doubted)["doubt"] == "another one is as likely"
    assert len(answer_to_dict(doubted)["rows"]) == 30
    assert answer_to_dict(answer())["doubt"] == ""


def test_html_says_what_models_took_and_each_step_once() -> None:
    times = tuple(StepTime("repair.revise", 0.5) for _ in range(3))
    shown = answer_to_html(answer(usage=Usage(4, 1_200, 80, None), times=times))
    assert "4 model calls, 1,200 tokens in, 80 out, cost unknown" in shown
    assert "repair.revise</bdi> × 3: 1,500.0 ms</li>" in shown
    assert "model call" not in answer_to_html(answer(times=times))


def test_text_aligns_columns_and_counts_hidden_rows() -> None:
    shown = answer_to_text(answer(rows=tuple((i, "x") for i in range(30))), rows=2)
    assert "a  b\n-  -\n0  x\n1  x\n… 28 more rows" in shown


@pytest.mark.parametrize(
    ("rows", "truncated", "said"),
    [
        (6, False, "… 1 more row"),
        (1_000, False, "… 995 more rows"),
        (1_000, True, "… at least 995 more rows"),
        (5, True, "… more rows, not fetched"),
    ],
)
def test_rows_that_were_never_fetched_are_not_counted_out(
    rows: int, truncated: bool, said: str
) -> None:
    found = tuple((i, "x") for i in range(rows))
    result = ExecutionResult(("a", "b"), found, truncated=truncated)
    other = Candidate("SELECT a, b FROM t", "test", result=result)
    assert f">{said}<" in answer_to_html(answer(alternatives=(other,)))
    assert said in answer_to_text(answer(rows=found, truncated=truncated), rows=5).splitlines()


def test_text_of_an_answer_without_columns_has_no_table() -> None:
    assert answer_to_text(answer(columns=(), rows=(), status="failed", message="no")) == (
        "How many?\nfailed: no\n\nSELECT a, b FROM t"
    )


def test_visible_shows_controls_as_symbols() -> None:
    assert visible("a\x1b[31mb\x07\x7f\x9b\u202e") == "a␛[31mb␇␡\\u009b\\u202e"


def test_an_answer_shows_itself() -> None:
    class Printer:
        shown = ""

        def text(self, text: str) -> None:
            self.shown += text

    printer = Printer()
    whole = answer()
    whole._repr_pretty_(printer, cycle=False)
    assert printer.shown == answer_to_text(whole)
    assert whole._repr_html_() == answer_to_html(whole)
    assert whole.to_dict() == answer_to_dict(whole)
    assert json.loads(whole.to_json()) == json.loads(answer_to_json(whole))
    formula = answer(rows=(("=1", 2),))
    assert formula.to_csv() == "a,b\n'=1,2\n"
    assert formula.to_csv(safe=False) == "a,b\n=1,2\n"


def test_printed_it_is_read_like_text() -> None:
    answer = Answer(
        "answered", "How many?", "SELECT 1", "sqlite", columns=("n",), rows=((1,),), confidence=0.8
    )
    assert str(answer) == answer_to_text(answer)
    for part in ("How many?", "SELECT 1", "confidence 80%"):
        assert part in str(answer)


def test_the_json_has_the_reason_of_a_refusal_and_the_kind_of_each_note() -> None:
    note = Note("date", "“May” was read as 2026-05-01 to 2026-05-31")
    form = Answer("refused", "q", None, "sqlite", refusal="language", warnings=(note,)).to_dict()
    assert form["refusal"] == "language"
    assert form["warnings"] == [{"kind": "date", "text": note.text}]
    assert form["version"] == 2
