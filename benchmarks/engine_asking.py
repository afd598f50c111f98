"""Ask `local` on another engine, for EX there: `benchmarks/engines.py --asked` judges the answers.

    python -m benchmarks.engine_asking DATA --engine duckdb --folder FOLDER --out FILE [--split dev]
    python -m benchmarks.engine_asking DATA --engine postgres --url postgresql://... --out FILE

Each database of Spider is loaded (`engine_loading.py`), opened by its URL, prepared, and asked
every question of it. The file gets a line of JSON for each: id, sql and status. With `--namespace`
PostgreSQL's tables are in one that isn't the usual one; its name is left out of the queries, so
that they can be judged beside the others.
"""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path

from benchmarks.engine_loading import DuckDB, Postgres
from benchmarks.engines import databases

import sqlwright


def move(engine: DuckDB | Postgres, namespace: str) -> None:
    """Put all tables into a namespace."""
    engine.run(f"CREATE SCHEMA {namespace}")
    for (name,) in engine.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        engine.run(f"ALTER TABLE {engine.dialect.quoted(name)} SET SCHEMA {namespace}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of Spider")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--engine", choices=("postgres", "duckdb"), default="duckdb")
    parser.add_argument("--url", default="", help="of a PostgreSQL server, its owner's")
    parser.add_argument("--folder", type=Path, default=Path(), help="for DuckDB's files")
    parser.add_argument("--namespace", default="", help="of PostgreSQL's tables")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", encoding="utf-8") as out:
        for database, examples in databases(options, options.folder):
            engine = database.engine
            assert isinstance(engine, DuckDB | Postgres)
            address = engine.path if isinstance(engine, DuckDB) else engine.url
            if options.namespace:
                move(engine, options.namespace)
            engine.close()  # a file of DuckDB's is open to one process
            with closing(sqlwright.open(address, prepare=True, record=False)) as session:
                for example in examples:
                    answer = session.ask(example.question)
                    sql = answer.sql and answer.sql.replace(f"{options.namespace}.", "")
                    line = {"id": example.id, "sql": sql if options.namespace else answer.sql}
                    line["status"] = str(answer.status)
                    out.write(json.dumps(line) + "\n")
            print(database.schema.name, len(examples), flush=True)


if __name__ == "__main__":
    main()
