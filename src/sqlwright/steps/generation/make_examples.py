"""A language model makes worked examples: questions over the database with their queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from sqlwright.candidates import execute, is_empty_answer, normalized_sql, valid
from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.prompts.demonstrations import load_demonstrations, texts
from sqlwright.prompts.fitting import Fitted, Messages, Portion, fit
from sqlwright.prompts.loose_json import structures
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.schema import SchemaView
from sqlwright.steps.showing import SchemaStep, Style, found_values
from sqlwright.steps.task import task
from sqlwright.types import Candidate, Demonstration, State

NAME = "generation.make_examples"
SECONDS = 10.0
"""Time for executing all of them; those it doesn't reach are left out."""
_QUESTIONS = ("question", "input", "nl")
_QUERIES = ("sql", "output", "query")


class MadeExample(BaseModel):
    """A question and the query that answers it."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})
    question: str
    evidence: str
    sql: str


class MadeExamples(BaseModel):
    """A reply with examples."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})
    examples: list[MadeExample]


@dataclass(frozen=True)
class MakeExamples(SchemaStep):
    """Has a language model make examples over the question's own schema, for `generation.direct`
    with the prompt `generation/synthetic_examples`.

    CHASE-SQL section 3.3, algorithm 2, with two calls side by side. One asks for examples by SQL
    feature (R_f): it sees the whole schema and nothing of the question, so that it is the same for
    all questions about a database. The other asks for examples over the columns that linking left
    (R_t), like pairs over other databases. They follow each other in turn, and all samples of the
    question share them. So they do where two of these steps make a kind each, one beside the
    linking that the other waits for.

    An example is used only if its query runs and finds something; of those with the same query or
    question the first. Where a call fails, the other one's examples are left; where there are
    none, generation goes on without.
    """

    by_feature: int = 38
    """Examples by SQL feature asked for (n_f); 0 leaves the call out."""
    by_column: int = 37
    """Examples over the linked columns asked for (n_t); 0 leaves the call out."""
    like: int = 10
    """Pairs over other databases that those are to be like."""
    checked: bool = True
    """False takes examples as they are written, neither executed nor each once: the paper's form.
    """
    style: Style = "ddl"
    """The schema as CREATE TABLE statements, or in one line per column."""
    examples: int = 3
    """Stored values shown beside a column at most."""
    sampling: Sampling = field(default_factory=Sampling)

    purpose: ClassVar[str] = (
        "Makes worked examples over this database for the queries that are written next. Run it "
        "once, before them. Two calls."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"demonstrations", "discarded"})

    def __post_init__(self) -> None:
        for option in ("by_feature", "by_column", "like", "examples"):
            if getattr(self, option) < 0:
                raise ValueError(f"{option} must not be negative, not {getattr(self, option)}")

    def calls(self, state: State) -> int:
        """One for each kind of examples, and one for writing the query."""
        kinds = bool(self.by_feature) + bool(self.by_column)
        return kinds + 1 if kinds and state.question.text.strip() else 0

    def __call__(self, state: State, context: Context) -> State:
        if not state.question.text.strip() or not any(True for _ in state.view.visible):
            return state
        fitted = list(self._fitted(state, context))
        if not fitted:
            return state
        for each in fitted:
            state = each.noted(state, NAME)
        form = MadeExamples.model_json_schema()
        prompts = [Prompt(each.messages, _read, form) for each in fitted]
        try:
            replies = ask(prompts, state, context, step=NAME, sampling=self.sampling, leaving=1)
        except (MalformedReply, ModelFailed) as error:
            told = f"the model made no examples{self._kind}, queries are written without: {error}"
            return state.warn("examples", told, error)
        by_kind = [
            _numbered(example for sample in samples if sample is not None for example in sample)
            for samples in replies
        ]
        # In turn, so that both kinds are there where a prompt shows the first few only.
        made = sorted(chain.from_iterable(by_kind), key=lambda one: one.turn)
        kept = tuple(self._kept(made, context)) if self.checked else tuple(made)
        usable = {replace(one, checked=False) for one in kept}
        left = (one for one in made if one not in usable)
        state = state.evolve(discarded=(*state.discarded, *left))
        if not kept:
            told = f"none of the {len(made)} examples{self._kind} that the model made can be used"
            return state.warn("examples", told)
        return state.evolve(demonstrations=(*state.demonstrations, *kept))

    @property
    def _kind(self) -> str:
        """The kind of examples, where it is one only."""
        if self.by_feature and self.by_column:
            return ""
        return " by SQL feature" if self.by_feature else " over linked columns"

    def _kept(self, made: Iterable[Demonstration], context: Context) -> Iterator[Demonstration]:
        """Those that run and find something, each query and each question once."""
        seen: set[str] = set()
        once = []
        for one in made:
            keys = {normalized_sql(one.sql), " ".join(one.question.casefold().split())}
            if not keys & seen:
                once.append(one)
            seen |= keys
        candidates = [Candidate(one.sql, NAME, by_model=True) for one in once]
        database, run = context.workspace.database, context.run
        ran = execute(candidates, database, run, seconds=SECONDS)
        for one, candidate in zip(once, ran, strict=True):
            if valid(candidate) and not is_empty_answer(candidate):
                yield replace(one, checked=True)

    def _fitted(self, state: State, context: Context) -> Iterator[Fitted]:
        if self.by_feature:
            whole = state.evolve(
                view=SchemaView(context.workspace.schema), values=(), searched=(), descriptions=()
            )
            yield self._prompt(
                "generation/examples_by_feature", whole, context, count=self.by_feature
            )
        if self.by_column:
            pairs = [texts(one) for one in _pairs(self.like, state.view.schema.dialect)]
            # The values found, without the words of the question, which isn't shown.
            bare = [replace(one, phrase="", score=1.0) for one in found_values(state, context)]
            unmarked = state.evolve(values=tuple(bare))
            yield self._prompt(
                "generation/examples_by_column",
                unmarked,
                context,
                count=self.by_column,
                pairs=pairs,
            )

    def _prompt(
        self,
        template: str,
        state: State,
        context: Context,
        *,
        count: int,
        pairs: Sequence[Mapping[str, Any]] = (),
    ) -> Fitted:
        how = self.shown

        def laid_out(portion: Portion, state: State) -> Messages:
            shown = task(
                state,
                context,
                style=portion.style,
                examples=portion.examples,
                shown=how.within(portion),
            )
            kept = {name: shown[name] for name in ("schema", "dialect", "written")}
            return render(template, count=count, pairs=pairs[: portion.shots], **kept)

        full = Portion(len(pairs), self.style, self.examples)
        return fit(
            laid_out, full, state, context,
            step=NAME, sampling=self.sampling, reply_schema=MadeExamples.model_json_schema(),
        )  # fmt: skip


def _pairs(count: int, dialect: str) -> tuple[Demonstration, ...]:
    """Questions and queries over databases of our own, of both kinds of demonstrations in turn."""
    kinds = [load_demonstrations(name, dialect) for name in ("divide_and_conquer", "query_plan")]
    pairs = [one for one in chain.from_iterable(zip_longest(*kinds)) if one is not None]
    return tuple(pairs[:count])


def _numbered(made: Iterable[Demonstration]) -> list[Demonstration]:
    """The examples of one call, each with its place among them."""
    return [replace(one, turn=turn) for turn, one in enumerate(made)]


def _read(text: str) -> tuple[Demonstration, ...]:
    """All examples in a reply that are whole, also of a list that breaks off. Raises
    MalformedReply when there is none."""
    found = [one for structure in structures(text) for one in _examples(structure.value)]
    if not found:
        raise MalformedReply("it holds no example with a question and its SQL")
    return tuple(found)


def _examples(value: Any) -> Iterator[Demonstration]:
    if isinstance(value, list):
        for item in value:
            yield from _examples(item)
    elif isinstance(value, dict):
        fields = {str(key).casefold(): item for key, item in value.items()}
        question = next((fields[name] for name in _QUESTIONS if name in fields), None)
        sql = next((fields[name] for name in _QUERIES if name in fields), None)
        if isinstance(question, str) and isinstance(sql, str):
            if question.strip() and sql.strip():
                said = fields.get("evidence", fields.get("hint"))
                evidence = said.strip() if isinstance(said, str) else ""
                yield Demonstration(question.strip(), sql.strip(), evidence=evidence)
            return
        for item in value.values():
            yield from _examples(item)
