"""The data of a question on its way to an answer. All of it is frozen.

Gold SQL has no place here: it lives in `datasets` and `evaluation`, out of inference's reach.

Internal: may change without notice. `sqlwright` exports the public part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlwright.boundary.arguments import Natural, Unicode, checked, checked_fields
from sqlwright.messages import Took
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.types.candidates import (
    CAVEATS,
    FINDINGS,
    TROUBLE,
    Account,
    AskedPhrase,
    Candidate,
    Choice,
    Judgement,
    Note,
    NoteKind,
    PhraseKind,
    QuestionBack,
    ReadingKind,
    Veto,
    VetoKind,
)
from sqlwright.types.plans import QueryCost
from sqlwright.types.results import (
    Cell,
    ErrorCause,
    ErrorKind,
    ExecutionError,
    ExecutionResult,
    ValueMatch,
)


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A question on the way to the whole one: what it asks for, and the first of its conditions."""

    text: str
    condition: str = ""
    """The condition that it adds to the one before; empty where nothing says so."""


@dataclass(frozen=True, slots=True)
class QueryCondition:
    """A condition of a query on a column or an expression, negations resolved."""

    subject: str
    """A column by its stored names, or an expression as SQL; empty for EXISTS."""
    operator: str
    """`=`, `!=`, `<`, `between`, `in`, `contains`, `is null`, `there is no row in` and the like;
    empty where the subject is the condition."""
    operands: tuple[str, ...] = ()
    """The other sides of the comparison, as SQL: quoted literals, columns, expressions."""
    columns: tuple[ColumnRef, ...] = ()
    """The stored columns in it, those of queries within it excepted."""
    matches: tuple[ValueMatch, ...] = ()
    """The phrases of the question that its literals stand for."""

    @property
    def object(self) -> str:
        """The operands as one text; empty when there are none."""
        if self.operator.endswith("between"):
            return " and ".join(self.operands)
        joined = ", ".join(self.operands)
        return f"({joined})" if self.operator in {"in", "not in"} else joined


@dataclass(frozen=True, slots=True)
class QueryPart:
    """One thing that a query says, in words."""

    kind: Literal["query", "join", "where", "having", "case", "shown", "order", "other"]
    """`join`, `where`, `having` and `case` (within an expression) are conditions by their clause;
    `query` introduces a subquery; `shown` has computed items and their grouping; `other` is SQL
    without words."""
    text: str
    """All of it in one line."""
    depth: int = 0
    """Number of subqueries and alternatives around it: it belongs to the last part before it of a
    lower depth."""
    condition: QueryCondition | None = None
    lead: str = ""
    """`either` or `or` before an alternative, as in the text."""


Author = Literal["language_model", "embedded", "stand_in", "other"]
"""The author of a query: a language model; the embedded models of a recipe that asks no other; the
same in place of a language model that wrote none; a step of somebody else's."""

RefusalReason = Literal["write", "language", "empty", "too_long", "unanswerable", "unsure"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason no answer is given, and the nearest thing that could be done."""

    reason: RefusalReason
    message: str
    suggestion: str = ""


SignKind = Literal["tests", "second_opinion", "machine_check", "unexplained"]
"""The unit tests it passes; the embedded models' own answer; a fault read in the query; words of
the question that nothing in the database explains."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that speaks for an answer or against it. It is no probability."""

    kind: SignKind
    text: str
    favours: bool
    """True if it speaks for the answer."""
    grave: bool = False
    """True if it alone is a reason to doubt the answer."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The grounds for how sure an answer is."""

    kind: Literal["calibrated", "agreement", "none"] = "none"
    """`calibrated`: the confidence is a probability, fitted to questions with known answers, on
    databases that the models weren't trained on or on this one (`fitted_to`). `agreement`: no
    probability; so many samples agree. `none`: there was nothing to compare the query with."""
    agreeing: int = 0
    """Queries with the answer's result, itself included."""
    of: int = 0
    """Queries that were written, those that failed and replies that declined included."""
    signs: tuple[Sign, ...] = ()
    fitted_to: str = ""
    """The questions that a `calibrated` probability was fitted to, in words."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of language models; zero for the embedded models."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float | None = 0.0
    """In US dollars; None is 'unknown'."""
    cached: int = 0
    """Replies taken from the cache or a recording; they cost nothing and are in no other number
    but those of `kept_`."""
    reasoning_tokens: int = 0
    """The part of `reply_tokens` that was reasoning, as far as endpoints say."""
    cached_prompt_tokens: int = 0
    """The part of `prompt_tokens` that endpoints had in their own prefix caches."""
    written_prompt_tokens: int = 0
    """The part of `prompt_tokens` that they put there, as far as they say."""
    unanswered: int = 0
    """The part of `calls` that brought no reply."""
    kept_calls: int = 0
    """Calls that the `cached` replies took when they were made; so for the numbers below."""
    kept_prompt_tokens: int = 0
    kept_reply_tokens: int = 0
    kept_cost: float | None = 0.0
    kept_seconds: float = 0.0
    """Seconds that were saved: a step waits for replies side by side at once."""
    kept_by_text: int = 0
    """Cached replies that were kept without what they took: their tokens are estimated."""

    @property
    def fresh(self) -> Took:
        """The cost with nothing in the cache: of what was sent and of what was at hand."""
        known = self.cost is not None and self.kept_cost is not None
        return Took(
            self.calls + self.kept_calls,
            self.prompt_tokens + self.kept_prompt_tokens,
            self.reply_tokens + self.kept_reply_tokens,
            (self.cost or 0.0) + (self.kept_cost or 0.0) if known else None,
            self.kept_seconds,
        )


@dataclass(frozen=True, slots=True)
class StepTime:
    """Wall time of one step, in seconds."""

    step: str
    seconds: float


TierEnd = Literal["agrees", "differs", "nothing", "cut_short", "sure", "budget"]
"""The end of a tier: the query chosen before gives the model's result, or it doesn't; or the
model wrote none that runs, or hadn't yet when the budget or the time ended; or it wasn't entered,
as the embedded models were sure enough or the budget didn't reach."""


@dataclass(frozen=True, slots=True)
class TierRecord:
    """A decision whether to ask a language model (further), and what came of it."""

    name: str
    model: str
    """The language model, as `provider/model`."""
    end: TierEnd
    before: float | None
    """The embedded models' confidence before any tier; None where they wrote no query."""
    usage: Usage = Usage()
    """The calls, tokens and cost it took."""

    @property
    def entered(self) -> bool:
        """True if its steps were run."""
        return self.end not in {"sure", "budget"}


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """Probability that the question needs a column, in [0, 1]."""

    column: ColumnRef
    score: float


@dataclass(frozen=True, slots=True)
class TableLink:
    """Probability that the question needs a table, in [0, 1]."""

    table: str
    score: float


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that the question speaks of, in its words, and the columns that may hold it."""

    text: str
    columns: tuple[ColumnRef, ...]


@dataclass(frozen=True, slots=True)
class DescriptionMatch:
    """Documentation of a column that resembles the question."""

    column: ColumnRef
    part: Literal["label", "description", "value_description"]
    text: str
    score: float
    """Cosine similarity, in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class TableSummary:
    """A table in a sentence that a model wrote."""

    table: str
    text: str
    from_values: bool = True
    """True if the model may have seen stored values."""


@dataclass(frozen=True, slots=True)
class ColumnExamples:
    """Stored values that prompts show as examples of a column."""

    column: ColumnRef
    values: tuple[Cell, ...]
    """The most telling first."""
    characters: int = 50
    """Characters shown of one; a mark tells where it is longer."""


__all__ = [
    "CAVEATS",
    "FINDINGS",
    "TROUBLE",
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
    "Judgement",
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
    looked_up: tuple[str, ...] = ()
    """The steps that looked for stored values which the question names, whatever they found. Where
    there was none, repairs look up none either: the index is retrieval's."""
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
    discarded: tuple[Demonstration, ...] = ()
    """Demonstrations that a model made and that can't be used."""
    sub_questions: tuple[SubQuestion, ...] = ()
    """The question taken apart; the last one is the question itself."""
    sub_question: int = 0
    """Number of the sub-question at hand, from 1; 0 is the question as a whole."""
    candidates: tuple[Candidate, ...] = ()
    declines: tuple[Candidate, ...] = ()
    """Replies which say, in place of a query, that the database can't answer. Nothing runs or
    repairs them; selection counts and judges them beside the candidates."""
    tests: tuple[UnitTest, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    """The verdicts of judges of the candidates, in the order in which they were asked."""
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

    @property
    def for_question(self) -> tuple[Candidate, ...]:
        """The candidates for the question as a whole, without those for sub-questions."""
        return tuple(one for one in self.candidates if not one.goal)

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
    saved_seconds: float = 0.0
    """Seconds that it would have taken besides, had no reply of a language model been at hand."""
    usage: Usage = Usage()
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
    basis: Basis = Basis()
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
