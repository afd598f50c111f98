"""A Chromium that reads files alone, and pages for it; skipped where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.lab.evaluation.pages.difference_page import difference_page
from sqlwright.lab.evaluation.pages.differences import difference
from sqlwright.lab.evaluation.pages.run_page import run_page
from sqlwright.lab.evaluation.pages.several_page import several_page
from tests.cli import hostile
from tests.evaluation.run_folders import measured, questions, right, wrong

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
LONG = "a_name_without_any_place_to_break_" * 6
"""A name that would widen a page that can't break it."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window. Its driver keeps an event loop running in this thread until it is
    stopped: for the whole session, tests after these couldn't run a loop of their own."""
    driver = pytest.importorskip(
        "playwright.sync_api", reason="playwright isn't installed: pip install '.[browser]'"
    )
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium isn't installed: apt-get install chromium")
    with driver.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of a run, two runs' differences and several runs, with names and texts that do
    their worst."""
    folder = tmp_path_factory.mktemp("pages")
    answered = questions(30)
    answered[0] = replace(wrong(answered[0]), db_id=LONG, question=LONG, sql=f"SELECT {LONG}")
    worst = "".join(hostile.texts().values())[:2_000]
    answered[1] = replace(wrong(answered[1]), question=worst, evidence=worst, sql=worst)
    after = [wrong(one) if n % 4 == 0 else right(one) for n, one in enumerate(answered)]
    first = measured(folder / "first", answered, every_key=True)
    second = measured(folder / f"second_{LONG}"[:100], after, recipe=LONG)
    told = {
        "run": run_page(first),
        "differences": difference_page(difference(first, second)),
        "several": several_page([first, second]),
    }
    for name, text in told.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: folder / f"{name}.html" for name in told}


@pytest.fixture
def visit(browser: Any, pages: dict[str, Path]) -> Iterator[Callable[..., Any]]:
    """Opens one of the pages. What the console says or the page asks for besides itself is in
    `page.complaints`."""
    contexts = []

    def opened(name: str, *, width: int = 1_600, theme: str = "light", script: bool = True) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            reduced_motion="reduce",
            java_script_enabled=script,
        )
        contexts.append(context)
        page = context.new_page()
        address = pages[name].as_uri()
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on(
            "request",
            lambda asked: asked.url == address or page.complaints.append(asked.url),
        )
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
