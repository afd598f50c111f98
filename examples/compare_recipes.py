"""Two recipes, or one with other options, measured on the same questions.

    python examples/compare_recipes.py            # the demo's thirty questions
    python examples/compare_recipes.py 10         # the first ten

The same works for your own questions, see own_evaluation.py, and for recipes that ask a language
model: `EvaluationSettings(recipe="baseline", llm=sqlwright.LlmOptions(model="openai/gpt-4.1"))`.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlwright.demo.business import demo_questions, write_business
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate

VARIANTS = {
    "local": EvaluationSettings(recipe="local"),
    "local, beam of 2": EvaluationSettings(
        recipe="local", overrides=["generation.embedded.beam=2"]
    ),
    "without the critic": EvaluationSettings(recipe="local-unscored"),
}


def main(folder: Path, limit: int | None) -> None:
    file = folder / "business.sqlite"
    write_business(file)
    examples = (
        Example(str(number), "business", one.text, one.sql, file, difficulty=one.level)
        for number, one in enumerate(demo_questions(), start=1)
    )
    dataset = Dataset("demo", tuple(examples)[:limit])
    right: dict[str, set[str]] = {}
    for name, settings in VARIANTS.items():
        evaluate(dataset, settings, folder / name)
        asked = records.read(folder / name)
        right[name] = {record.id for record in asked if record.right("spider")}
        share = Share(len(right[name]), len(dataset.examples))
        print(f"{name:20}", share)  # with a 95 % interval

    first = next(iter(VARIANTS))
    for name in list(VARIANTS)[1:]:  # of the same questions, so the pairs say more than the shares
        lost, won = right[first] - right[name], right[name] - right[first]
        print(f"{name}: {len(won)} won and {len(lost)} lost against {first}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else None)
