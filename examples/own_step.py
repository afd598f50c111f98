"""A step of one's own, put into a recipe: `python examples/own_step.py`.

The people of Harbor & Pine say "binned" for cancelled; `HouseWords` tells the steps after it.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import sqlwright
from sqlwright import ColumnRef, Context, State, Step, ValueMatch
from sqlwright.demo.business import write_business

RECIPE = """
name: house
steps:
  - retrieval.request: {english_only: true}
  - retrieval.values
  - own_step:HouseWords: {words: {binned: orders.status.cancelled}}
  - schema_linking.embedded
  - generation.embedded: {beam: 8}
  - repair.execution_guided
  - selection.critic
"""


@dataclass(frozen=True)
class HouseWords(Step):
    """Adds a value for each of `words` (word: table.column.value) that the question holds."""

    words: dict[str, str]
    reads: ClassVar[frozenset[str]] = frozenset({"question", "values"})
    writes: ClassVar[frozenset[str]] = frozenset({"values"})

    def __call__(self, state: State, context: Context) -> State:
        found = list(state.values)
        for word, meant in self.words.items():
            at = state.question.text.casefold().find(word.casefold())
            if at >= 0:
                table, column, value = meant.split(".", 2)
                span = (at, at + len(word))
                found.append(ValueMatch(word, ColumnRef(table, column), value, 1.0, span=span))
        return state.evolve(values=tuple(found))


def main(folder: Path) -> None:
    file, recipe = folder / "business.sqlite", folder / "house.yaml"
    write_business(file)
    recipe.write_text(RECIPE, encoding="utf-8")
    for chosen in ("local", recipe):
        with sqlwright.open(file, recipe=chosen, allow_code=True, home=folder) as business:
            answer = business.ask("How many orders were binned?")
            print(Path(chosen).stem, answer.status, answer.rows, answer.sql, sep="  ")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder))
