"""Questions of one's own with the queries that answer them: how many does sqlwright get right?

    python examples/own_evaluation.py

Write such questions about your own database before you rely on any number that was measured
elsewhere. Thirty are a start; the interval says how much they tell.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from sqlwright.demo.business import write_business
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate

GOLDEN = {
    "How many orders are still pending?": "SELECT COUNT(*) FROM orders WHERE status = 'pending'",
    "Who are our suppliers in Italy?": "SELECT company FROM suppliers WHERE country = 'Italy'",
    "What is the average capacity of our warehouses?": "SELECT AVG(capacity) FROM warehouses",
    "How many payments came in by card in 2024?": "SELECT COUNT(*) FROM payments "
    "WHERE method = 'card' AND paid_on BETWEEN '2024-01-01' AND '2024-12-31'",
    "Which products cost us more than they sell for?": "SELECT name FROM products "
    "WHERE unit_cost > unit_price",
}


def main(folder: Path) -> None:
    file = folder / "business.sqlite"
    write_business(file)
    examples = tuple(
        Example(str(number), "business", question, sql, file)
        for number, (question, sql) in enumerate(GOLDEN.items(), start=1)
    )
    summary = evaluate(Dataset("ours", examples), EvaluationSettings(), folder / "run")
    share = summary["execution_accuracy"]
    print(f"right: {share['hits']} of {share['total']}", end=" ")
    print(f"[{share['low']:.0%}, {share['high']:.0%}]")

    for record in records.read(folder / "run"):
        if not record.right("spider"):  # the order of rows counts if it was asked
            print(f"\n{record.question} ({record.status}, {record.confidence or 0:.0%})")
            print(f"  ours: {record.sql}\n  gold: {record.gold_sql}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder))
