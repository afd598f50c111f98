"""The excerpts of docs/how-a-question-travels.md, made by asking its question.

`python -m tests.travel` writes them into the page; the test compares. Each stands in a fence that
is called as the excerpt.
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import sqlwright
from sqlwright.demo.business import write_business
from sqlwright.running.trace import read_trace

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-a-question-travels.md"
SOURCE = ROOT / "src" / "sqlwright"
QUESTION = "Which customer in Munich has the most orders?"
FENCE = re.compile(r"^```text (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = 4
"""Links shown of each kind."""


class Travelled:
    """What the trace of one run says, and which of our files were in use for it."""

    def __init__(self, folder: Path) -> None:
        self.files: set[str] = set()
        self.numbers: dict[str, int] = {}
        file = folder / "shop.sqlite"
        write_business(file)
        with sqlwright.open(file, home=folder, prepare=True, record=False) as shop:
            shop.warm()  # prepared, so that nothing depends on how fast this machine is
        sys.setprofile(self._note)
        threading.setprofile(self._note)
        try:
            # However busy this machine is.
            patient = ["repair.execution_guided.seconds=60", "repair.veto.seconds=60"]
            with sqlwright.open(file, home=folder, recipe="local", overrides=patient) as shop:
                self.answer = shop.ask(QUESTION)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        (path,) = (folder / "traces").iterdir()
        trace = read_trace(path)
        self.events, self.ended = trace.events, trace.answer
        self.files.add("recipes/local.yaml")

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(SOURCE):
                self.files.add(path.relative_to(SOURCE).as_posix())

    def excerpts(self) -> dict[str, str]:
        """Each by its name."""
        texts = {
            "start": [*self._start()],
            "values": [*self._values()],
            "links": [*self._links()],
            "candidates": [*self._candidates()],
            "executed": [*self._executed("repair.execution_guided"), *self._results()],
            "mended": [*self._executed("repair.veto"), *self._left("repair.veto")],
            "judged": [*self._judged()],
            "answer": [*self._answer()],
        }
        return {name: "".join(f"{line}\n" for line in lines) for name, lines in texts.items()}

    def _changes(self, step: str) -> Mapping[str, Any]:
        return next(e["changes"] for e in self.events if e.get("changes") and e["step"] == step)

    def _start(self) -> Iterator[str]:
        steps = [event["step"] for event in self.events if event["kind"] == "begin"]
        yield from textwrap.wrap(" → ".join(steps), 100, break_on_hyphens=False)

    def _values(self) -> Iterator[str]:
        for match in self._changes("retrieval.values")["values"]:
            column, rows = match["column"], match["row_count"]
            yield (
                f"{match['phrase']!r} at {match['span']}: {match['value']!r} of {column['table']}."
                f"{column['column']}, similarity {match['score']:.2f}, in {rows} rows"
            )

    def _links(self) -> Iterator[str]:
        changes = self._changes("schema_linking.embedded")
        for link in changes["tables"][:SHOWN]:
            yield f"{link['score']:.2f}  {link['table']}"
        for link in changes["columns"][:SHOWN]:
            yield f"{link['score']:.2f}  {link['column']['table']}.{link['column']['column']}"

    def _candidates(self) -> Iterator[str]:
        for candidate in self._changes("generation.embedded")["candidates"]:
            # Processors differ by less in a probability than in its logarithm.
            number, chance = self._number(candidate["sql"]), math.exp(candidate["score"])
            yield from _hanging(f"{number}  {chance:.4f}  ", candidate["sql"])

    def _executed(self, step: str) -> Iterator[str]:
        at = ""
        for event in self.events:
            at = event["step"] if event["kind"] == "begin" else at
            if event["kind"] == "execution" and at == step:
                yield f"{self._number(event['sql'])}  {event['result']['rows']}"

    def _results(self) -> Iterator[str]:
        ran = [line.partition("  ")[2] for line in self._executed("repair.execution_guided")]
        yield f"{len(ran)} queries ran, different results: {len(set(ran))}"

    def _left(self, step: str) -> Iterator[str]:
        numbers = [self._number(one["sql"]) for one in self._changes(step)["candidates"]]
        yield f"left: {', '.join(map(str, numbers))}"
        written = self._changes("generation.embedded")["candidates"]
        gone = sorted({self._number(one["sql"]) for one in written} - set(numbers))
        yield f"gone: {', '.join(map(str, gone))}"

    def _judged(self) -> Iterator[str]:
        changes = self._changes("selection.critic")
        for candidate in changes["candidates"]:
            yield f"{self._number(candidate['sql'])}  {candidate['confidence']:.2f}"
        yield f"can be answered: {changes['answerable']:.2f}"
        yield f"selected: {self._number(self.ended['sql'])}"

    def _number(self, sql: str) -> int:
        """The queries' numbers, in the order in which they first appear in the trace."""
        return self.numbers.setdefault(sql, len(self.numbers) + 1)

    def _answer(self) -> Iterator[str]:
        ended = self.ended
        yield f"{ended['status']}, {self.answer.rows}, confidence {ended['confidence']:.2f}"
        yield from _hanging("", ended["sql"])
        yield f"reads {', '.join(map(str, self.answer.used_columns))}"
        yield from (f"says {part.text}" for part in self.answer.reading)


def _hanging(lead: str, sql: str) -> list[str]:
    return textwrap.wrap(sql, 100, initial_indent=lead, subsequent_indent=" " * len(lead))


def main() -> None:
    """Write the excerpts into the page."""
    with tempfile.TemporaryDirectory() as folder:
        made = Travelled(Path(folder)).excerpts()
    text = PAGE.read_text("utf-8")
    written = FENCE.sub(lambda found: f"```text {found[1]}\n{made[found[1]]}```", text)
    PAGE.write_text(written, "utf-8")


if __name__ == "__main__":
    main()
