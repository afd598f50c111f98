"""The page of a comparison in a real browser: it fits, it can be read, it loads nothing.

Skipped where there is no Chromium, or no client for its protocol.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.lab.comparison.asking import compare
from tests.comparison.test_comparison import BROKEN, CITIES, NAMES, QUESTION, models

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
PATIENCE = 30
"""Seconds to wait for the browser to begin."""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CONTRASTS = """
(() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
    return .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  };
  const ground = node => {
    for (let n = node; n; n = n.parentElement) {
      const colour = rgb(getComputedStyle(n).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim()) continue;
    const a = light(rgb(getComputedStyle(node).color)), b = light(ground(node));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) found.push(texts.currentNode.textContent + ': ' + ratio.toFixed(2));
  }
  return JSON.stringify(found);
})()
"""

Page = Callable[..., Any]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a tab of a browser that runs without a window."""
    if BROWSER is None:
        pytest.skip("there is no Chromium on this machine")
    pytest.importorskip("websockets.sync.client", reason="a client for the browser's protocol")
    profile = tmp_path_factory.mktemp("profile")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
    with subprocess.Popen(
        [BROWSER, *options, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        try:
            yield _address(profile / "DevToolsActivePort")
        finally:
            running.kill()


def _address(told: Path) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if told.is_file() and len(lines := told.read_text().splitlines()) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    pytest.skip("Chromium doesn't begin on this machine")


@pytest.fixture(scope="module")
def file(database_files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with different results, a repair, a recipe that wasn't asked and a very long word."""
    folder = tmp_path_factory.mktemp("page")
    given = {"models": models(BROKEN, CITIES, NAMES), "environ": {}, "home": folder}
    with api.open(database_files["shop"], **given) as session:
        told = compare(
            session,
            f"{QUESTION} {'a_very_long_word_' * 12}",
            ["local", "local-unscored", "chess-ir-ss-cg", "chase", "baseline"],
            overrides_of={
                "baseline": ["generation.direct.sampling.model=openai/none"],
                "chase": ["samples.count=2"],
            },
        )
    place = folder / "page.html"
    place.write_text(told.to_html(), encoding="utf-8")
    return place


@pytest.fixture
def page(browser: str, file: Path) -> Iterator[Page]:
    """Runs a command of the browser's protocol on the page of a comparison."""
    from websockets.sync.client import connect

    numbers = itertools.count(1)
    with connect(browser, max_size=None) as socket:

        def send(method: str, parameters: dict[str, Any], session: str = "") -> Any:
            number = next(numbers)
            message = {"id": number, "method": method, "params": parameters}
            socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
            while True:
                reply = json.loads(socket.recv(timeout=PATIENCE))
                if reply.get("id") == number:
                    return reply["result"]

        target = send("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = send("Target.attachToTarget", {"targetId": target, "flatten": True})

        def run(method: str, parameters: dict[str, Any]) -> Any:
            return send(method, parameters, attached["sessionId"])

        run("Page.navigate", {"url": file.as_uri()})
        until = time.monotonic() + PATIENCE
        while value(run, "document.readyState + document.title.length") in {"complete0", "loading"}:
            assert time.monotonic() < until
            time.sleep(0.05)
        yield run
        send("Target.closeTarget", {"targetId": target})


def value(run: Page, expression: str) -> Any:
    return run("Runtime.evaluate", {"expression": expression})["result"].get("value")


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_page_never_scrolls_sideways(page: Page, width: int) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 768}
    page("Emulation.setDeviceMetricsOverride", size)
    assert value(page, "window.innerWidth") == width
    assert value(page, OVERFLOW) == 0
    assert value(page, "document.querySelectorAll('.card').length") > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(page: Page, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page("Emulation.setEmulatedMedia", {"features": features})
    ground = value(page, "getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    assert json.loads(value(page, CONTRASTS)) == []


def test_the_page_loads_nothing(page: Page) -> None:
    assert value(page, "performance.getEntriesByType('resource').length") == 0
    assert value(page, "document.scripts.length + document.images.length") == 0
