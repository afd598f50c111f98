"""The parts of a comparison. All of it is frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from string import ascii_uppercase
from typing import Any, Literal

import sqlwright
from sqlwright.candidates import normalized_sql
from sqlwright.lab.comparison import words
from sqlwright.lab.comparison.words import STAGES, Aspect, Stage, author
from sqlwright.presentation.answer import doubt_words
from sqlwright.presentation.html.page import page_of
from sqlwright.schema import ColumnRef, Detail
from sqlwright.spending import plus
from sqlwright.sql.pieces import cutting
from sqlwright.types import Answer, Candidate, Question, State, Usage

VALUES = 12
"""Values, descriptions and tables shown at once; the rest opens. Chosen, as all of these."""
SCORES = 6
"""The same of names by their scores."""
CANDIDATES = 40
"""Results of candidates, and repairs, shown of a recipe."""
OPEN = 1
"""Results of candidates up to which their queries are open at once."""


def comparison_page(comparison: Comparison) -> str:
    """The page as text."""
    costs = [
        (one, cost)
        for stage in STAGES
        for one in comparison.recipes
        for cost in one.stages
        if cost.stage == stage
    ]
    return page_of(
        "comparison.html",
        comparison.question.text,
        comparison=comparison,
        words=words,
        doubt_words=doubt_words,
        cutting=cutting,
        stage_costs=costs,
        longest=max((cost.seconds for _, cost in costs), default=0.0),
        footer=f"sqlwright {sqlwright.__version__} · {comparison.dialect}",
        VALUES=VALUES,
        SCORES=SCORES,
        CANDIDATES=CANDIDATES,
        OPEN=OPEN,
    )


@dataclass(frozen=True, slots=True)
class StepCost:
    """Time and model calls of one step over all times it ran."""

    step: str
    runs: int
    """0 where the step has no time of its own: an agent's turns."""
    seconds: float
    usage: Usage = Usage()  # noqa: RUF009 - frozen


@dataclass(frozen=True, slots=True)
class StageCost:
    """Time and model calls of a stage. Steps side by side add up to more than the clock says."""

    stage: Stage
    steps: tuple[StepCost, ...]

    @property
    def seconds(self) -> float:
        """Of all of its steps together."""
        return sum(step.seconds for step in self.steps)

    @property
    def usage(self) -> Usage:
        """Likewise."""
        return reduce(plus, (step.usage for step in self.steps), Usage())


@dataclass(frozen=True, slots=True)
class Repair:
    """A query that was changed, or for which a change was tried."""

    step: str
    before: Candidate
    after: Candidate
    """Without a query where a reply couldn't be used."""
    kept: bool
    """False if it was no better."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Candidates of a recipe with the same result; one alone that failed or wasn't run."""

    candidates: tuple[Candidate, ...]
    agreeing: tuple[str, ...] = ()
    """The recipes whose answer has that result, by their names."""
    chosen: bool = False
    """True if the recipe's answer is among them."""

    @property
    def authors(self) -> tuple[str, ...]:
        """Those who wrote the first versions of the queries, each once: prompts, else steps."""
        return tuple(dict.fromkeys(map(author, self.candidates)))

    @property
    def queries(self) -> tuple[tuple[Candidate, ...], ...]:
        """The candidates by the text of their queries."""
        by_text: dict[str, list[Candidate]] = {}
        for one in self.candidates:
            by_text.setdefault(normalized_sql(one.sql, one.dialect), []).append(one)
        return tuple(map(tuple, by_text.values()))


@dataclass(frozen=True, slots=True)
class Linked:
    """The part of the schema that was left to see."""

    tables: tuple[str, ...]
    """With at least one column in full."""
    columns: tuple[ColumnRef, ...]
    """In full."""
    brief: int
    """Columns that were shown in brief."""
    hidden: int

    @property
    def narrowed(self) -> bool:
        """True if anything was left out or shown in brief."""
        return bool(self.brief or self.hidden)


@dataclass(frozen=True)
class ComparedRecipe:
    """One recipe's way to its answer."""

    name: str
    overrides: tuple[str, ...] = ()
    description: str = ""
    """As the recipe's file says."""
    answer: Answer | None = None
    """None if the recipe couldn't be asked; `problem` says why."""
    state: State | None = field(default=None, repr=False)
    """Everything it knew in the end; None likewise."""
    problem: str = ""
    hint: str = ""
    clusters: tuple[Cluster, ...] = ()
    """The candidates by their results, the chosen one's first, then by their number."""

    @property
    def status(self) -> Literal["answered", "refused", "failed", "not_asked"]:
        """The answer's, or `not_asked`."""
        return "not_asked" if self.answer is None else self.answer.status

    @property
    def chosen(self) -> Candidate | None:
        """The query that was chosen; None without an answer."""
        answered = self.answer is not None and self.answer.status == "answered"
        return self.state.selected if self.state is not None and answered else None

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All that were left in the end, repairs in the place of what they repaired."""
        return () if self.state is None else self.state.candidates

    @cached_property
    def linked(self) -> Linked | None:
        """None if the recipe couldn't be asked."""
        if self.state is None:
            return None
        view = self.state.view
        by_detail: dict[Detail, list[ColumnRef]] = {detail: [] for detail in Detail}
        for ref in view.schema.columns:
            by_detail[view.detail(ref)].append(ref)
        full = tuple(by_detail[Detail.FULL])
        tables = tuple(dict.fromkeys(ref.table for ref in full))
        return Linked(tables, full, len(by_detail[Detail.BRIEF]), len(by_detail[Detail.HIDDEN]))

    @cached_property
    def repairs(self) -> tuple[Repair, ...]:
        """In the order of the candidates, the first change first."""
        found: list[Repair] = []
        for candidate in self.candidates:
            found += reversed(list(_repairs(candidate)))
        return tuple(found)

    @cached_property
    def stages(self) -> tuple[StageCost, ...]:
        """The stages that took something, in their order."""
        return () if self.answer is None else _stages(self.answer)


@dataclass(frozen=True)
class QueryDifference:
    """A side on which the queries don't say the same."""

    aspect: Aspect
    shared: tuple[str, ...]
    """Said by every query."""
    own: Mapping[str, tuple[str, ...]]
    """Said besides, by the names of the recipes that have a query."""


@dataclass(frozen=True)
class Comparison:
    """A question as several recipes answered it."""

    question: Question
    dialect: str
    recipes: tuple[ComparedRecipe, ...]
    """In the order they were named and asked."""
    results: tuple[tuple[str, ...], ...] = ()
    """The names of recipes whose results are the same, by `sqlwright.candidates`, in their order;
    those without an answer are in none."""
    differences: tuple[QueryDifference, ...] = ()
    """Empty where all queries say the same, or there is only one."""

    @property
    def answered(self) -> tuple[ComparedRecipe, ...]:
        """The recipes that have an answer."""
        return tuple(one for one in self.recipes if one.status == "answered")

    @property
    def agree(self) -> bool:
        """True if more than one recipe answered, and all with the same result."""
        return len(self.results) == 1 and len(self.answered) > 1

    def letter(self, recipe: str) -> str:
        """The letter of a recipe's result, A for the first; empty without an answer."""
        for number, names in enumerate(self.results):
            if recipe in names:
                again, place = divmod(number, len(ascii_uppercase))
                return ascii_uppercase[place] + (str(again) if again else "")
        return ""

    def to_dict(self) -> dict[str, Any]:
        """JSON types under stable keys, with the version of the form."""
        from sqlwright.lab.comparison.as_json import comparison_to_dict

        return comparison_to_dict(self)

    def to_json(self) -> str:
        """JSON text that is safe to print and to embed."""
        from sqlwright.boundary.text import to_json

        return to_json(self.to_dict(), indent=2)

    def to_html(self) -> str:
        """A whole page that needs nothing else: no network and no script."""

        return comparison_page(self)

    def __str__(self) -> str:
        """A line for each recipe."""
        from sqlwright.boundary.text import visible

        lines = [visible(self.question.text, limit=400)]
        for one in self.recipes:
            told = self.letter(one.name) or one.status.replace("_", " ")
            sql = "" if one.chosen is None else visible(" ".join(one.chosen.sql.split()), limit=400)
            lines.append(f"{visible(one.name, limit=80)}: {told}  {sql or one.problem}".rstrip())
        return "\n".join(lines)


def _repairs(candidate: Candidate) -> Iterable[Repair]:
    """Of a candidate, the last first."""
    current: Candidate | None = candidate
    while current is not None:
        for vain in reversed(current.tried):
            yield Repair(vain.source, current, vain, kept=False)
        if current.parent is not None:
            yield Repair(current.source, current.parent, current, kept=True)
        current = current.parent


def _stages(answer: Answer) -> tuple[StageCost, ...]:
    seconds: dict[str, list[float]] = {}
    for time in answer.times:
        seconds.setdefault(time.step, []).append(time.seconds)
    by_stage: dict[Stage, list[StepCost]] = {stage: [] for stage in STAGES}
    for step in dict.fromkeys([*seconds, *answer.usage_by_step]):
        each = seconds.get(step, [])
        used = answer.usage_by_step.get(step, Usage())
        by_stage[_stage(step)].append(StepCost(step, len(each), sum(each), used))
    return tuple(StageCost(stage, tuple(steps)) for stage, steps in by_stage.items() if steps)


def _stage(step: str) -> Stage:
    begins = step.partition(".")[0]
    return next((stage for stage in STAGES if stage == begins), "other")
