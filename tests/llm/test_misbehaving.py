"""An endpoint that misbehaves costs a question its answer at most: no exception, no request beyond
the budget, no memory, no hanging. `benchmarks/misbehaving.py` also looks at how late it comes."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from benchmarks.misbehaving import Asker, Asking, Ended, people

from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.vendors.connecting import Service, connect
from sqlwright.llm.vendors.providers import PROVIDERS
from sqlwright.messages import Missing
from sqlwright.protocols import Run
from tests.llm.doubles import QUICK, Books, ask
from tests.llm.misbehaving import MODES, Misbehaving

HANGING = Asking(seconds=1.0, retrying=0.1)
"""For modes that end by the limit; the others have time, however busy the machine is."""
ANSWERING = Asking(seconds=60.0, retrying=0.1)
ANSWERED = ("stream", "early hints first", "body longer than told", "an answer nobody asked for",
            "usage 0", "usage negative", "usage 10^400", "usage 1e999", "usage NaN", "usage texts",
            "cost of 10^400", "a query at the end of 1 MB", "half a surrogate")  # fmt: skip
COUNTED = ("usage missing", "usage 0", "usage negative", "usage 10^400", "usage 1e999",
           "usage NaN", "usage texts", "usage 10^18", "usage fractions")  # fmt: skip

OF_PACKAGES = {
    "3 MB of JSON": "larger than is taken",
    "endless body": "larger than is taken",
    "a million choices": "larger than is taken",
    "gzip of 200 MB": "compressed",
    "deep lists": "no valid JSON",
    "deep error": "(400)",
    "a number of a million digits": "no valid JSON",
    "nothing": "no valid JSON",
    "a list": "no valid JSON",
}
"""Modes that the packages of vendors would read into memory, and what is said instead."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """What became of a question in each mode. A question that doesn't end raises."""
    database = people(tmp_path_factory.mktemp("misbehaving"))
    answering = [mode for mode in MODES if mode in {*ANSWERED, *COUNTED}]
    hanging = [mode for mode in MODES if mode not in answering]
    shares = [(ANSWERING, answering), (HANGING, hanging[::2]), (HANGING, hanging[1::2])]
    with ThreadPoolExecutor(len(shares)) as pool:
        found = pool.map(lambda share: _all(database, *share), shares)
        return {one.mode: one for some in found for one in some}


def _all(database: Path, asking: Asking, modes: list[str]) -> list[Ended]:
    asker = Asker(database, asking)
    try:
        return [asker.ask(mode) for mode in modes]
    finally:
        asker.close()


def test_there_are_many_modes() -> None:
    assert len(MODES) >= 60


@pytest.mark.parametrize("mode", MODES)
def test_the_question_ends_with_an_answer_or_a_reason(ended: dict[str, Ended], mode: str) -> None:
    one = ended[mode]
    assert one.wrong(HANGING) == []
    assert one.status == "answered" or one.message
    assert one.requests <= one.calls


@pytest.mark.parametrize("mode", ANSWERED)
def test_what_can_be_used_is_used(ended: dict[str, Ended], mode: str) -> None:
    assert ended[mode].status == "answered"


def test_tokens_that_nobody_reports_are_counted(ended: dict[str, Ended]) -> None:
    for mode in COUNTED:
        assert 100 < ended[mode].tokens < 20_000, mode


@pytest.mark.parametrize("provider", ["anthropic", "google"])
@pytest.mark.parametrize("mode", OF_PACKAGES)
def test_the_vendors_packages_are_bounded_too(provider: str, mode: str) -> None:
    pytest.importorskip({"anthropic": "anthropic", "google": "google.genai"}[provider])
    engine = Engine()
    with Misbehaving(MODES[mode]) as endpoint:
        url = endpoint.url.removesuffix("/v1")
        service = Service(
            PROVIDERS[provider], "m", url, "x", key_hosts=("127.0.0.1",), throttle=QUICK
        )
        model = connect(service)
        (outcome,) = engine.run_all(model, [ask("q")], run=Run(), meter=Books())
        engine.close()
    (missing,) = outcome.samples
    assert isinstance(missing, Missing)
    assert OF_PACKAGES[mode] in missing.message
