"""`sqlwright chat`."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.text import Text

from sqlwright.api import Session
from sqlwright.boundary.home import make_private
from sqlwright.boundary.text import counted, readable
from sqlwright.caveats import Look
from sqlwright.cli.commands.golden import tell_added
from sqlwright.cli.commands.sql import execute, nearest, raise_failure
from sqlwright.cli.failure import report
from sqlwright.cli.opening import (
    AnswerAndState,
    Asking,
    note_destinations,
    opener,
    settled,
    warm_session,
)
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.interrupt import interruptible
from sqlwright.cli.terminal.layout import shorten
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import accept, read_database, reads_as_sql
from sqlwright.cli.views.answer import (
    DisplayOptions,
    doubt_lines,
    result_lines,
    sql_lines,
    warning_lines,
)
from sqlwright.cli.views.ask import show_found
from sqlwright.cli.views.asking_back import AskedBack, note_unclear, question_lines
from sqlwright.cli.views.explain import reasoning_lines
from sqlwright.errors import SqlwrightError
from sqlwright.lab.evaluation.golden.adding import NewQuestion, add_question
from sqlwright.protocols import Limits, Run
from sqlwright.running.answering import query_answer
from sqlwright.schema import Table
from sqlwright.settings.policy import check_model_is_asked
from sqlwright.sql.reading import tables_used
from sqlwright.types import Answer, ExecutionResult, Turn

EXAMPLES = """\
sqlwright chat shop.sqlite
sqlwright chat shop.sqlite < questions.txt
"""


def command(
    *,
    word: options.DatabaseWord = None,
    database: options.Database = None,
    recipe: options.RecipeOptions,
    model: options.ModelOptions,
    access: options.AccessOptions,
    shown: options.AnswerLimits,
    evidence: Annotated[
        str,
        typer.Option("--evidence", metavar="TEXT", help="Outside knowledge for every question."),
    ] = "",
    no_questions: options.NoQuestions = False,
    descriptions: options.Descriptions = None,
    allow_code: options.AllowCode = False,
    accept_login: options.AcceptLogin = False,
    history: Annotated[
        bool,
        typer.Option(
            "--history/--no-history",
            help="Keep typed lines for the next time, or don't.",
            show_default=False,
        ),
    ] = True,
) -> int:
    """Ask one question after another; the database stays open.

    Lines that begin with a colon are commands: `:help` lists them. Questions may also be piped
    in, one per line.
    """
    target = read_database(word, database)
    if accept_login:
        accept(target)

    screen = Screen.open()
    chosen = settled(
        recipe, model, access, shown, max_rows=shown.max_rows, descriptions=descriptions
    )
    check_model_is_asked(chosen, allow_code=allow_code)
    note_destinations(screen, chosen, allow_code=allow_code)
    open_session = opener(target, chosen, allow_code=allow_code)
    with Spinner(screen, "opening the database and loading the models") as spinner:
        session = warm_session(open_session, spinner)
    with session, LineReader(screen, history=chosen.chat_history if history else None) as prompt:
        talk = Conversation(
            screen,
            session,
            limits=chosen.limits,
            evidence=readable(evidence),
            max_rows=shown.max_rows,
            questions=prompt.interactive and screen.interactive and not no_questions,
        )
        talk.greet(prompt.interactive)
        for line in prompt:
            if not prompt.interactive:
                talk.repeat(line)
            if not talk.take(line):
                break
    return talk.exit_code


REMEMBERED = 5
"""Earlier questions handed on with a new one, for recipes that show them to a language model."""

HELP = {
    ":sql": "the last query, ready to copy",
    ":why": "the reasoning behind the last answer",
    ":alt N": "the query and rows of an alternative",
    ":rows N": "show up to N rows of the last result",
    ":run SQL": "run a query of your own under the guard",
    ":tables [PART]": "all tables and views, or those with that in their name",
    ":columns TABLE": "a table's columns, keys and descriptions",
    ":json": "the last answer as JSON",
    ":golden FILE": "keep the last question in a golden set, with the query shown last",
    ":new": "forget the last answer and all before it",
    ":help": "this list",
    ":quit": "leave (Ctrl-D does too)",
}


LEAVING = frozenset(f"{mark}{word}" for mark in ("", ":", "\\", ".") for word in ("exit", "quit"))
LEAVING |= {":q", "\\q", ".q"}
ALIASES = {"d": "tables", "dt": "tables", "schema": "columns", "h": "help", "?": "help"}
"""Names of commands in other programs."""
NAMED = frozenset(name.partition(" ")[0] for name in HELP)


class Conversation:
    """A session with one person: takes lines, shows answers, remembers the last one."""

    def __init__(
        self,
        screen: Screen,
        session: Session,
        *,
        limits: Limits,
        evidence: str = "",
        max_rows: int | None = None,
        questions: bool = False,
    ) -> None:
        self._questions = questions
        """True if questions may be asked back."""
        self._asked_back = AskedBack()
        self._screen = screen
        self._session = session
        self._evidence = evidence
        self._limits = limits
        self._max_rows = max_rows
        self._display = DisplayOptions.of(screen, max_rows, more=":rows N")
        self._last: AnswerAndState | None = None
        self._result: Answer | None = None
        """The rows shown last: an answer's, an alternative's or those of a query of one's own."""
        self._turns: list[Turn] = []
        self._shown_notes: set[str] = set()
        """Notes about the database, which hold for every answer and are told once."""
        self.exit_code = 0
        """Exit code of the last question, so that scripts can tell."""
        self._commands: dict[str, Callable[[str], None]] = {
            "sql": self._show_sql,
            "why": self._show_why,
            "alt": self._show_alternative,
            "rows": self._show_rows,
            "run": self._run_sql,
            "tables": self._show_tables,
            "columns": self._show_columns,
            "json": self._show_json,
            "golden": self._keep_golden,
            "new": self._forget,
            "help": self._show_help,
        }

    def greet(self, interactive: bool) -> None:
        """Say what is open, to a person, and to anybody that questions can't build on others."""
        recipe = self._session.recipe
        alone = "" if recipe.uses_history else f"{recipe.name} reads each question on its own."
        if not interactive:
            if alone:
                self._screen.note(clean(alone, 100))
            return
        schema = self._session.workspace.schema
        self._screen.note(
            f"{clean(schema.name, 100)}: {counted(len(schema.tables), 'table')}, "
            f"{schema.column_count:,} columns. Ask away; :help lists the commands."
        )
        if alone:
            self._screen.note(clean(alone, 100))
        for note in self._session.workspace.notes:
            self._screen.warn(note)
            self._shown_notes.add(note)

    def repeat(self, line: str) -> None:
        """Show a piped line above its answer."""
        self._screen.show([Text.assemble((f"> {clean(line, 10_000)}", "strong"))])

    def take(self, line: str) -> bool:
        """Act on one line; False when it says goodbye. Errors are shown, not raised."""
        if line.casefold() in LEAVING:
            return False
        name, rest = _command(line)
        try:
            if name is None and (asked := self._asked_back.unclear(line)):
                note_unclear(self._screen, asked)
            elif name is None and (chosen := self._asked_back.take(line)):
                self._choose(*chosen)
            elif name is None and self._is_query(line):
                self._screen.note("that is a query: run as it is, under the guard")
                self._run_sql(line)
            elif name is None:
                self._ask(line)
            elif name in self._commands:
                self._commands[name](rest)
            else:
                near = difflib.get_close_matches(name, self._commands, n=1)
                advice = f"did you mean :{near[0]}?" if near else ":help lists them"
                self._screen.note(f"no command :{clean(name, 40)}; {advice}", "warning")
        except (SqlwrightError, KeyboardInterrupt) as error:
            self.exit_code = report(error, debug=False)
        if not self._screen.interactive or name is None:
            self._screen.show([Text()])
        return True

    def _is_query(self, line: str) -> bool:
        """True if a line is SQL over this database's tables rather than English."""
        if not reads_as_sql(line):
            return False

        schema = self._session.workspace.schema
        tables = tables_used(line, schema.dialect)
        return bool(tables) and all(schema.table(table) for table in tables)

    def _ask(self, question: str) -> None:
        asking = Asking(
            lambda: self._session,
            question,
            evidence=self._evidence,
            history=self._turns[-REMEMBERED:],
        )
        with Spinner(self._screen, "thinking") as spinner:
            finding, interrupted = interruptible(
                lambda: asking.ask(self._session, spinner), asking.cancel
            )
        asked = finding.answer.question_back
        if asked is not None and self._questions and not interrupted:
            number = self._asked_back.remembered(asked, question)
            if number is None:
                self._asked_back.open = finding
                self._last, self._result = finding, finding.answer
                self._screen.say(question_lines(asked, self._screen))
                return
            meant = asked.choices[number - 1].text
            taken = f"“{asked.phrase}” is {meant}" if asked.phrase else f"taken: {meant}"
            self._screen.note(clean(f"{taken}, as before", 400))
            self._choose(finding, number)
            return
        self._show_found(finding, interrupted)

    def _choose(self, finding: AnswerAndState, number: int) -> None:
        """Show the answer by the reading that was chosen."""
        answer = self._session.choose(finding.answer, number)
        self._show_found(replace(finding, answer=answer), interrupted=False)

    def _show_found(self, finding: AnswerAndState, interrupted: bool) -> None:
        shown = replace(finding, answer=self._without_told(finding.answer))
        self.exit_code = show_found(
            self._screen, shown, interrupted, max_rows=self._max_rows, more=":rows N"
        )
        if interrupted and finding.answer.status != "answered":
            return
        self._last, self._result = finding, finding.answer
        if finding.answer.sql and finding.answer.status == "answered":
            self._turns.append(Turn(finding.answer.question, finding.answer.sql))

    def _without_told(self, answer: Answer) -> Answer:
        """The answer without the notes about the database that were told before."""
        kept = tuple(note for note in answer.warnings if note.text not in self._shown_notes)
        self._shown_notes.update(self._session.workspace.notes)
        return replace(answer, warnings=kept)

    def _finding(self) -> AnswerAndState | None:
        if self._last is None:
            self._screen.note("nothing has been asked yet", "warning")
        return self._last

    def _show_sql(self, _: str) -> None:
        finding = self._finding()
        if finding and finding.answer.sql:
            self._screen.show(sql_lines(finding.answer.sql, self._display, finding.answer.dialect))
        elif finding:
            self._screen.note("the last question has no query", "warning")

    def _show_why(self, _: str) -> None:
        finding = self._finding()
        if finding:
            self._screen.show(reasoning_lines(finding.answer, finding.state, self._display))

    def _show_alternative(self, number: str) -> None:
        finding = self._finding()
        if not finding:
            return
        others = finding.answer.alternatives
        if not number.isdecimal() or not 1 <= int(number) <= len(others):
            known = f"1 to {len(others)}" if others else "none"
            self._screen.note(f"alternatives: {known}", "warning")
            return
        other = others[int(number) - 1]
        self._screen.show(sql_lines(other.sql, self._display, other.dialect))
        if other.result is not None:
            raise_failure(other.result, self._session.workspace.database)
            self._screen.show([Text()])
            self._show_query(other.sql, other.result)

    def _show_query(self, sql: str, result: ExecutionResult) -> None:

        answer = query_answer(sql, result, Look.at(self._session.workspace, Run()))
        self._result = answer
        self._screen.show(doubt_lines(answer, self._display))
        self._screen.show(result_lines(answer, self._display))
        self._screen.say(warning_lines(answer.warnings, self._display))

    def _show_rows(self, number: str) -> None:
        if self._result is None:
            self._screen.note("nothing has been asked yet", "warning")
        elif number and not (number.isdecimal() and number.isascii()):
            self._screen.note("write how many after :rows, or nothing for all", "warning")
        else:
            rows = int(number[:9]) if number else len(self._result.rows)
            self._screen.show(result_lines(self._result, replace(self._display, rows=rows)))

    def _run_sql(self, sql: str) -> None:
        if not sql:
            self._screen.note("write a query after :run", "warning")
            return
        database = self._session.workspace.database
        result, interrupted = execute(self._screen, database, sql, self._limits)
        if interrupted:
            raise KeyboardInterrupt
        raise_failure(result, database)
        self._show_query(sql, result)

    def _show_tables(self, part: str) -> None:
        schema = self._session.workspace.schema
        named = [t for t in schema.tables if part.casefold() in t.name.casefold()]
        self._screen.show(_table_lines(named, self._display))
        if not schema.tables:
            self._screen.note("this database has no tables", "warning")
        elif not named:
            self._no_table(part)

    def _show_columns(self, name: str) -> None:
        table = self._session.workspace.schema.table(name)
        if table is None:
            self._no_table(name)
            return
        self._screen.show(_column_lines(table))

    def _no_table(self, name: str) -> None:
        schema = self._session.workspace.schema
        if not name:
            self._screen.note("write a table's name after it; :tables lists them", "warning")
            return
        tables = [table.name for table in schema.tables]
        near = " or ".join(clean(table, 80) for table in nearest(name, tables))
        advice = f"did you mean {near}?" if near else ":tables lists them"
        self._screen.note(f"no table {clean(name, 80)!r}; {advice}", "warning")

    def _show_json(self, _: str) -> None:
        finding = self._finding()
        if finding:
            from sqlwright.presentation.answer import answer_to_json

            write_result(answer_to_json(finding.answer).rstrip("\n") + "\n")

    def _keep_golden(self, file: str) -> None:
        finding = self._finding()
        if not finding or self._result is None:
            return
        if not file:
            self._screen.note("write a file after :golden, such as my-questions.yaml", "warning")
            return
        if self._result.status != "answered" or not self._result.sql:
            self._screen.note("the last question has no query", "warning")
            return

        database = self._session.workspace.database
        new = NewQuestion(finding.answer.question, self._result.sql, self._evidence, database.url)
        add_question(Path(file).expanduser(), new, database.check)
        built = self._session.recipe.uses_history and len(self._turns) > 1
        tell_added(self._screen, Path(file), new, follows=built)

    def _forget(self, _: str) -> None:
        self._turns.clear()
        self._asked_back = AskedBack()
        self._last = self._result = None
        self._screen.note("forgotten")

    def _show_help(self, _: str) -> None:
        self._screen.show(
            Text.assemble((f"  {name:<16}", "name"), text) for name, text in HELP.items()
        )


def _command(line: str) -> tuple[str | None, str]:
    """The command that a line means and what comes after it; None for a question. Other programs'
    spellings of a few are understood, too: `\\d`, `.tables`, `help`."""
    first, _, rest = line.partition(" ")
    bare = first.lstrip(":\\.")
    alias = ALIASES.get(bare)
    if first.startswith(":"):
        return alias or bare, rest.strip()
    if first != bare:
        return (alias or bare if alias or f":{bare}" in NAMED else None), rest.strip()
    return ("help", "") if line.casefold() in ("help", "?") else (None, "")


def _table_lines(tables: Sequence[Table], display: DisplayOptions) -> Iterator[Text]:
    """A line per table: its name, what it is, its columns as far as they fit."""
    names = [clean(table.name, 60) for table in tables]
    pad = min(max((cell_len(name) for name in names), default=0), 30) + 2
    for name, table in zip(names, tables, strict=True):
        columns = ", ".join(clean(column.name, 60) for column in table.columns[:60])
        kind = "view of " if table.kind == "view" else ""
        line = Text.assemble((name, "name"), " " * max(pad - cell_len(name), 2))
        room = max(display.width - cell_len(line.plain), 12)
        line.append(shorten(kind + columns, room, display.glyphs), style="quiet")
        yield line


def _column_lines(table: Table) -> Iterator[Text]:
    for column in table.columns:
        line = Text.assemble((clean(column.name, 80), "name"))
        line.append(f" {clean(column.type, 40)}", style="quiet")
        if column.name in table.primary_key:
            line.append(" key", style="good")
        words = " · ".join(w for w in (column.label, column.description) if w)
        if words:
            line.append(f"  {clean(words, 200)}")
        yield line


LINE_LIMIT = 100_000
"""Characters of a line that are taken."""
HISTORY_LINES = 1_000
"""Lines kept in the history file."""
PROMPT = "ask> "


class LineReader:
    """Iterates over the lines entered. Ctrl-C drops the line, Ctrl-D ends.

    What was typed is kept for the next time in the file `history`, if one is given, which only its
    owner can read.
    """

    def __init__(self, screen: Screen, *, history: Path | None) -> None:
        self._screen = screen
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        self._history = history if self.interactive else None

    def __enter__(self) -> LineReader:
        if self.interactive:
            # Importing it is what gives input() editing and history.
            with contextlib.suppress(ImportError):
                import readline

                readline.set_history_length(HISTORY_LINES)
                if self._history is not None:
                    with contextlib.suppress(OSError):
                        readline.read_history_file(self._history)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._history is None:
            return
        with contextlib.suppress(ImportError, OSError):
            import readline

            if not self._history.parent.is_dir():
                make_private(self._history.parent)
            self._history.touch(mode=0o600)
            readline.write_history_file(self._history)
            self._history.chmod(0o600)

    def __iter__(self) -> Iterator[str]:
        return self._typed() if self.interactive else self._piped()

    def _typed(self) -> Iterator[str]:
        while True:
            try:
                line = readable(input(PROMPT))[:LINE_LIMIT].strip()
            except EOFError:
                self._screen.note("")
                return
            except KeyboardInterrupt:
                self._screen.note("  (Ctrl-D or :quit leaves)")
                continue
            if line:
                yield line

    def _piped(self) -> Iterator[str]:
        if sys.stdin is None:
            return
        for line in sys.stdin:
            text = readable(line)[:LINE_LIMIT].strip()
            if text:
                yield text
