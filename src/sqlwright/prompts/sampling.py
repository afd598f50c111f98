"""Asking a model: prompts, how replies are sampled and parsed, and what is asked again.

A reply that can't be parsed is asked for again a bounded number of times, then it is a gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from annotated_types import Ge, Le

from sqlwright.errors import (
    BudgetSpent,
    Cancelled,
    MalformedReply,
    ModelFailed,
    ModelRejected,
    SqlwrightError,
)
from sqlwright.events import Event, ModelCalled, ReplyUnreadable
from sqlwright.llm.sending.repetition import REPEATS, cycle_of
from sqlwright.messages import Effort, Message, Missing, Reply, Request, Sample, Tool, Verbosity
from sqlwright.prompts.loose_json import completed
from sqlwright.prompts.templates import model_text, plain_text
from sqlwright.prompts.tool_calls import held_to, said
from sqlwright.protocols import Context, LanguageModel, Run, Step
from sqlwright.types import Answer, Note

if TYPE_CHECKING:
    from sqlwright.types import State

T = TypeVar("T")

_ERRORS: Mapping[str, type[SqlwrightError]] = {
    "cancelled": Cancelled,
    "budget": BudgetSpent,
    "rejected": ModelRejected,
    "gone": ModelRejected,
    "unavailable": ModelFailed,
    "unrecorded": ModelFailed,
    "cut": MalformedReply,
}

MOST_REPLY_TOKENS = 4_096
"""Tokens of a reply's text for a step that isn't in `REPLY_TOKENS`."""
REPLY_TOKENS: Mapping[str, int] = {
    "agent": 512,
    "retrieval.extract_keywords": 512,
    "schema_linking.filter_columns": 2_048,
    "schema_linking.entities": 2_048,
    "schema_linking.summarise_tables": 4_096,
    "schema_linking.select_tables": 2_048,
    "schema_linking.select_columns": 2_048,
    "generation.decompose": 2_048,
    "generation.make_examples": 8_192,
    "selection.generate_tests": 2_048,
    "selection.independent": 2_048,
    "selection.multi_sample": 2_048,
    "selection.pairwise": 2_048,
    "selection.ranker": 2_048,
}
"""By step. Chosen: several times the length of usual replies, so that few are asked for again, and
small enough to leave the context and the budget to the prompt."""

_TAILS = (" AND more_of_it", " WHERE more_of_it")
"""A text that is continued by these and reads the same was whole: no SQL or JSON was open."""
CUT = (
    "a reply of the model was cut off at its limit of tokens; it isn't used, as half of it is lost"
)

ENDLESS = "it repeats itself without end"
"""The reason why a reply that does so isn't used."""
AGAIN = "That reply could not be used: {problem}. Reply again, in exactly the form asked for."

_INSTEAD = {
    "system": "messages of the system's; its instructions go before the question",
    "a temperature of 0": "a temperature of 0; it is given one of 0.01",
}
"""Settings that a model doesn't take, and what it is given in their place."""


@dataclass(frozen=True)
class Prompt(Generic[T]):
    """Messages, and how to read the reply to them."""

    messages: tuple[Message, ...]
    parse: Callable[[str], T]
    """Raises MalformedReply saying what is wrong with a reply."""
    reply_schema: dict[str, Any] | None = field(default=None, compare=False)
    """JSON schema of the reply, for models that can be held to one."""
    tools: tuple[Tool, ...] = field(default=(), compare=False)
    """Tools that a reply may call, for models that can. `parse` is given a call as the JSON object
    that other models write: {"tool": its name, "arguments": the JSON text}."""
    logprobs: int | None = field(default=None, compare=False)
    """Likeliest tokens wanted for each token of a reply, for `weigh`; None asks for none."""
    weigh: Callable[[Reply], T | None] | None = field(default=None, compare=False)
    """Reads a reply with its log probabilities; None where it has none to go by: `parse` reads."""
    otherwise: Callable[[str], T | None] = field(default=lambda _: None, compare=False)
    """Reads a reply that `parse` can't, to a prompt that told what was wrong with the one before;
    None where it says nothing either."""
    round: int = 0
    """Number of replies about the same thing that came before; seeds depend on it."""


@dataclass(frozen=True)
class Sampling:
    """The model's name and the parameters of sampling."""

    model: str = ""
    """`provider/model`; empty is the run's own."""
    temperature: Annotated[float, Ge(0), Le(5)] = 0.0
    n: Annotated[int, Ge(1), Le(256)] = 1
    max_tokens: Annotated[int, Ge(1), Le(1_000_000)] | None = None
    """Tokens of a reply's text at first; None is the step's own limit. See `reply_limit`."""
    reasoning: Effort | None = None
    """Effort of reasoning; None is as the model is configured."""
    verbosity: Verbosity | None = None
    """Length of replies; None is as the model is configured."""
    again: Annotated[int, Ge(0), Le(20)] = 1
    """Attempts to get a reply that can be parsed, after the first."""

    def reply_limit(self, step: str) -> int:
        """Tokens of a reply's text that a step by that name asks for at first. Reasoning isn't
        counted, and a reply that ends there is asked for again with more; see `Request`."""
        return self.max_tokens or REPLY_TOKENS.get(step, MOST_REPLY_TOKENS)


class PromptStep(Step):
    """A step that asks the language model its `sampling` names."""

    sampling: Sampling

    @property
    def language_models(self) -> tuple[str, ...]:
        """The model of `sampling`."""
        return (self.sampling.model,)


def ask(
    prompts: Sequence[Prompt[T]],
    state: State,
    context: Context,
    *,
    step: str,
    sampling: Sampling,
    leaving: int = 0,
) -> list[tuple[T | None, ...]]:
    """For each prompt what its `sampling.n` replies say; None where there is none to use. Of a
    budget of calls `leaving` are left for what comes after it, however many it asks for.

    When not one reply could be used: raises Cancelled, BudgetSpent, ModelRejected, ModelFailed or,
    if there were replies, MalformedReply. Seeds depend on the run's seed, the
    step, the state's sample and the prompt's round.
    """
    run = context.run
    model = context.llm(sampling.model)
    requests = [
        Request(
            messages=prompt.messages,
            n=sampling.n,
            temperature=sampling.temperature,
            max_tokens=sampling.reply_limit(step),
            seed=_seed(run, f"{step}/{state.sample}/{index}", prompt.round),
            reasoning=sampling.reasoning,
            verbosity=sampling.verbosity,
            reply_schema=held_to(prompt.reply_schema, prompt.tools, model.capabilities),
            tools=prompt.tools if model.capabilities.tools else (),
            logprobs=prompt.logprobs,
            is_whole=partial(_is_whole, prompt.parse),
        )
        for index, prompt in enumerate(prompts)
    ]
    send = partial(_complete, model=model, run=run, step=step, leaving=leaving)
    samples = send(requests)
    results = _Results(prompts, samples, run, step)
    for again in range(1, sampling.again + 1):
        wrong = list(results.malformed())
        if not wrong:
            break
        retries = [_again(requests[p], samples[p][k], k, problem, again) for p, k, problem in wrong]
        for (p, k, _), (reply,) in zip(wrong, send(retries), strict=True):
            results.replace(p, k, reply)
    return results.finished()


def _complete(
    requests: Sequence[Request], *, model: LanguageModel, run: Run, step: str, leaving: int
) -> list[list[Sample]]:
    """The replies; those that the calls to be left don't allow are missing."""
    counts = [request.n for request in requests]
    left = run.spending.left().calls
    if leaving and left is not None:
        room = max(left - leaving, 0)
        for place, request in enumerate(requests):
            given = min(1 if model.capabilities.n else request.n, room)
            room -= given
            counts[place] = request.n if given and model.capabilities.n else given
    sent = [replace(r, n=count) for r, count in zip(requests, counts, strict=True) if count]
    replies = iter(model.complete(sent, run, step=step) if sent else ())
    kept = Missing("budget", "what is left of the budget is kept for the query")
    return [
        [*(next(replies) if count else ()), *(kept for _ in range(request.n - count))]
        for request, count in zip(requests, counts, strict=True)
    ]


class _Results(Generic[T]):
    """Outcomes of each sample of each prompt."""

    def __init__(
        self, prompts: Sequence[Prompt[T]], samples: list[list[Sample]], run: Run, step: str
    ) -> None:
        self._prompts = prompts
        self._samples = samples
        self._run = run
        self._step = step
        self._read: list[list[T | MalformedReply | Missing]] = [
            [self._parsed(index, sample) for sample in row] for index, row in enumerate(samples)
        ]

    def malformed(self) -> Iterator[tuple[int, int, str]]:
        """Prompt, sample and problem of each reply that could not be parsed."""
        for index, row in enumerate(self._read):
            for k, outcome in enumerate(row):
                if isinstance(outcome, MalformedReply):
                    yield index, k, str(outcome)

    def replace(self, index: int, k: int, sample: Sample) -> None:
        """Take another reply, unless there is none: then the old problem stands."""
        if not isinstance(sample, Reply):
            return
        self._samples[index][k] = sample
        read = self._parsed(index, sample)
        if isinstance(read, MalformedReply):
            told = self._prompts[index].otherwise(said(sample))
            read = read if told is None else told
        self._read[index][k] = read

    def finished(self) -> list[tuple[T | None, ...]]:
        """Gaps for what failed; an error if nothing is left."""
        flat = [outcome for row in self._read for outcome in row]
        bad = [outcome for outcome in flat if isinstance(outcome, MalformedReply | Missing)]
        if bad and len(bad) == len(flat):
            raise self._error(bad)
        return [
            tuple(None if isinstance(o, MalformedReply | Missing) else o for o in row)
            for row in self._read
        ]

    def _parsed(self, index: int, sample: Sample) -> T | MalformedReply | Missing:
        if isinstance(sample, Missing):
            return sample
        prompt = self._prompts[index]
        try:
            weighed = prompt.weigh(sample) if prompt.weigh is not None else None
            if weighed is not None:
                return weighed
            if sample.finish == REPEATS:
                return _of_repeating(prompt.parse, said(sample))
            if sample.finish == "length" and not _is_whole(prompt.parse, said(sample)):
                self._run.events(ReplyUnreadable(self._step, index, CUT))
                return Missing("cut", CUT)
            return prompt.parse(said(sample))
        except MalformedReply as error:
            self._run.events(ReplyUnreadable(self._step, index, str(error)))
            return error

    def _error(self, bad: Sequence[MalformedReply | Missing]) -> Exception:
        """The most telling reason why there is nothing."""
        self._run.check()
        missing = {outcome.kind: outcome.message for outcome in bad if isinstance(outcome, Missing)}
        for kind, error in _ERRORS.items():
            if kind in missing:
                return error(missing[kind])
        problem = next(outcome for outcome in bad if isinstance(outcome, MalformedReply))
        return MalformedReply(f"the model's reply could not be used: {problem}")


def _again(request: Request, sample: Sample, k: int, problem: str, again: int) -> Request:
    """The same request with the reply that was wrong and what was wrong with it."""
    reply = model_text(said(sample) if isinstance(sample, Reply) else "")
    follow = (
        Message("assistant", reply),
        Message("user", plain_text(AGAIN.format(problem=problem))),
    )
    return replace(
        request,
        messages=(*request.messages, *follow),
        n=1,
        seed=(request.seed + k + 1_000 * again) & 0x7FFFFFFF,
    )


def _is_whole(parse: Callable[[str], object], text: str) -> bool:
    """True for a text that was broken off after all that is wanted of it: what it would have gone
    on with changes nothing."""
    try:
        return all(parse(text) == parse(text.rstrip() + tail) for tail in _TAILS)
    except MalformedReply:
        return False


def _of_repeating(parse: Callable[[str], T], text: str) -> T:
    """The part of a reply that repeats itself which doesn't depend on how often it does. Raises
    MalformedReply where there is none, as for a query that never ends."""
    cycle = cycle_of(text)
    texts = [cycle.with_copies(number) for number in (2, 3)] if cycle else [text, text]
    for once, twice in (texts, [*map(completed, texts)]):
        try:
            found = parse(once)
            if found == parse(twice):
                return found
        except MalformedReply:
            continue
    raise MalformedReply(ENDLESS)


def _seed(run: Run, name: str, turn: int) -> int:
    return run.random(f"{name}/{turn}" if turn else name).getrandbits(31)


def remarks(event: Event) -> Iterator[Note]:
    """Notes on a language model that an event gives rise to."""
    if isinstance(event, ReplyUnreadable) and event.problem == CUT:
        yield Note("model", CUT)
    if isinstance(event, ModelCalled):
        for name in event.left_out:
            instead = _INSTEAD.get(name, f"{name!r}, which is left out")
            yield Note("parameter", f"{event.model} doesn't take {instead}")
        if any(isinstance(reply, Reply) and reply.unsaid for reply in event.replies):
            text = "has no text but its reasoning; that was read"
            yield Note("model", f"a reply of {event.model} {text}")
        if any(isinstance(reply, Reply) and reply.finish == REPEATS for reply in event.replies):
            text = f"a reply of {event.model} to {event.step} repeated itself without end"
            yield Note("model", f"{text} and was broken off")


def remarked(answer: Answer, notes: Iterable[Note]) -> Answer:
    """The answer with these notes, too; what it tells already isn't told again."""
    told = (answer.message, *(note.text for note in answer.warnings))
    new = tuple(note for note in notes if not any(note.text in text for text in told))
    return replace(answer, warnings=(*answer.warnings, *new))
