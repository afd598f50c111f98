"""Training of the model that writes queries (MSc-SQL section 3.2; CHESS, appendix B)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.lab.evaluation.grading import hardness
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.lesson import Lesson, Taught
from sqlwright.lab.finetuning.roles.distractors import (
    WEIGHTS,
    checked_weights,
    name_likeness,
    nearest_column,
    similar_columns,
    similar_tables,
    weighted_tables,
)
from sqlwright.lab.finetuning.roles.preceding import (
    COLUMNS,
    TABLES,
    Choice,
    gold_columns,
    gold_tables,
    ordered,
    state_before,
)
from sqlwright.lab.finetuning.roles.role import REFUSED, TOO_LONG, UNREAD, Asked
from sqlwright.prompts.replies import sql_from
from sqlwright.protocols import Embedder
from sqlwright.sql.reading import read_facts
from sqlwright.steps.generation.direct import DirectGeneration
from sqlwright.steps.schema_linking.narrowing import narrowed
from sqlwright.types import State

Distractors = Literal["weighted", "similar", "none"]

MISREAD = "the gold query can't be read back from the reply"
BLOCK = "```sql\n{sql}\n```"
FORMS: Mapping[str, str] = {"generation/fine_tuned": "{sql}"}
"""The form of a reply by the prompt that asks for it; any other asks for a block."""


@dataclass(frozen=True)
class GeneratorRole:
    """The gold query is the right reply, in the form that the step's prompt asks for.

    What linking steps before it choose is the gold tables and columns with some distractors. A
    recipe without such steps shows the whole schema; with `weighted` or `similar` the view is
    narrowed all the same. Rejected are queries of generators that are wrong.
    """

    distractors: Literal["auto", "weighted", "similar", "none"] = "auto"
    """Tables added at random, similar tables and columns, or none. `auto` is `similar` where the
    recipe chooses columns, `weighted` where it chooses tables alone, else none."""
    weights: tuple[float, ...] = WEIGHTS
    """Probabilities of adding none, one, two and more: tables to those needed, and, where similar
    columns are added, columns to each needed one."""
    wrong: int = 4
    """Rejected replies of an example at most."""

    name: ClassVar[str] = "generator"
    step: ClassVar[str] = "generation.direct"
    chooses: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checked_weights(self.weights)
        if self.wrong < 0:
            raise ValueError(f"wrong must not be negative, not {self.wrong}")

    def examples(self, asked: Asked) -> Sequence[TrainingExample]:
        """One, or none where the query can't be read back from the reply, or isn't over what the
        step is shown."""
        lesson, example = asked.lesson, asked.example
        schema, gold = lesson.workspace.schema, bare(example.gold_sql)
        needed = gold_tables(gold, schema)
        if not needed:
            asked.skipped(UNREAD)
            return ()
        kind = self._kind(lesson)
        choice = self._choice(asked, kind, needed)
        state = self._state(asked, kind, choice)
        if state.refusal is not None:
            asked.skipped(REFUSED)
            return ()
        columns, visible = gold_columns(gold, schema), set(state.view.visible)
        if not (columns <= visible and set(needed) <= {ref.table for ref in visible}):
            asked.skipped("linking leaves out what the gold query reads")
            return ()
        form = self._form(lesson)
        taught = self._taught(form.format(sql=gold), gold, state, lesson)
        if isinstance(taught, str):
            asked.skipped(taught)
            return ()
        injected = [name for name in choice.tables if name not in needed] if choice else []
        is_right = asked.scorer.judge(example) if asked.sampled else None
        written = dict.fromkeys(bare(one.sql) for one in asked.sampled)
        wrong = [sql for sql in written if is_right is not None and not is_right(sql)]
        rejected = [form.format(sql=sql) for sql in wrong if _reads_back(form, sql)]
        return (
            asked.training_example(
                self.name,
                taught,
                rejected=rejected[: self.wrong],
                facts={
                    "hardness": example.difficulty or hardness(read_facts(gold, schema)),
                    "distractors": kind,
                    "injected": len(injected),
                    "injected_tables": ", ".join(injected),
                    "tables": len(needed),
                    "shown_tables": len({ref.table for ref in visible}),
                    "columns": len(columns),
                    "shown_columns": len(visible),
                    "values": len(state.values) + len(state.examples),
                },
            ),
        )

    def _taught(self, reply: str, gold: str, state: State, lesson: Lesson) -> Taught | str:
        """The prompt, where the step reads the gold query from the reply; else the reason."""
        try:
            after, taught = lesson.taught(
                lesson.step(self.step), state, lambda _step, _place: reply
            )
        except (MalformedReply, ModelFailed):
            return MISREAD
        written = after.candidates[len(state.candidates) :]
        if len(taught) > 1 or not written or any(one.sql != gold for one in written):
            return MISREAD
        return taught[0] if taught else TOO_LONG

    def _form(self, lesson: Lesson) -> str:
        step = lesson.step(self.step).step
        return FORMS.get(step.prompt, BLOCK) if isinstance(step, DirectGeneration) else BLOCK

    def _kind(self, lesson: Lesson) -> Distractors:
        if self.distractors != "auto":
            return self.distractors
        chosen = _choosing(lesson)
        return "similar" if COLUMNS in chosen else "weighted" if TABLES in chosen else "none"

    def _choice(self, asked: Asked, kind: Distractors, needed: tuple[str, ...]) -> Choice | None:
        """The gold tables and columns with distractors; None for the whole schema."""
        schema, draw = asked.lesson.workspace.schema, asked.draw
        if kind == "none" and not _choosing(asked.lesson):
            return None
        columns = gold_columns(asked.example.gold_sql, schema)
        if kind == "none":
            return Choice(needed, columns)
        if kind == "weighted":
            added = weighted_tables(schema, needed, self.weights, draw)
            own = {ref for ref in schema.columns if ref.table in added}
            return Choice(ordered({*needed, *added}, schema), columns | own)
        embedder = asked.lesson.embedded.get("embedder")
        like = name_likeness(embedder if isinstance(embedder, Embedder) else None)
        added = similar_tables(schema, needed, self.weights, draw, like)
        tables = ordered({*needed, *added}, schema)
        noise = similar_columns(schema, columns, tables, self.weights, draw, like=like)
        bare_tables = set(added) - {ref.table for ref in noise}
        nearest = {nearest_column(schema, table, columns, like) for table in sorted(bare_tables)}
        return Choice(tables, columns | noise | nearest)

    def _state(self, asked: Asked, kind: Distractors, choice: Choice | None) -> State:
        example, lesson = asked.example, asked.lesson
        state = state_before(
            self.step,
            lesson,
            question=example.question,
            evidence=example.evidence,
            choice=choice,
        )
        if choice is None or _choosing(lesson):
            return state
        shown = {ref for ref in lesson.workspace.schema.columns if ref.table in choice.tables}
        return narrowed(state, choice.columns if kind == "similar" else shown)


def bare(sql: str) -> str:
    """A query as replies are read: without blanks and semicolons at its ends."""
    return sql.strip().rstrip("; \t\r\n")


def _choosing(lesson: Lesson) -> set[str]:
    """The steps before the generator that can be told a choice."""
    before = lesson.before(GeneratorRole.step, stages=("schema_linking",))
    return {one.name for one in before} & {TABLES, COLUMNS}


def _reads_back(form: str, sql: str) -> bool:
    try:
        return sql_from(form.format(sql=sql)) == sql
    except MalformedReply:
        return False


ROLE = GeneratorRole()
