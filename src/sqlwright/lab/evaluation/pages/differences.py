"""The differences of two runs: which answers changed, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.figures.errors import main_class
from sqlwright.lab.evaluation.intervals import PairedDifference
from sqlwright.lab.evaluation.pages.runs import MeasuredRun, SettingDifference, setting_differences
from sqlwright.lab.evaluation.pages.sections.wrong import origin_words
from sqlwright.lab.evaluation.records import Record

ChangeKind = Literal["lost", "gained", "still_wrong"]
KINDS: dict[ChangeKind, str] = {
    "lost": "right before, wrong now",
    "gained": "wrong before, right now",
    "still_wrong": "wrong both times, with another query",
}
"""The kinds of changes, in the order in which they are told."""
LEVEL = 0.05
"""The p below which a difference is called more than chance."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question whose answer changed, as both runs have it."""

    kind: ChangeKind
    before: Record
    after: Record

    @property
    def wrong(self) -> Record:
        """The record that is wrong; of two wrong ones the second."""
        return self.before if self.kind == "gained" else self.after

    @property
    def reason(self) -> str:
        """The main error class and the origin of what is or was wrong, in a few words."""
        if self.kind == "still_wrong":
            before, after = _reason(self.before), _reason(self.after)
            return after if before == after else f"{before} before, {after} now"
        return f"{_reason(self.wrong)}{' before' if self.kind == 'gained' else ''}"


@dataclass(frozen=True)
class RunDifference:
    """Two runs, question by question."""

    first: MeasuredRun
    second: MeasuredRun
    pair: PairedDifference
    changes: tuple[Change, ...]
    rewritten: int
    """Questions that are right both times, with another query."""
    groups: Mapping[str, Mapping[str, PairedDifference]]
    """By `difficulty` and `database` the pairs of each value."""
    settings: tuple[SettingDifference, ...]
    warnings: tuple[str, ...]
    """Reasons why the two can't be compared as a whole."""

    @property
    def worse(self) -> bool:
        """True if the second is worse by more than chance."""
        return self.pair.value < 0 and self.pair.p < LEVEL

    @property
    def better(self) -> bool:
        """True if the second is better by more than chance."""
        return self.pair.value > 0 and self.pair.p < LEVEL

    def of(self, kind: ChangeKind) -> tuple[Change, ...]:
        """The changes of a kind."""
        return tuple(one for one in self.changes if one.kind == kind)


def difference(first: MeasuredRun, second: MeasuredRun) -> RunDifference:
    """The second run against the first over the questions that both have scored. Raises
    DatasetError where they have none in common."""
    rule = first.rule
    before = {one.id: one for one in first.records}
    after = {one.id: one for one in second.records}
    common = [key for key in after if key in before]
    other = {key for key in common if not _same_question(before[key], after[key])}
    pairs = [
        (before[key], after[key])
        for key in common
        if key not in other and "gold" not in (before[key].status, after[key].status)
    ]
    if not pairs:
        raise DatasetError(
            f"{first.folder} and {second.folder} have no question in common",
            hint="Compare two runs over the same data set.",
        )
    changes = [change for one, two in pairs if (change := _change(one, two, rule)) is not None]
    order = list(KINDS)
    changes.sort(key=lambda change: order.index(change.kind))
    return RunDifference(
        first,
        second,
        paired(pairs, rule),
        tuple(changes),
        sum(one.right(rule) and two.right(rule) and one.sql != two.sql for one, two in pairs),
        {
            "difficulty": _grouped(pairs, rule, lambda one: one.difficulty),
            "database": _grouped(pairs, rule, lambda one: one.db_id),
        },
        setting_differences(first.described, second.described),
        tuple(_warnings(first, second, len(common), len(other))),
    )


def paired(pairs: Iterable[tuple[Record, Record]], rule: str) -> PairedDifference:
    """The counts of questions by which of two runs has them right."""
    return PairedDifference.of([(one.right(rule), two.right(rule)) for one, two in pairs])


def verdict_words(found: RunDifference) -> str:
    """The difference in a plain sentence, and whether it is more than chance."""
    pair, name = found.pair, found.second.name
    if not pair.gained and not pair.lost:
        return f"{name} has the same {pair.total:,} questions right and wrong: no difference."
    low, high = pair.interval
    size = f"{abs(100 * pair.value):.1f} points"
    side = "better" if pair.value > 0 else "worse"
    lead = f"{name} is {size} {side}" if pair.value else f"{name} has as many right"
    between = f"95% interval {100 * low:+.1f} to {100 * high:+.1f}".replace("-", "−")
    counted = f"{pair.gained:,} gained, {pair.lost:,} lost, p = {p_words(pair.p)}"
    end = (
        "more than chance would do."
        if pair.p < LEVEL
        else "no more than chance would do, so nothing is shown to be better or worse."
    )
    return f"{lead} ({between}; {counted}): {end}"


def p_words(p: float) -> str:
    """A probability in two digits that count."""
    return "less than 0.0001" if p < 0.0001 else f"{p:.2g}"


def difference_data(found: RunDifference) -> dict[str, Any]:
    """The difference as plain data."""
    return {
        "format": "sqlwright-report-diff",
        "version": 1,
        "first": _named(found.first),
        "second": _named(found.second),
        "rule": found.first.rule,
        "verdict": verdict_words(found),
        "worse": found.worse,
        "better": found.better,
        "difference": found.pair.as_dict(),
        "right_with_another_query": found.rewritten,
        "by_difficulty": _groups_data(found.groups["difficulty"]),
        "by_database": _groups_data(found.groups["database"]),
        "settings": [
            {"name": one.name, "first": one.first, "second": one.second} for one in found.settings
        ],
        "warnings": list(found.warnings),
        "changes": [_change_data(one) for one in found.changes],
    }


def _groups_data(groups: Mapping[str, PairedDifference]) -> dict[str, Any]:
    return {name: pair.as_dict() for name, pair in groups.items()}


def _named(run: MeasuredRun) -> dict[str, Any]:
    return {
        "folder": str(run.folder),
        "name": run.name,
        "execution_accuracy": run.summary.get("execution_accuracy"),
        "finished": run.finished,
    }


def _change_data(change: Change) -> dict[str, Any]:
    before, after = change.before, change.after
    return {
        "id": after.id,
        "kind": change.kind,
        "database": after.db_id,
        "difficulty": after.difficulty,
        "question": after.question,
        "gold_sql": after.gold_sql,
        "reason": change.reason,
        "gold_result": change.wrong.results.get("gold"),
        "first": _answer_data(before),
        "second": _answer_data(after),
    }


def _answer_data(record: Record) -> dict[str, Any]:
    return {
        "sql": record.sql,
        "status": record.status,
        "verdicts": dict(record.verdicts),
        "errors": [dict(one) for one in record.errors or ()],
        "origin": dict(record.origin),
        "result": record.results.get("query"),
    }


def _change(before: Record, after: Record, rule: str) -> Change | None:
    was, is_right = before.right(rule), after.right(rule)
    if was and is_right:
        return None
    if was != is_right:
        return Change("lost" if was else "gained", before, after)
    same = before.sql == after.sql and before.status == after.status
    return None if same else Change("still_wrong", before, after)


def _reason(record: Record) -> str:
    origin = origin_words(record.origin)
    return main_class(record) + (f", {origin}" if origin else "")


def _same_question(one: Record, other: Record) -> bool:
    return (one.db_id, one.question, one.gold_sql) == (other.db_id, other.question, other.gold_sql)


def _grouped(
    pairs: Sequence[tuple[Record, Record]], rule: str, key: Callable[[Record], str]
) -> dict[str, PairedDifference]:
    """The pairs of each value, those that changed most first."""
    names = dict.fromkeys(key(one) for one, _ in pairs if key(one))
    found = {
        name: paired([(one, two) for one, two in pairs if key(one) == name], rule) for name in names
    }
    return dict(sorted(found.items(), key=lambda item: (-_changed(item[1]), item[0])))


def _changed(pair: PairedDifference) -> int:
    return pair.gained + pair.lost


def _warnings(first: MeasuredRun, second: MeasuredRun, common: int, other: int) -> Iterable[str]:
    for run in (first, second):
        if not run.finished:
            yield f"{run.name} isn't finished: {run.progress}."
        if (more := len(run.records) - common) > 0:
            yield f"{more:,} questions are in {run.name} alone and are left out."
    if other:
        yield (
            f"{other:,} questions have the same id, but another text, gold query or database, "
            "and are left out."
        )
    if first.rule != second.rule:
        yield (
            f"{second.name} was scored by the rule {second.rule}; both are compared by "
            f"{first.name}'s, {first.rule}."
        )
    names = [
        one.name for one in setting_differences(first.described, second.described) if one.of_data
    ]
    if names:
        yield f"The runs are over other data: they differ in {', '.join(names)}."
