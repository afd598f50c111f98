"""Ask a database, look at what the answer rests on, and see what is refused.

python examples/ask.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import sqlwright
from sqlwright.demo.business import write_business


def main(folder: Path) -> None:
    file = folder / "business.sqlite"
    write_business(file)  # or a database of yours
    with sqlwright.open(file, home=folder) as business:
        answer = business.ask("How many orders did Cafe Lumiere place?")
        print(answer.status, answer.rows, f"{answer.confidence or 0:.0%}")
        print(answer.sql)

        print("\nwhat it rests on")
        for match in answer.values:
            print(f"  {match.phrase!r} is stored as {match.value!r} in {match.column}")
        for part in answer.reading:
            print(f"  {part.text}")
        for other in answer.alternatives:
            print(f"  also tried: {other.sql}")

        print("\nwhat is refused")
        for question in ("Delete all orders", "Which employees play the guitar?"):
            refused = business.ask(question)
            assert refused.status == "refused"
            print(f"  {question}: {refused.message} {refused.suggestion}")

        print("\na query of one's own, under the same guard")
        own = business.run_sql("SELECT status, COUNT(*) FROM orders GROUP BY status")
        print(own.to_csv(), end="")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder))
