"""Pages of reports in a browser: quiet, within their width, legible, usable by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

PAGES = ("run", "differences", "several")
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
TOO_WIDE = """() => [...document.querySelectorAll('body *')]
    .filter((one) => !one.closest('.scroll, svg') && one.checkVisibility()
                     && one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.tagName + '.' + one.className)"""
REACHABLE = """() =>
    [...document.querySelectorAll('a, button, input, select, summary, [tabindex]')]
    .filter((one) => one.checkVisibility() && !(one.type === 'radio' && !one.checked))
    .map((one) => { one.dataset.number ??= String(window.numbers = (window.numbers ?? 0) + 1);
                    return one.dataset.number; })"""
FOCUSED = """() => {
    const one = document.activeElement;
    const drawn = one.type === 'radio' ? one.nextElementSibling : one;
    const {outlineStyle, outlineWidth} = getComputedStyle(drawn);
    return [one.dataset.number ?? '', outlineStyle !== 'none' && outlineWidth !== '0px'];
}"""
ILLEGIBLE = """() => {
    const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
    const ground = (one) => {
        for (let at = one; at; at = at.parentElement) {
            const colour = rgb(getComputedStyle(at).backgroundColor);
            if (colour.length === 3) return colour;
        }
        return [255, 255, 255];
    };
    const found = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const one = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !one.checkVisibility()) continue;
        if (['SCRIPT', 'OPTION'].includes(one.tagName)) continue;
        const style = getComputedStyle(one);
        const [a, b] = [light(rgb(one.closest('svg') ? style.fill : style.color)),
                        light(ground(one))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) found.add(`${one.tagName}.${one.getAttribute('class')} ${contrast}`);
    }
    return [...found];
}"""
"""Texts with less contrast than WCAG's level AA asks of small ones."""

Visit = Callable[..., Any]
ENTRIES = "#wrong-answers > li"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1_600])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_and_within_its_width(
    visit: Visit, name: str, width: int, theme: str
) -> None:
    page = visit(name, width=width, theme=theme)
    for _ in range(2):
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(OPEN_ALL)
    assert page.complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_every_text_is_legible(visit: Visit, name: str, theme: str) -> None:
    page = visit(name, theme=theme)
    page.evaluate(OPEN_ALL)
    assert page.evaluate(ILLEGIBLE) == []


@pytest.mark.parametrize("name", PAGES)
def test_tab_reaches_every_control_and_shows_where_it_is(visit: Visit, name: str) -> None:
    page = visit(name, width=390)
    wanted = page.evaluate(REACHABLE)
    reached = []
    for _ in range(len(wanted)):
        page.keyboard.press("Tab")
        number, visible = page.evaluate(FOCUSED)
        assert visible, f"no outline at {number} after {reached}"
        reached.append(number)
    assert reached == wanted


def test_answers_are_opened_and_filtered_by_keyboard(visit: Visit) -> None:
    page = visit("run")
    entries = page.locator(ENTRIES)
    total = entries.count()
    first = entries.first.locator("summary")
    first.focus()
    page.keyboard.press("Enter")
    assert entries.first.locator("details").get_attribute("open") is not None
    page.get_by_label("Words").focus()
    page.keyboard.type("never ORDERED")
    shown = page.locator(f"{ENTRIES}:visible").all_inner_texts()
    assert 0 < len(shown) < total
    assert all("never ordered" in one.casefold() for one in shown)
    assert page.locator("output").inner_text() == f"{len(shown)} of {total}"
    page.get_by_label("Main class").focus()
    page.keyboard.type("literal")
    assert page.locator(f"{ENTRIES}:visible").count() == 0
    assert page.complaints == []


def test_a_filter_goes_by_class_and_database(visit: Visit) -> None:
    page = visit("differences")
    page.get_by_label("Change").select_option("lost")
    page.get_by_label("Database").select_option("shop")
    shown = page.locator("#changed-answers > li:visible").all()
    assert shown
    assert {one.get_attribute("data-change") for one in shown} == {"lost"}
    assert {one.get_attribute("data-database") for one in shown} == {"shop"}


def test_colours_are_chosen_by_keyboard(visit: Visit) -> None:
    page = visit("run", theme="light")

    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = ground()
    page.get_by_label("as the system").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    dark = ground()
    assert dark != light
    page.keyboard.press("ArrowLeft")
    assert ground() == light
    page.get_by_text("dark", exact=True).click()
    page.emulate_media(media="print")
    assert ground() == "rgb(255, 255, 255)"


def test_without_a_script_everything_is_there(visit: Visit) -> None:
    page = visit("run", script=False)
    entries = page.locator(ENTRIES)
    assert entries.count() == page.locator(f"{ENTRIES}:visible").count() > 0
    assert not page.locator(".filters").is_visible()
    entries.first.locator("summary").click()
    assert entries.first.locator("h3").first.is_visible()


def test_links_lead_to_their_section(visit: Visit) -> None:
    page = visit("run", width=390)
    page.get_by_role("link", name="Wrong answers").focus()
    page.keyboard.press("Enter")
    top = page.locator("#answers").bounding_box()["y"]
    assert -1 <= top < page.viewport_size["height"]
