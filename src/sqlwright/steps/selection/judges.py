"""Selectors with a judge: it sees all queries at once, grouped or not, by pairs, or each alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from sqlwright.candidates import ResultGroup, deduplicate, result_places
from sqlwright.messages import Text
from sqlwright.prompts.cells import render_result
from sqlwright.prompts.fitting import Portion
from sqlwright.prompts.sampling import Sampling
from sqlwright.prompts.schema import render_sql
from sqlwright.prompts.templates import plain_text
from sqlwright.protocols import Run
from sqlwright.steps.selection.agreement import clusters
from sqlwright.steps.selection.judging.queries import (
    NO_RESULT,
    Shown,
    laid_out,
    results_apart,
    shown,
)
from sqlwright.steps.selection.judging.step import (
    Heat,
    JudgingStep,
    Panel,
    Votes,
    by_candidate,
    shares,
    summed,
)
from sqlwright.steps.selection.judging.verdicts import letter_from, number_from, right_from
from sqlwright.steps.selection.probabilities import probabilities, result_probabilities
from sqlwright.types import Candidate, ExecutionResult, State

MULTI_SAMPLE = "selection.multi_sample"
PAIRWISE = "selection.pairwise"
LETTERS = ("A", "B")
BELOW = 0.999
"""Most that another candidate may have of the probability of the embedded critic's choice."""
ERRORS = 3
"""Most queries in error that the multi-sample critic is shown beside the others."""
ROWS, COLUMNS, CELL = 5, 5, 20
"""Most rows and columns of a result, and characters of a cell, that MSc-SQL's critics are shown."""
UNKNOWN = 0.5
"""The share of a query whose verdict is lost."""
_CLOSED = ConfigDict(json_schema_extra={"additionalProperties": False})


class Correct(BaseModel):
    """A judge's reply."""

    model_config = _CLOSED
    reasoning: str
    correct_sql: int


@dataclass(frozen=True)
class MultiSample(JudgingStep):
    """Takes the candidate that a critic names, which sees several with their results at once.

    MSc-SQL section 4. Every reply is a vote; ties go to the larger cluster, then to the better
    ranked. Candidates in error are shown with their messages, but can't be named: an error answers
    nothing.
    """

    form: Literal["joint", "pairs"] = "joint"
    """`joint` shows all different queries at once, the paper's form; `pairs` shows the best of each
    two clusters, in one order, and adds up the votes, as its code does."""
    judge: Literal["prompted", "number", "logprobs", "critic"] = "prompted"
    """`prompted` reasons, then names a number; `number` is asked for the number only, the paper's
    form for a model trained on it; `logprobs` shares the vote by the probabilities of the numbers;
    `critic` is the embedded critic, by its probabilities, at no call."""
    rows: int = ROWS
    """Most rows of each result that are shown."""
    columns: int = COLUMNS
    """Most columns of each result that are shown."""
    cell: int = CELL
    """Most characters of a cell that are shown."""
    window: int = 0
    """Most queries in one call of the joint form, at least 2; 0 is as many as fit the context with
    their whole results."""
    beyond: Literal["sliding", "tournament"] = "sliding"
    """More queries than that are seen window by window, and the winner of one goes into the next;
    or (`tournament`) in rounds of windows side by side, whose winners meet in the next round."""
    order: Literal["ranked", "shuffled"] = "ranked"
    """`ranked` shows the largest cluster first, equals as they are ranked; `shuffled` goes by the
    seed and the question, so that no place says how many agree: the form a critic is trained in."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ""
    """A template of your own; empty is the judge's."""

    name: ClassVar[str] = MULTI_SAMPLE
    templates: ClassVar[Mapping[str, str]] = {
        "prompted": "selection/multi_sample",
        "number": "selection/multi_sample_number",
        "logprobs": "selection/multi_sample_number",
    }
    reply: ClassVar[type[BaseModel]] = Correct
    likeliest: ClassVar[int] = 20
    purpose: ClassVar[str] = (
        "Compares queries with different results and selects the one that answers the question. "
        "Run it last: it ends the choice. One call, more only for many queries."
    )
    bounded: ClassVar[tuple[str, ...]] = ("rows", "columns", "cell", "window")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window == 1:
            raise ValueError("window must be at least 2, or 0 for as many as fit, not 1")

    def heats(self, groups: Sequence[ResultGroup]) -> int:
        """The windows or pairs; without a window one is supposed."""
        count = len(self.ranked(groups))
        if self.form == "pairs":
            return count * (count - 1) // 2
        return math.ceil((count - 1) / (self.window - 1)) if self.window else 1

    def read(self, text: str, count: int) -> Votes:
        """One vote for the query of the number."""
        return {number_from(text, count) - 1: 1.0}

    def words(self, count: int) -> Sequence[str]:
        """The numbers."""
        return [str(number) for number in range(1, count + 1)]

    def listed(self, state: State, run: Run) -> list[Shown]:
        """The queries in the order in which a prompt numbers them; windows and pairs are taken in
        this order, too."""
        ranked = self.ranked(clusters(state))
        if self.order == "shuffled":
            run.random(f"{self.name}/order/{state.question.text}").shuffle(ranked)
        return ranked

    def ranked(self, groups: Sequence[ResultGroup]) -> list[Shown]:
        """The queries that are shown, the largest cluster first; equals as they are ranked."""
        if self.form == "pairs":
            listed = best_of(groups)
        else:
            listed = [one for part in shown(groups, representatives=False) for one in part]
        sizes = {c.id: len(group.candidates) for group in groups for c in group.candidates}
        return sorted(listed, key=lambda one: -sizes[one.candidate.id])

    def asked(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """The winner of all windows has the greatest share; by pairs it is that of all votes."""
        listed = self.listed(panel.state, panel.context.run)
        did = (self._pairs if self.form == "pairs" else self._joint)(listed, groups, panel)
        return by_candidate(listed, did)

    def _joint(
        self, listed: list[Shown], groups: Sequence[ResultGroup], panel: Panel
    ) -> dict[int, float]:
        size = min(self.window or _fitting(listed, panel), len(listed))
        if size == len(listed):
            return shares(listed, summed(listed, panel.said([listed])[0]))
        ranks = [one.number for one in self.ranked(groups)]
        last: dict[int, float] = {}
        left = list(listed)
        while len(left) > 1:
            slides = self.beyond == "sliding"
            heats, later = ([left[:size]], left[size:]) if slides else _even(left, size)
            winners = []
            for heat, said in zip(heats, panel.said(heats), strict=True):
                votes = summed(heat, said)
                last.update(shares(heat, votes))
                winners.append(_winner(heat, votes, ranks))
            left = winners + later
        # Shares of different heats say little of each other: only who is left is better than all.
        return {number: share / 2 for number, share in last.items()} | {left[0].number: 1.0}

    def _pairs(
        self, listed: list[Shown], _groups: Sequence[ResultGroup], panel: Panel
    ) -> dict[int, float]:
        """A pair without a vote gives half of its votes to each."""
        heats: list[Heat] = list(combinations(listed, 2))
        lost = dict.fromkeys((0, 1), self.sampling.n / 2)
        total = dict.fromkeys((one.number for one in listed), 0.0)
        for heat, said in zip(heats, panel.said(heats), strict=True):
            for place, vote in (summed(heat, said) or lost).items():
                total[heat[place].number] += vote
        most = max(total.values()) or 1.0
        return {number: votes / most for number, votes in total.items()}

    def by_critic(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """Jointly, the probabilities beside all others; by pairs, the votes of comparisons in which
        the critic sees only two."""
        state, critic = panel.state, panel.context.critic
        if self.form == "joint":
            ran = [candidate for group in groups for candidate in group.candidates]
            (best, top), *others = probabilities(state, ran, critic).items()
            # A query without ORDER BY is as sure as each ordered one that has its rows.
            return {best: top} | {c: min(p, BELOW * top) for c, p in others}
        wins = [0.0] * len(groups)
        for one, other in combinations(range(len(groups)), 2):
            pair = [ResultGroup((groups[place].best,)) for place in (one, other)]
            first, second = result_probabilities(state, pair, critic)
            panel.record([group.best for group in pair], [first, second])
            wins[one] += 0.5 if first == second else float(first > second)
            wins[other] += 0.5 if first == second else float(second > first)
        most = len(groups) - 1
        return {c.id: won / most for g, won in zip(groups, wins, strict=True) for c in g.candidates}

    def variables(self, heat: Heat, state: State, portion: Portion) -> dict[str, Any]:
        """The queries with the first rows of their results, and what failed."""
        rows = math.ceil(self.rows * portion.listed)
        wrong = (c for c in state.for_question if c.result and not c.result.ok)
        failed = list(deduplicate(wrong))[:ERRORS]
        return {
            "queries": self._laid_out([one.candidate for one in heat], rows, state),
            "failed": self._laid_out(failed[: int(len(failed) * portion.listed)], rows, state),
            "count": len(heat),
        }

    def _laid_out(
        self, candidates: Sequence[Candidate], rows: int, state: State
    ) -> list[dict[str, Text]]:
        """Each with its number, query and result; a result is shown once."""
        return [
            {
                "number": plain_text(str(number)),
                "sql": render_sql(one, state.question),
                "result": _first_rows(one, rows, self.columns, self.cell)
                if first == number - 1
                else plain_text(f"the same as that of query {first + 1}"),
            }
            for number, (one, first) in enumerate(
                zip(candidates, result_places(candidates), strict=True), start=1
            )
        ]


class Best(BaseModel):
    """A judge's reply."""

    model_config = _CLOSED
    reasoning: str
    best: int


@dataclass(frozen=True)
class Ranker(JudgingStep):
    """Takes the candidate that a judge names the best of all, in one call.

    The baseline of CHASE-SQL's table 7, a ranker agent. It sees all different queries by their
    results. Of several replies (`sampling.n`) the most named query wins.
    """

    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "selection/ranker"

    name: ClassVar[str] = "selection.ranker"
    templates: ClassVar[Mapping[str, str]] = {}
    reply: ClassVar[type[BaseModel]] = Best
    purpose: ClassVar[str] = (
        "Selects the best of queries with different results, all shown at once. Run it last: it "
        "ends the choice. One call."
    )

    def heats(self, groups: Sequence[ResultGroup]) -> int:
        """One."""
        return 1

    def read(self, text: str, count: int) -> Votes:
        """One vote for the query of the number."""
        return {number_from(text, count) - 1: 1.0}

    def asked(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """The part of the replies that name a query."""
        heat = [one for group in shown(groups, representatives=False) for one in group]
        return by_candidate(heat, shares(heat, summed(heat, panel.said([heat])[0])))

    def variables(self, heat: Heat, state: State, portion: Portion) -> dict[str, Any]:
        """The queries by their results."""
        listed = shown(clusters(state), representatives=False)
        return {"groups": laid_out(listed, state, portion), "count": len(heat)}


class Choice(BaseModel):
    """A judge's reply."""

    model_config = _CLOSED
    reasoning: str
    better: Literal["A", "B"]


Points = Mapping[tuple[int, int], float]
"""By clusters (first shown, second shown) the first one's share of the point, in [0, 1]."""


@dataclass(frozen=True)
class Pairwise(JudgingStep):
    """Takes the candidate that wins most comparisons; ties go to the larger cluster.

    CHASE-SQL section 3.5, algorithm 3. There every candidate meets every other in both orders, and
    two with the same result give each other a point. Candidates with one result are right or wrong
    together, so the best of each cluster speaks for it, and a comparison counts as often as the
    other cluster has members: a candidate scores its cluster's other members plus, for each other
    cluster, its points from both orders times that cluster's size. This takes k(k - 1) calls for k
    clusters, asked side by side. Candidates in error take no part. A comparison that is lost gives
    each half of the point.
    """

    judge: Literal["prompted", "letter", "logprobs", "critic"] = "prompted"
    """`prompted` reasons, then chooses; `letter` is asked for one letter only, the paper's form for
    a model trained on it; `logprobs` shares the point by the probability of that letter; `critic`
    is the embedded critic, by its probabilities, at no call."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ""
    """A template of your own; empty is the judge's."""

    name: ClassVar[str] = PAIRWISE
    templates: ClassVar[Mapping[str, str]] = {
        "prompted": "selection/pairwise",
        "letter": "selection/pairwise_letter",
        "logprobs": "selection/pairwise_letter",
    }
    reply: ClassVar[type[BaseModel]] = Choice
    purpose: ClassVar[str] = (
        "Compares queries with different results by pairs, in both orders, and selects the one "
        "that wins most. Run it last: it ends the choice. Two calls for each pair of results."
    )

    def heats(self, groups: Sequence[ResultGroup]) -> int:
        """Two for each pair of clusters."""
        return len(orders(groups))

    def read(self, text: str, count: int) -> Votes:
        """The point for A or B."""
        return {LETTERS.index(letter_from(text, LETTERS)): 1.0}

    def words(self, count: int) -> Sequence[str]:
        """The letters."""
        return LETTERS

    def asked(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """The points of all comparisons."""
        best, pairs = best_of(groups), orders(groups)
        said = panel.said([(best[a], best[b]) for a, b in pairs])
        return _scores(
            groups,
            {pair: _mean_of_first(votes) for pair, votes in zip(pairs, said, strict=True) if votes},
        )

    def by_critic(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """Points are, of each pair, a cluster's part of the sum of both probabilities; the order in
        which they are shown doesn't matter."""
        sure = result_probabilities(panel.state, groups, panel.context.critic)
        points = {}
        for a, b in orders(groups):
            if a < b:
                panel.record([groups[a].best, groups[b].best], [sure[a], sure[b]])
            both = sure[a] + sure[b]
            points[a, b] = sure[a] / both if both > 0 else 0.5
        return _scores(groups, points)

    def variables(self, heat: Heat, state: State, portion: Portion) -> dict[str, Any]:
        """Both queries, with the rows in which their results differ."""
        apart = results_apart([one.candidate for one in heat], portion)
        return {
            "queries": [
                {
                    "letter": Text.of(letter, "template"),
                    "sql": render_sql(one.candidate, state.question),
                    "result": result,
                }
                for letter, one, result in zip(LETTERS, heat, apart, strict=True)
            ]
        }


class Verdict(BaseModel):
    """A judge's reply."""

    model_config = _CLOSED
    reasoning: str
    verdict: Literal["right", "wrong"]


@dataclass(frozen=True)
class Independent(JudgingStep):
    """Takes the candidate that a critic most surely holds for right, judging each by itself.

    MSc-SQL section 4.1, the independent critic of its table 5, against which seeing all candidates
    at once is measured. One of each cluster is judged; ties go to the larger cluster. A verdict
    that is lost is as good as even. Candidates in error aren't judged.
    """

    judge: Literal["logprobs", "prompted", "critic"] = "logprobs"
    """`logprobs` is asked for one word, and the probability of yes counts, or the word itself where
    a model gives no probabilities; `prompted` reasons, then says right or wrong; `critic` is the
    embedded critic, at no call."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ""
    """A template of your own; empty is the judge's."""

    name: ClassVar[str] = "selection.independent"
    templates: ClassVar[Mapping[str, str]] = {
        "prompted": "selection/independent",
        "logprobs": "selection/independent_word",
    }
    reply: ClassVar[type[BaseModel]] = Verdict
    purpose: ClassVar[str] = (
        "Judges each query with another result by itself and selects the one that is most surely "
        "right. Run it last: it ends the choice. One call for each result."
    )

    def heats(self, groups: Sequence[ResultGroup]) -> int:
        """One for each cluster."""
        return len(groups)

    def read(self, text: str, count: int) -> Votes:
        """The whole share, or nothing."""
        return {0: float(right_from(text))}

    def words(self, count: int) -> Sequence[str]:
        """Right or wrong in a word."""
        return ("yes", "no")

    def asked(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """The part of yes in what is said of a query."""
        listed = best_of(groups)
        # The same part of the schema for all: what one of them leaves out may be right.
        said = panel.said([[one] for one in listed], schema=listed)
        return by_candidate(
            listed,
            {
                one.number: _mean_of_first(votes) if votes else UNKNOWN
                for one, votes in zip(listed, said, strict=True)
            },
        )

    def by_critic(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """The probabilities of candidates that the critic sees one at a time."""
        state, critic = panel.state, panel.context.critic
        alone = {g.best.id: (ResultGroup((g.best,)),) for g in groups}
        sure = {one: result_probabilities(state, g, critic)[0] for one, g in alone.items()}
        return {c.id: sure[group.best.id] for group in groups for c in group.candidates}

    def variables(self, heat: Heat, state: State, portion: Portion) -> dict[str, Any]:
        """The query with the first rows of its result."""
        (one,) = (shown.candidate for shown in heat)
        return {
            "sql": render_sql(one, state.question),
            "result": _first_rows(one, math.ceil(ROWS * portion.listed), COLUMNS, CELL),
        }


def best_of(groups: Sequence[ResultGroup]) -> list[Shown]:
    """The best of each cluster, which speaks for all in it."""
    return [Shown(n, group.best, group.candidates) for n, group in enumerate(groups, start=1)]


def orders(groups: Sequence[ResultGroup]) -> list[tuple[int, int]]:
    """The comparisons in the order in which they are asked: the places of the results that are
    shown as A and as B."""
    return list(permutations(range(len(groups)), 2))


def _first_rows(candidate: Candidate, rows: int, columns: int, cell: int) -> Text:
    if candidate.declined:
        return NO_RESULT
    result = candidate.result or ExecutionResult()
    return render_result(result, rows=rows, columns=columns, limit_cell=cell)


def _mean_of_first(said: Sequence[Votes]) -> float:
    return sum(votes.get(0, 0.0) for votes in said) / len(said)


def _scores(groups: Sequence[ResultGroup], points: Points) -> dict[str, float]:
    """The score of each candidate by its id, as a share of the most that one can have."""
    sizes = [len(group.candidates) for group in groups]
    most = 2 * sum(sizes)
    did: dict[str, float] = {}
    for place, group in enumerate(groups):
        score = float(sizes[place] - 1)
        score += sum(
            size * (points.get((place, other), 0.5) + 1 - points.get((other, place), 0.5))
            for other, size in enumerate(sizes)
            if other != place
        )
        did.update({one.id: score / most for one in group.candidates})
    return did


def _fitting(listed: Sequence[Shown], panel: Panel) -> int:
    """The most queries, two at least, whose results a prompt shows in full."""
    size = len(listed)
    while size > 2:
        fitted = panel.fitted(listed[:size])
        if fitted.fits and fitted.portion.listed == fitted.full.listed:
            break
        size = (size + 1) // 2
    return size


def _winner(heat: Heat, votes: Votes, ranks: Sequence[int]) -> Shown:
    """The query with most votes; of equals, and without votes, the better ranked."""
    place = max(
        range(len(heat)), key=lambda at: (votes.get(at, 0.0), -ranks.index(heat[at].number))
    )
    return heat[place]


def _even(left: list[Shown], size: int) -> tuple[list[list[Shown]], list[Shown]]:
    """Heats of at most `size` queries and of about equal sizes; one that is left alone meets the
    winners."""
    each = math.ceil(len(left) / math.ceil(len(left) / size))
    heats = [left[at : at + each] for at in range(0, len(left), each)]
    alone = heats.pop() if len(heats[-1]) == 1 else []
    return heats, alone
