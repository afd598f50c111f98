"""How long a summary takes of a run of many questions, and how much memory.

    python benchmarks/summary_scale.py [--records 1000000] [--folder FOLDER] [--keep]

writes so many records as a run writes them (drawn from a seed: 200 databases, five levels, eight
candidates, eight steps, two of them with language models, ten metrics; nearly half of the answers
wrong, with both results, classes and origin), then has another process read and summarise them, and
prints that one's CPU and wall seconds and its peak memory. Writing isn't measured. A million
records take 2.8 GB; they are removed afterwards unless `--keep` is given.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.error_classes.origins import CLASSES, ORIGINS
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.files import line_of
from sqlwright.lab.evaluation.records import Record
from sqlwright.types import Usage

DIFFERENT = 50_000
"""Records that are drawn at most."""
STEPS = ("retrieval", "schema_linking", "generation.direct", "generation.plan", "generation.divide",
         "repair.execute", "repair.revise", "selection")  # fmt: skip
SOURCES = ("direct", "plan", "divide", "beam")
METRICS = ("soft_f1", "valid_efficiency", "exact_match", "components", "columns", "rows")
TIERS = ("tier:runs", "tier:shape", "tier:rows", "tier:exact")
FEATURES = ("join", "group by", "order by", "limit", "aggregate", "nested", "distinct", "or", "set")
LEVELS = ("simple", "moderate", "challenging", "hard", "extra")
GOLD = (
    "SELECT T2.name, T2.capacity FROM concert AS T1 JOIN stadium AS T2 ON T1.stadium_id = "
    "T2.stadium_id WHERE T1.year = {} GROUP BY T2.stadium_id ORDER BY count(*) DESC LIMIT 1"
)
QUERY = (
    "SELECT stadium.Name, stadium.Capacity FROM stadium JOIN concert ON stadium.Stadium_ID = "
    "concert.Stadium_ID WHERE concert.Year = {} GROUP BY stadium.Stadium_ID ORDER BY COUNT(*) DESC"
)
BASIS = {"kind": "calibrated", "agreeing": 3, "of": 8, "fitted_to": "other databases",
         "signs": [{"kind": "machine_check", "text": "no fault is found", "favours": True,
                    "grave": False}]}  # fmt: skip


def drawn_records(number: int, seed: int = 1) -> Iterator[Record]:
    """Records of a run that never was."""
    draw = random.Random(seed)
    for n in range(number):
        yield _record(n, draw)


def _record(n: int, draw: random.Random) -> Record:
    sure = draw.random() ** 0.4
    status = draw.choices(("answered", "refused", "failed", "gold"), (92, 4, 3, 1))[0]
    right = status == "answered" and draw.random() < 0.9 * sure
    judged = [(SOURCES[k % 4], draw.random() < sure * 0.8) for k in range(8)]
    needed = draw.randint(1, 6)
    wrong = status != "gold" and not right
    return Record(
        id=f"dev-{n:07}",
        db_id=f"database_{int(draw.expovariate(1 / 40)) % 200}",
        question=f"Which stadium had the most concerts in {n}, and how many seats does it have?",
        gold_sql=GOLD.format(n),
        sql=QUERY.format(n) if status == "answered" else None,
        status=status,
        verdicts={"spider": right, "bird": right or draw.random() < 0.02},
        measures={name: round(draw.random(), draw.choice((0, 2, 9))) for name in METRICS}
        | {name: float(right or draw.random() < 0.5) for name in TIERS},
        answered_by=draw.choice(("language_model", "stand_in")) if status == "answered" else None,
        gold_empty=draw.random() < 0.05,
        oracle=right or any(good for _, good in judged),
        first=judged[0][1],
        candidates=len(judged),
        judged=judged,
        confidence=round(sure, draw.choice((2, 12))) if status == "answered" else 0.0,
        basis=BASIS,
        needed_columns=needed,
        found_columns=draw.randint(0, needed),
        kept_columns=12,
        needed_tables=2,
        found_tables=draw.randint(1, 2),
        views={
            step: {"columns": shown, "found_columns": needed, "tables": 4, "found_tables": 2}
            for step, shown in (("whole schema", 60), ("schema_linking", draw.randint(6, 30)))
        },
        seconds=draw.expovariate(0.5),
        times={step: draw.expovariate(4) for step in STEPS},
        usage={
            step: asdict(Usage(1, draw.randint(900, 9_000), draw.randint(20, 400), draw.random()))
            for step in ("generation.direct", "selection")
        },
        difficulty=draw.choice(LEVELS),
        features=draw.sample(FEATURES, draw.randint(1, 5)),
        tags={"topic": f"topic {draw.randint(0, 30)}", "number": str(n)},
        evidence="the most concerts refers to MAX(COUNT(concert_id))" if n % 2 else "",
        errors=_errors(draw) if wrong else None,
        origin={"kind": draw.choice(list(ORIGINS)), "step": draw.choice(STEPS), "shown_by": "it"}
        if wrong
        else {},
        results={name: _result(draw) for name in ("gold", "query")} if wrong else {},
    )


def _errors(draw: random.Random) -> list[dict[str, str]]:
    shown = "gold shows stadium.capacity, the query concert.year"
    classes = draw.sample(list(CLASSES), draw.randint(1, 3))
    return [{"class": name, "shown_by": shown} for name in classes]


def _result(draw: random.Random) -> dict[str, Any]:
    rows = [[f"Park {draw.randint(1, 10**6)}", draw.randint(1, 99_999)] for _ in range(8)]
    return {"columns": ["name", "capacity"], "rows": rows, "count": len(rows)}


def write(folder: Path, number: int) -> int:
    """Write the records; give their bytes. Drawing takes longest: beyond DIFFERENT of them, they
    come again with ids of their own."""
    path = folder / records.PREDICTIONS
    lines = [line_of(asdict(one)) for one in drawn_records(min(number, DIFFERENT))]
    with path.open("w", encoding="utf-8") as file:
        for n in range(number):
            line = lines[n % DIFFERENT]
            file.write(
                line if n < DIFFERENT else line.replace('"dev-', f'"dev-{n // DIFFERENT}-', 1)
            )
    return path.stat().st_size


def measured(folder: Path) -> dict[str, float]:
    """What a summary of a folder takes in this process."""
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    summary = summarize(records.stream(folder))
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "questions": summary["questions"],
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall_seconds": time.monotonic() - started,
        "peak_mib": after.ru_maxrss / 1024,
        "report_kib": len(json.dumps(summary)) / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the records go; else a temporary one")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", action="store_true", help="summarise what the folder holds")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measured(options.folder)))
        return
    folder = options.folder or Path(tempfile.mkdtemp(prefix="summary-scale-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        size = write(folder, options.records)
        command = [sys.executable, __file__, "--only", "--folder", str(folder)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    finally:
        if not options.keep:
            (folder / records.PREDICTIONS).unlink(missing_ok=True)
            if options.folder is None:
                folder.rmdir()
    found = json.loads(done.stdout)
    print(
        f"{found['questions']:,} records, {size / options.records:,.0f} bytes each: "
        f"{found['cpu_seconds']:.1f} s of CPU, {found['wall_seconds']:.1f} s of wall time, "
        f"peak memory {found['peak_mib']:,.0f} MiB, report {found['report_kib']:,.0f} KiB"
    )


if __name__ == "__main__":
    main()
