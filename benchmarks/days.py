"""Questions that bound days, asked of every way of storing times: how many are answered right.

    python -m benchmarks.days [iso,blank,dmy,seconds,milliseconds,duckdb,csv]

The questions and tables are those of tests/cases/days; the tests ask a part of them. Of what isn't
right, what was shown at less than 50 % counts as told. Prints each question that isn't right.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.days.built import (
    TABLES,
    WAYS,
    alike,
    asked,
    csv_file,
    opened,
    script,
    sqlite_file,
    wanted,
)
from tests.form.notation import cases


def made(name: str, way: str, folder: Path) -> Path:
    """A database with a table."""
    if way in WAYS:
        return sqlite_file(name, way, folder / f"{name}.sqlite")
    if way == "csv":
        (folder / name).mkdir()
        return csv_file(name, folder / name / f"{TABLES[name]['table']}.csv")
    import duckdb

    with duckdb.connect(folder / f"{name}.duckdb") as connection:
        connection.execute(script(name))
    return folder / f"{name}.duckdb"


def main() -> None:
    """Ask and print."""
    ways = sys.argv[1].split(",") if len(sys.argv) > 1 else [*WAYS, "duckdb", "csv"]
    for way in ways:
        judged: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as home:
            for name in TABLES:
                with opened(made(name, way, Path(home)), Path(home) / "home") as session:
                    for case in cases("days/asks.yaml"):
                        if case["of"] != name:
                            continue
                        answer, ordered = asked(session, case["ask"]), case.get("ordered", False)
                        right = alike(wanted(name, case["sql"]), ordered=ordered)
                        is_right = alike(answer.rows, ordered=ordered) == right
                        sure = answer.status == "answered" and (answer.confidence or 0.0) >= 0.5
                        verdict = "right" if is_right else "wrong" if sure else "told"
                        judged[verdict] += 1
                        if not is_right:
                            print(f"  {verdict}: {case['ask']}\n    {answer.sql}")
        print(f"{way}: {judged['right']} right, {judged['told']} told, {judged['wrong']} wrong")


if __name__ == "__main__":
    main()
