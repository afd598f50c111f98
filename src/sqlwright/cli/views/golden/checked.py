"""A run checked by its gate: files written, lines shown, exit code given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.text import Text

from sqlwright.cli.failure import ANSWERS_LOST, UNDER_SHARE
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed.gating import Gating
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.golden.baseline import taken, write_baseline
from sqlwright.lab.evaluation.golden.gate import Checked, Gate
from sqlwright.lab.evaluation.golden.junit import junit_xml
from sqlwright.lab.evaluation.golden.writing import write_whole

SHOWN = 50
"""Answers that are listed of a kind; the files have them all."""


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of a run that is to be, ready before it begins."""

    gating: Gating
    dataset: Dataset
    limit: int | None
    gate: Gate

    @classmethod
    def of(
        cls,
        gating: Gating,
        dataset: Dataset,
        limit: int | None,
        folder: Path | str | None = None,
        *,
        part: bool = False,
    ) -> Checks | None:
        """The checks that options name; None where they name none, since checking takes all records
        into memory. Raises UsageError and DatasetError."""
        if not gating.given:
            return None
        gating.check_run(folder, part=part)
        return cls(gating, dataset, limit, gating.gate(dataset.rule, limit))

    def outcome(self, folder: Path) -> Outcome:
        """Check the run that the folder holds and write what the options name. Raises
        DatasetError."""
        found = records.read(folder)
        asked, rule = self.dataset.examples[: self.limit], self.dataset.rule
        checked = self.gate.check(asked, found, rule)
        if self.gating.junit is not None:
            text = junit_xml(self.dataset, asked, found, rule, now=datetime.now(UTC))
            write_whole(self.gating.junit, text)
        if self.gating.write is not None:
            write_baseline(self.gating.write, taken(found, rule))
        return Outcome(checked)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A checked run, as the command line tells it."""

    checked: Checked

    @property
    def code(self) -> int:
        """The exit code: too few right comes before some lost."""
        if self.checked.under:
            return UNDER_SHARE
        return ANSWERS_LOST if self.checked.lost else 0

    def data(self) -> dict[str, Any]:
        """The outcome for a JSON summary; empty where nothing was to be checked."""
        gate = self.checked.gate
        checks = gate.least is not None or gate.baseline is not None
        return {"gate": self.checked.as_dict()} if checks else {}

    def lines(self, display: DisplayOptions) -> Iterator[Text]:
        """The outcome for reading; nothing where nothing was to be checked."""
        if not self.data():
            return
        yield Text()
        yield from labelled("gate", self._share_entries(), display.width)
        since = self.checked.changes
        if since is None:
            return
        yield from labelled("baseline", [Text(_counts(self.checked))], display.width)
        lost = [self._entry(id_, reason=True) for id_ in since.lost[:SHOWN]]
        yield from labelled("broken", _cut(lost, len(since.lost)), display.width, hang=2)
        mended = [self._entry(id_, reason=False) for id_ in since.mended[:SHOWN]]
        yield from labelled("mended", _cut(mended, len(since.mended)), display.width, hang=2)

    def _share_entries(self) -> Iterator[Text]:
        share, gate = self.checked.share, self.checked.gate
        low, high = share.interval
        told = f"{share.hits:,} of all {share.total:,} questions right, {share.value:.1%}"
        told += f" ({low:.1%} to {high:.1%})"
        if gate.least is not None:
            under = self.checked.under
            told += f": {'under' if under else 'not under'} {gate.least:.1%}"
        yield Text(told, style="bad" if self.checked.under else "")
        if self.checked.lost and self.checked.changes is not None:
            most = f", {gate.lost:,} may be" if gate.lost else ""
            yield Text(
                f"{len(self.checked.changes.lost):,} wrong that the baseline has right{most}",
                style="bad",
            )

    def _entry(self, id_: str, *, reason: bool) -> Text:
        question = clean(self.checked.questions[id_], 200)
        why = f": {clean(self.checked.outcomes[id_], 300)}" if reason else ""
        return Text.assemble((clean(id_, 60), "strong"), f"  {question}", (why, "quiet"))


def _counts(checked: Checked) -> str:
    since = checked.changes
    assert since is not None
    counts = {
        "broken": since.lost,
        "mended": since.mended,
        "with another query": since.rewritten,
        "new": since.added,
        "gone": since.removed,
    }
    return ", ".join(f"{len(ids):,} {name}" for name, ids in counts.items())


def _cut(entries: Sequence[Text], whole: int) -> Iterator[Text]:
    yield from entries
    if whole > len(entries):
        yield Text(f"and {whole - len(entries):,} more", style="quiet")
