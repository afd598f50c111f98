"""The data of a question on its way to an answer. All of it is frozen.

Gold SQL has no place here: it lives in `datasets` and `evaluation`, out of inference's reach.

Internal: may change without notice. `sqlwright` exports the public part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlwright.boundary.arguments import Natural, Unicode, checked, checked_fields
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.types.account import Account, AskedPhrase, PhraseKind
from sqlwright.types.candidates import Candidate
from sqlwright.types.examples import ColumnExamples
from sqlwright.types.links import ColumnLink, DescriptionMatch, Entity, TableLink, TableSummary
from sqlwright.types.notes import CAVEATS, FINDINGS, Note, NoteKind, Veto, VetoKind
from sqlwright.types.outcome import (
    Author,
    Basis,
    Refusal,
    RefusalReason,
    Sign,
    SignKind,
    StepTime,
    TierEnd,
    TierRecord,
    Usage,
)
from sqlwright.types.plans import QueryCost
from sqlwright.types.query_parts import QueryCondition, QueryPart
from sqlwright.types.readings import Choice, QuestionBack, ReadingKind
from sqlwright.types.results import (
    Cell,
    ErrorCause,
    ErrorKind,
    ExecutionError,
    ExecutionResult,
)
from sqlwright.types.sub_questions import SubQuestion
from sqlwright.types.values import ValueMatch

__all__ = [
    "CAVEATS",
    "FINDINGS",
    "Account",
    "Answer",
    "AskedPhrase",
    "Author",
    "Basis",
    "Candidate",
    "Cell",
    "Choice",
    "ColumnExamples",
    "ColumnLink",
    "Demonstration",
    "DescriptionMatch",
    "Entity",
    "ErrorCause",
    "ErrorKind",
    "ExecutionError",
    "ExecutionResult",
    "Note",
    "NoteKind",
    "PhraseKind",
    "QueryCondition",
    "QueryCost",
    "QueryPart",
    "Question",
    "QuestionBack",
    "ReadingKind",
    "Refusal",
    "RefusalReason",
    "Sign",
    "SignKind",
    "State",
    "StepTime",
    "SubQuestion",
    "TableLink",
    "TableSummary",
    "TierEnd",
    "TierRecord",
    "Turn",
    "UnitTest",
    "Usage",
    "ValueMatch",
    "Veto",
    "VetoKind",
]


@checked_fields
@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of a conversation and the SQL that answered it."""

    question: Unicode
    sql: str


@dataclass(frozen=True, slots=True)
class Question:
    """The user's question. `evidence` is outside knowledge that came with it."""

    text: str
    evidence: str = ""
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitTest:
    """A statement in plain language that a right query fulfils, and which candidates did."""

    text: str
    passed: tuple[int, ...] | None = None
    """Indexes, from 0, of the state's candidates that passed; None when nothing judged them."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A worked example shown in a prompt. (A data set's item is an `Example`, elsewhere.)"""

    question: str
    sql: str
    schema: str = ""
    reasoning: str = ""
    evidence: str = ""
    turn: int = 0
    """Its place among those that one call made; calls' examples follow each other in turn."""
    checked: bool = False
    """Its query was run and found something."""


@dataclass(frozen=True)
class State:
    """Everything known about the question so far. A step returns a new one."""

    question: Question
    view: SchemaView
    keywords: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    """Phrases that were looked up among the stored values, by a step that says so."""
    values: tuple[ValueMatch, ...] = ()
    columns: tuple[ColumnLink, ...] = ()
    """Linker's scores, best first."""
    tables: tuple[TableLink, ...] = ()
    """Linker's scores, best first."""
    similar_columns: tuple[ColumnLink, ...] = ()
    """Columns whose names resemble a keyword; the score is the similarity."""
    descriptions: tuple[DescriptionMatch, ...] = ()
    summaries: tuple[TableSummary, ...] = ()
    entities: tuple[Entity, ...] = ()
    examples: tuple[ColumnExamples, ...] = ()
    """Stored values shown of columns in place of frequent ones."""
    demonstrations: tuple[Demonstration, ...] = ()
    sub_questions: tuple[SubQuestion, ...] = ()
    """The question taken apart; the last one is the question itself."""
    sub_question: int = 0
    """Number of the sub-question at hand, from 1; 0 is the question as a whole."""
    candidates: tuple[Candidate, ...] = ()
    tests: tuple[UnitTest, ...] = ()
    sample: int = 0
    """Number of the sample this branch is, from 1; 0 if there is only one. Seeds depend on it, and
    a step that runs again for more begins behind the last one."""
    selected: Candidate | None = None
    confidence: float | None = None
    """Calibrated probability that `selected` is right, where a step has set it."""
    basis: Basis | None = None
    """Other grounds for how sure it is, where a step has found some."""
    answerable: float | None = None
    """Probability that the database holds what is asked, where a step has set it."""
    measures: Mapping[str, float] = field(default_factory=dict, repr=False)
    """Measures that a critic took of the question and the candidate it holds for best, by name."""
    refusal: Refusal | None = None
    question_back: QuestionBack | None = None
    """The question to ask back, where two readings of the question are about as likely."""
    tiers: tuple[TierRecord, ...] = ()
    """Decisions whether to ask a language model, in order, where a recipe makes some."""
    warnings: tuple[Note, ...] = ()

    @property
    def goal(self) -> str:
        """The sub-question at hand; empty where that is the question itself."""
        if 0 < self.sub_question < len(self.sub_questions):
            return self.sub_questions[self.sub_question - 1].text
        return ""

    def evolve(self, **changes: Any) -> State:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    def warn(self, kind: NoteKind, text: str, cause: object = "") -> State:
        """A copy with one more warning; the same one isn't added twice. `cause` is the error that
        it tells of."""
        note = Note(kind, text, str(cause))
        return self if note in self.warnings else replace(self, warnings=(*self.warnings, note))


@dataclass(frozen=True)
class Answer:
    """The caller's answer: the same in Python, JSON, CSV, notebook and service."""

    status: Literal["answered", "refused", "failed"]
    question: str
    sql: str | None
    dialect: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    truncated: bool = False
    """True when a limit left out rows."""
    shortened: tuple[tuple[int, int], ...] = ()
    """Row and column, from 0, of each value that the limit of one cell cut."""
    confidence: float | None = None
    """Probability in [0, 1] that it is right, calibrated; None where nothing was fitted to say so,
    as for recipes with language models (`basis` has what there is), for a query of the user's own
    and where there is no answer."""
    interval: tuple[float, float] | None = None
    """The range in which that probability lies for questions of this kind, nine times of ten; wider
    where the question is unlike those that it was fitted to. None where there is none."""
    doubt: str = ""
    """The main reason for a confidence below a half, or where there is none, to doubt the answer;
    empty for other answers."""
    message: str = ""
    """The reason of a refusal or failure, in words; empty when answered."""
    suggestion: str = ""
    alternatives: tuple[Candidate, ...] = ()
    """Other candidates with their results, one per different result, best first."""
    values: tuple[ValueMatch, ...] = ()
    """Stored values the query rests on."""
    reading: tuple[QueryPart, ...] = ()
    """The query in words, all of it but plain columns, tables and joins over keys."""
    used_columns: tuple[ColumnRef, ...] = ()
    used_tables: tuple[str, ...] = ()
    warnings: tuple[Note, ...] = ()
    times: tuple[StepTime, ...] = ()
    """Wall times of the steps; those side by side add up to more than `seconds`."""
    seconds: float = 0.0
    """From the first step to the last, by the clock."""
    usage: Usage = Usage()  # noqa: RUF009 - frozen
    usage_by_step: Mapping[str, Usage] = field(default_factory=dict)
    """The same for each step that used a language model, in the order of their names."""
    recipe: str = ""
    cost: QueryCost | None = None
    """The engine's estimate of the query, where it gives one."""
    trace_id: str = ""
    refusal: RefusalReason | None = None
    """The reason of a refusal; None otherwise."""
    error: ExecutionError | None = None
    """The error of a query of the user's own; None otherwise."""
    answered_by: Author | None = None
    """The author of the query; None without one and for a query of the user's own."""
    basis: Basis = Basis()  # noqa: RUF009 - frozen
    """The grounds for how sure it is."""
    account: Account | None = None
    """The part of the query that answers each phrase of the question, where a step has looked."""
    question_back: QuestionBack | None = None
    """The question that would settle the reading that is meant; None where nothing has to be. The
    answer is the likeliest reading; `Session.choose` gives the one by another."""
    tiers: tuple[TierRecord, ...] = ()
    """Decisions whether to ask a language model, in order, of a recipe that weighs its price."""

    def to_dict(self) -> dict[str, Any]:
        """JSON types under stable keys, with the version of the form."""
        from sqlwright.presentation.answer import answer_to_dict

        return answer_to_dict(self)

    @checked
    def to_json(self, *, indent: Natural | None = 2) -> str:
        """JSON text that is safe to print and to embed."""
        from sqlwright.presentation.answer import answer_to_json

        return answer_to_json(self, indent=indent)

    def to_csv(self, *, safe: bool = True) -> str:
        """The rows as CSV that no spreadsheet takes for formulas, like `--csv-safe`; exact as by
        `--csv` where `safe` is false."""
        from sqlwright.presentation.as_csv import answer_to_csv

        return answer_to_csv(self, safe=safe)

    def __str__(self) -> str:
        """The question, the query, the first rows, how sure it is, and what to know about it."""
        from sqlwright.presentation.answer import answer_to_text

        return answer_to_text(self)

    def _repr_html_(self) -> str:
        from sqlwright.presentation.as_html import answer_to_html

        return answer_to_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from sqlwright.presentation.answer import answer_to_text

        printer.text("Answer(...)" if cycle else answer_to_text(self))
