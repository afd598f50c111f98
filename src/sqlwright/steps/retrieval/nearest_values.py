"""The stored values of each column that are nearest to the question, as its examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sqlwright.indexes.vectors import MOST_CHARACTERS, MOST_VALUES
from sqlwright.protocols import Catalog, Context, Step
from sqlwright.schema import ColumnRef
from sqlwright.steps.retrieval.value_vectors import FILE, Found, Listing, ValueVectors, Wanted
from sqlwright.types import Cell, ColumnExamples, State

NAME = "retrieval.nearest_values"
UNPREPARED = 1_000
"""Most values embedded for one question where they aren't prepared."""
COLUMNS = 400
"""Most columns that are looked into, those of the first tables; others keep the examples that they
have without this step."""


@dataclass(frozen=True)
class NearestValues(Step):
    """Finds for each column in view the values that prompts show as its examples.

    MSc-SQL section 3.2, contextual retrieval through few-shot examples: of a column of texts the
    stored values whose embeddings are nearest to question and evidence, of any other column
    frequent values, or as in the paper some at random.

    Deviations: the values compared are the most frequent of a column, not its first; a value is cut
    where it is longer than `characters`, and only then marked as cut. What `sqlwright prepare
    --vectors` has embedded is compared whole; of the rest at most `UNPREPARED` values are embedded
    for a question, each column having its share.
    """

    per_column: int = 3
    """Examples of a column."""
    others: Literal["frequent", "random"] = "frequent"
    """Examples of columns without indexed texts: the most frequent values, or some of them at
    random."""
    characters: int = 50
    """Characters shown of an example; the paper's code cuts at 20, within what a literal needs."""
    most_values: int = MOST_VALUES
    """Values of a column that are compared."""
    most_characters: int = MOST_CHARACTERS
    """Characters of a value that are embedded."""

    _vectors: ValueVectors = field(
        default_factory=ValueVectors, init=False, repr=False, compare=False, hash=False
    )

    prepared: ClassVar[frozenset[str]] = frozenset({FILE})
    purpose: ClassVar[str] = (
        "Finds the stored values of each column in view that are nearest to the question, so "
        "that queries compare with values as they are stored. Run it once the tables are chosen. "
        "No call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"examples"})

    def __post_init__(self) -> None:
        for name in ("per_column", "characters", "most_values", "most_characters"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")

    @property
    def roles(self) -> tuple[str, ...]:
        """The embedder's."""
        return ("embedder",)

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        if not state.question.text.strip():
            return state
        catalog = context.workspace.catalog
        shown = None if catalog is None else catalog.steady or catalog
        columns = [ref for ref in state.view.visible if _is_told(ref, shown)][:COLUMNS]
        texts = [ref for ref in columns if _holds_texts(ref, shown)]
        found = self._nearest(state, texts, context)
        if found.compared < found.of:
            state = state.warn(
                "values",
                f"examples were looked for among {found.compared:,} of {found.of:,} stored values; "
                "'sqlwright prepare --vectors' has all of them compared",
            )
        examples = []
        for ref in columns:
            values: Sequence[Cell] = found.values.get(ref) or self._others(
                ref, shown, state, context
            )
            if values:
                examples.append(ColumnExamples(ref, tuple(values), self.characters))
        return state.evolve(examples=tuple(examples))

    def _nearest(self, state: State, columns: Sequence[ColumnRef], context: Context) -> Found:
        """The nearest values of columns of texts."""
        listing = context.workspace.values
        if not columns or not isinstance(listing, Listing):
            return Found({}, 0, 0)
        asked = "\n".join(filter(None, (state.question.text, state.question.evidence)))
        wanted = Wanted(
            asked, self.per_column, columns, self.most_values, self.most_characters, UNPREPARED
        )
        return self._vectors.nearest(wanted, listing, context.embedder, context.run)

    def _others(
        self, ref: ColumnRef, catalog: Catalog | None, state: State, context: Context
    ) -> Sequence[Cell]:
        """Examples of a column of which no texts are indexed."""
        profile = None if catalog is None else catalog.columns.get(ref)
        if profile is None:
            return ()
        absent = {text for text, _ in profile.missing}
        usual = [cell for cell, _ in profile.frequent if cell not in absent and _tells(cell)]
        if self.others == "random":
            draw = context.run.random(f"example/{state.question.text}/{ref}")
            usual = draw.sample(usual, min(self.per_column, len(usual)))
        return usual[: self.per_column]


def _is_told(ref: ColumnRef, catalog: Catalog | None) -> bool:
    """True if what is known of a column doesn't depend on how much time there was to look."""
    return catalog is None or ref in catalog.columns


def _holds_texts(ref: ColumnRef, catalog: Catalog | None) -> bool:
    profile = None if catalog is None else catalog.columns.get(ref)
    return profile is None or profile.main_storage == "text"


def _tells(cell: Cell) -> bool:
    if isinstance(cell, str):
        return bool(cell.strip())
    return isinstance(cell, int | float) and math.isfinite(cell)
