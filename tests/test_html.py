"""The HTML kit: text stays text, pages stand alone, and nothing in them acts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from sqlwright.lab.evaluation.pages.report import (
    Entry,
    Opening,
    Query,
    ReportTable,
    Section,
    report_page,
)
from sqlwright.presentation.html.charts import Bar, Part, bars, figure, parts
from sqlwright.presentation.html.page import write_page
from sqlwright.presentation.html.templates import Html, code, foreign, part, render
from sqlwright.presentation.sql_text import sql_pieces
from sqlwright.sql.pieces import cutting
from tests.cli import hostile

SQLITE = cutting("sqlite")
TEXTS = hostile.texts()
MARKUP = {
    "script": "<script>alert(1)</script>",
    "end of an element": "</code></pre></main><img src=x onerror=alert(1)>",
    "end of an attribute": "\"'><svg/onload=alert(1)>",
    "comment": "<!-- ",
    "style": "</style><style>*{display:none}",
}
ALL = TEXTS | MARKUP
VOID = {"meta", "input"}
"""Elements that have no content and no end."""


class Reader(HTMLParser):
    """What a browser would see, and whether every element ends where it should."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: dict[str, set[str]] = {}
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["script"]):
            self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")


def everything(text: str) -> str:
    """A page with a text in each place of each block."""
    cells = [[text, 1, None, b"\0"], [text, text, 2.5, 3]]
    queries = [
        Query(text, code(text, SQLITE), {"columns": [text, "b", "c", "d"], "rows": cells}),
        Query(text, code(f"SELECT '{text}' -- {text}", SQLITE), {"error": text}),
        Query(text, part("parts.html", "verbatim", text), {"right": text}),
    ]
    section = Section(
        text,
        said=[text],
        listed=[text, (text, text, text)],
        figures=[
            bars([Bar(text, 0.5, text, 0.1, 0.9, text)]),
            figure(text, parts([Part(text, 0.5, text, 0)]), about=text, head=[text], rows=[[text]]),
            part("parts.html", "commas", [text, text]),
            part("parts.html", "name", text),
        ],
        notes=[text],
        tables=[
            ReportTable([text, text], [(text, text)], (1,), text, title=text, about=text),
            ReportTable([text], [[text]], folded=text),
        ],
        beneath=[text],
        rest=text,
        choices={"y": (text, [(text, text)])},
        entries=[Entry(text, [text], {"y": text}, [text], text, [text], queries, text, text)],
        list_place="x",
    )
    tiles = [(text, text, text)]
    opening = Opening((text, text, text), text, [text], [text], tiles, [foreign(text)])
    return report_page(text, opening, [section])


@pytest.mark.parametrize("text", ALL.values(), ids=[name[:40] for name in ALL])
def test_hostile_text_stays_text_wherever_it_stands(text: str) -> None:
    short = text[:3_000]
    plain, poisoned = Reader(everything("plain")), Reader(everything(short))
    assert poisoned.tags == plain.tags
    assert poisoned.attributes.keys() == plain.attributes.keys()
    assert not hostile.acting(poisoned.text) - {"\n", "\t"}
    for values in poisoned.attributes.values():
        assert not hostile.acting("".join(values))


def test_a_page_needs_nothing_else_and_forbids_it() -> None:
    shown = everything("plain")
    seen = Reader(shown.removeprefix("<!doctype html>\n"))
    assert not seen.tags & {"link", "img", "iframe", "object", "form", "a", "base"}
    assert shown.count("<script>") == 1  # ours, known to the policy by its hash
    assert not seen.attributes.keys() & {"src", "href", "action", "onclick", "onload"}
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    assert any(one.startswith(policy) for one in seen.attributes["content"])
    style = re.search(r"<style>(.*?)</style>", shown, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_a_page_is_made_for_reading_aloud() -> None:
    shown = everything("plain")
    assert '<html lang="en">' in shown
    assert re.findall(r"<(h\d)", shown) == ["h1", "h2", *["h3"] * 5]
    assert shown.count('<th scope="col"') == 8  # of tables and of rows
    assert shown.count('<th scope="row"') == 3
    assert shown.count('role="region" tabindex="0" aria-label="') == shown.count('class="scroll"')


@pytest.mark.parametrize("folder", ["presentation/html/templates", "lab/templates"])
def test_no_template_has_what_could_load_or_run(folder: str) -> None:
    for one in files("sqlwright").joinpath(*folder.split("/")).iterdir():
        text = one.read_text("utf-8").replace("<script>{{ script }}</script>", "")
        assert not re.search(r"<(script|img|iframe|link|object|form|base)\b", text), one.name
        assert not re.search(r"""\s(on\w+|src|href)=(?!"#)""", text), one.name


@pytest.mark.parametrize("name", ["page.css", "filter.js"])
def test_nothing_in_our_style_or_script_ends_its_element(name: str) -> None:
    text = files("sqlwright").joinpath("presentation", "html", name).read_text("utf-8")
    assert not re.search(r"<[!/?a-zA-Z]", text)


def test_a_template_gets_every_value_it_names() -> None:
    with pytest.raises(UndefinedError, match="policy"):
        render("page.html", title="x")


def test_only_markup_of_the_kit_is_markup() -> None:
    said = part("parts.html", "said", "a < b & c").markup
    assert said == '<p><bdi class="foreign">a &lt; b &amp; c</bdi></p>'
    table = part("parts.html", "table", ["<b>"], [[Html("<strong>x</strong>")]]).markup
    assert "&lt;b&gt;" in table
    assert '<th scope="row"><strong>x</strong></th>' in table


def test_sections_without_content_are_left_out() -> None:
    shown = report_page("A page", Opening("A headline"), [Section("A title", "place")])
    assert "A title" not in shown
    assert "<nav" not in shown


def test_a_query_is_coloured_and_reads_as_before() -> None:
    sql = "SELECT name, 'it''s <b>' FROM t WHERE a.select > 1.5 -- the end"
    shown = code(sql, SQLITE).markup
    assert Reader(shown).text.replace("\n", " ") == sql
    assert '<span class="sql-keyword">SELECT</span>' in shown
    assert '<span class="sql-string">&#39;it&#39;&#39;s &lt;b&gt;&#39;</span>' in shown
    assert '<span class="sql-number">1.5</span>' in shown
    kinds = [(piece.kind, sql[piece.start : piece.end]) for piece in sql_pieces(sql, SQLITE)]
    assert ("keyword", "select") not in kinds  # a column's name
    assert kinds[-1] == ("comment", "-- the end")


def test_a_bar_stays_within_its_room() -> None:
    assert "width:100.0%" in part("parts.html", "bar", 7).markup
    assert "width:0.0%" in part("parts.html", "bar", -1).markup


def test_a_page_is_whole_or_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    write_page(place, "<p>ä")
    assert place.read_text("utf-8") == "<p>ä"
    with pytest.raises(UnicodeEncodeError):
        write_page(place, "\ud800")
    assert place.read_text("utf-8") == "<p>ä"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
