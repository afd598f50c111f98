"""Labelling a run's wrong answers: one after another, a key each."""

from __future__ import annotations

import getpass
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from sqlwright.cli.failure import UsageError
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed.keys import BLANK, END, KeyReader
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.cli.views.evaluate.errors import error_lines, label_lines
from sqlwright.cli.views.label.item import item_lines
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.error_classes.classes import LABELS, MEANINGS
from sqlwright.lab.evaluation.error_classes.figures import error_figures
from sqlwright.lab.evaluation.error_classes.labels import (
    append_label,
    by_person,
    label_now,
    read_labels,
    to_label,
)
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import run_rule, write_json

KEYS = {
    "n": "nothing", "g": "gold", "e": "evidence", "t": "table", "c": "column", "j": "join",
    "l": "literal", "w": "condition", "f": "calculation", "a": "aggregation", "b": "grouping",
    "d": "duplicates", "o": "order", "k": "limit", "s": "shape", "i": "unclear", "v": "vague",
    "x": "data", "r": "right",
}  # fmt: skip
UNDO, SKIP, QUIT, HELP, AGREE = "u", ".", "q", "?", "y"
ACTIONS = {"undo": UNDO, "skip": SKIP, "quit": QUIT, "help": HELP, "agree": AGREE}


@dataclass(frozen=True)
class Chosen:
    """A run, the wrong answers of it that are to be labelled, and who labels."""

    folder: Path
    rule: str
    by: str
    records: Sequence[Record]
    wrong: Sequence[Record]

    @property
    def done(self) -> Mapping[str, str]:
        """The labels that this person has given so far, by question."""
        return by_person(read_labels(self.folder), self.records).get(self.by, {})

    def figures(self) -> dict[str, Any]:
        """The run's figures about errors, labels included."""
        return error_figures(self.records, self.rule, read_labels(self.folder))


def labelled_run(folder: Path, *, only: str, sample: int | None, seed: int, by: str) -> Chosen:
    """The run in a folder. Raises DatasetError where there is none, and UsageError."""
    rule = run_rule(folder)
    found = records.read(folder)
    wrong = to_label(found, rule, only=only, sample=sample, seed=seed)
    return Chosen(folder, rule, by or _user(), found, wrong)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise UsageError("there is no user's name", hint="Say who labels with --by.") from None


def show_figures(screen: Screen, chosen: Chosen, *, as_json: bool) -> None:
    """Show the figures about labels; as JSON the answers that are left, too."""
    figures = chosen.figures()
    if not as_json:
        display = DisplayOptions.of(screen)
        screen.show([*error_lines(figures, display), *label_lines(figures["labels"], display)])
        return
    done = chosen.done
    left = [_as_data(record) for record in chosen.wrong if record.id not in done]
    shown = {"by": chosen.by, "left": left, "errors": figures}
    write_result(json.dumps(shown, indent=2, ensure_ascii=True) + "\n")


def _as_data(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "db_id": record.db_id,
        "question": record.question,
        "evidence": record.evidence,
        "gold_sql": record.gold_sql,
        "sql": record.sql,
        "results": record.results,
        "code": record.errors,
    }


class Labelling:
    """A person at work, or a pipe."""

    def __init__(self, screen: Screen, chosen: Chosen) -> None:
        self._screen, self._chosen = screen, chosen
        self._display = DisplayOptions.of(screen)
        self._keys = KeyReader()
        self._waiting = [one for one in chosen.wrong if one.id not in chosen.done]
        self._at = 0
        self._given: list[int] = []
        """Places among those waiting that were labelled in this session, in order."""

    def work(self) -> int:
        """Show and ask until nothing is left or it is enough; the report then counts the labels."""
        if not self._waiting:
            self._screen.note(f"nothing is left to label for {clean(self._chosen.by, 60)}")
        else:
            self._explain()
        with self._keys:
            while self._at < len(self._waiting):
                self._show(self._waiting[self._at])
                if not self._asked():
                    break
        self._finish()
        return 0

    def _asked(self) -> bool:
        """One answer taken; False if there are to be no more."""
        said = ""
        while True:
            if self._keys.interactive and said != BLANK:
                self._screen.err.print("label (? lists the keys)> ", end="", style="strong")
            said = self._keys.read()
            if said == BLANK:
                continue
            if said == END or self._word(said) == QUIT:
                self._echo("quit" if said else "")
                return False
            if self._take(self._word(said)):
                return True

    def _word(self, said: str) -> str:
        """A label or an action from a key, its word, or the beginning of a line that says why."""
        word = said.strip()
        if word in LABELS:
            return word
        return ACTIONS.get(word, KEYS.get(word, word))

    def _take(self, word: str) -> bool:
        """Do what was said; False if that leaves the same answer to be labelled."""
        record = self._waiting[self._at]
        if word == AGREE and record.errors:
            word = str(record.errors[0]["class"])
        if word in LABELS:
            append_label(self._chosen.folder, label_now(record, word, self._chosen.by))
            self._given.append(self._at)
            self._echo(word)
            self._at += 1
            return True
        if word == SKIP:
            self._echo("skipped")
            self._at += 1
            return True
        if word == UNDO and self._given:
            self._at = self._given.pop()
            back = label_now(self._waiting[self._at], None, self._chosen.by)
            append_label(self._chosen.folder, back)
            self._echo("taken back")
            return True
        if word == UNDO:
            self._screen.note("nothing was labelled in this session")
        elif word == HELP:
            self._explain()
        elif not self._keys.interactive:
            raise UsageError(
                f"{clean(word, 60)!r} is no label; labels before it are kept ({len(self._given)})",
                hint=f"One a line: {', '.join(LABELS)}, skip, undo, quit.",
            )
        else:
            self._screen.note(f"{clean(word, 20)!r} is no key here; ? lists them")
        return False

    def _echo(self, word: str) -> None:
        if self._keys.interactive:
            self._screen.note(word)

    def _explain(self) -> None:
        if not self._keys.interactive:
            return
        keys = [
            Text.assemble((f" {key} ", "strong"), f"{name:<12}", (MEANINGS[name], "quiet"))
            for key, name in KEYS.items()
        ]
        more = f"{AGREE} as code says   {UNDO} undo   {SKIP} skip   {QUIT} quit   {HELP} this list"
        self._screen.say([*keys, Text(f" {more}", style="strong")])

    def _show(self, record: Record) -> None:
        head = f"{self._at + 1} of {len(self._waiting)}  {clean(record.id, 60)}"
        lines = [Text(), Text.assemble((head, "strong"), (f"  {clean(record.db_id, 60)}", "quiet"))]
        lines += item_lines(record, self._display)
        self._screen.show(lines)

    def _finish(self) -> None:
        path = self._chosen.folder / "report.json"
        figures = self._chosen.figures()
        if self._given and path.exists():
            write_json(path, json.loads(path.read_text(encoding="utf-8")) | {"errors": figures})
        left = len(self._waiting) - len(self._given)
        self._screen.note(f"{len(self._given):,} labelled, {left:,} left")
        self._screen.say(label_lines(figures["labels"], self._display))
