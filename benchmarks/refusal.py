"""How many requests that can't be answered are refused, and how many that can.

    python benchmarks/refusal.py           the demo business: 30 and 30
    python benchmarks/refusal.py DATA      and Chinook, Northwind and six of Spider's: 60 and 60

Unanswerable: `benchmarks/unanswerable.toml`. Answerable: the demo's thirty questions and
`benchmarks/answerable.toml`. Prints both counts with intervals, by kind and by database, and every
request that went the wrong way.
"""

import argparse
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import sqlwright
from sqlwright.demo.business import demo_questions, write_business
from sqlwright.lab.evaluation.intervals import Share

DEMO = "demo"
SAMPLES = {
    "chinook": Path("samples", "chinook", "Chinook_Sqlite.sqlite"),
    "northwind": Path("samples", "northwind", "northwind.sqlite"),
}


@dataclass(frozen=True)
class Request:
    """Something asked of a database."""

    text: str
    database: str
    kind: str
    answerable: bool


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    request: Request
    refused: bool
    confidence: float

    @property
    def wrong(self) -> bool:
        return self.refused == self.request.answerable


def read_requests(path: Path, *, answerable: bool) -> list[Request]:
    """The requests of a file, in its order."""
    return [
        Request(one["text"], one.get("database", DEMO), one.get("kind", ""), answerable)
        for one in tomllib.loads(path.read_text("utf-8"))["request"]
    ]


def ask(name: str, path: Path, requests: Iterable[Request], home: str) -> list[Outcome]:
    """Each request of one database, asked of it."""
    with sqlwright.open(path, home=home, record=False) as session:
        answers = [(one, session.ask(one.text)) for one in requests if one.database == name]
        return [
            Outcome(request, answer.status == "refused", answer.confidence or 0.0)
            for request, answer in answers
        ]


def report(title: str, outcomes: list[Outcome]) -> None:
    """The share refused, and by kind and database."""
    print(f"{title} refused:", Share(sum(one.refused for one in outcomes), len(outcomes)))
    for group in ("kind", "database"):
        asked = Counter(getattr(one.request, group) for one in outcomes)
        refused = Counter(getattr(one.request, group) for one in outcomes if one.refused)
        if len(asked) > 1:
            print(f"  by {group}:", ", ".join(f"{n} {refused[n]}/{asked[n]}" for n in asked))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="folder with samples/ and spider/")
    data = parser.parse_args().data
    here = Path(__file__).parent
    requests = read_requests(here / "unanswerable.toml", answerable=False)
    requests += [Request(one.text, DEMO, "", True) for one in demo_questions()]
    requests += read_requests(here / "answerable.toml", answerable=True)
    if data is None:
        requests = [one for one in requests if one.database == DEMO]
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for name in dict.fromkeys(one.database for one in requests):
            if name == DEMO:
                path = Path(folder) / "business.sqlite"
                write_business(path)
            elif name in SAMPLES:
                path = data / SAMPLES[name]
            else:
                path = data / "spider" / "database" / name / f"{name}.sqlite"
            outcomes += ask(name, path, requests, folder)
    report("unanswerable", [one for one in outcomes if not one.request.answerable])
    report("answerable", [one for one in outcomes if one.request.answerable])
    for one in outcomes:
        if one.wrong:
            verdict = "refused" if one.refused else f"answered ({one.confidence:.0%})"
            print(f"{one.request.database}, {verdict}: {one.request.text}")


if __name__ == "__main__":
    main()
