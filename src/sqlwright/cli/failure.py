"""Exit codes of the command line, and messages instead of tracebacks.

| code | meaning |
|---|---|
| 0 | answered, or done |
| 1 | an error nobody foresaw |
| 2 | wrong arguments |
| 3 to 9 | `errors.py`: database, configuration, workspace, data set, unsafe SQL, model, reply |
| 10 | the question was refused, with a reason |
| 11 | the question was tried and not answered |
| 12 | a check found something wrong (doctor, golden lint, report diff, sql with an SQL error) |
| 13 | the output couldn't be written |
| 14 | evaluate: fewer answers are right than --fail-under asks |
| 15 | evaluate: an answer is wrong that --baseline has right |
| 16 | a query would read more than --max-scan allows |
| 17 | a language model gave no reply, or refused the request |
| 18 | the budget for language models is spent |
| 19 | evaluate: the budget of the run is spent before all questions were asked |
| 130 | interrupted with Ctrl-C |
| 141 | whoever read the output closed it |
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sqlwright.errors import Cancelled, SqlwrightError, UserError

if TYPE_CHECKING:
    from rich.text import Text

# Exit codes; the table above has their meaning.
UNFORESEEN = 1  # a defect of ours
USAGE = 2  # as click has it
REFUSED = 10  # an answer with a reason, no error
FAILED = 11  # an answer without a query
UNHEALTHY = 12  # of doctor, golden lint and sql
UNDER_SHARE = 14  # of evaluate
ANSWERS_LOST = 15  # of evaluate
RUN_BUDGET_SPENT = 19  # of evaluate
INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it
PIPE_CLOSED = 141  # 128 and the number of SIGPIPE

STATUS_CODES = {"answered": 0, "refused": REFUSED, "failed": FAILED}


class QueryError(SqlwrightError):
    """A query of the user's own that the database could not run."""

    exit_code = UNHEALTHY


class UsageError(UserError):
    """Arguments that don't fit together."""

    exit_code = USAGE


class OutputLost(SqlwrightError):
    """Results can't be written to standard output: a full disk, a limit, a device that fails."""

    exit_code = 13


def report(error: BaseException, *, debug: bool, words: Sequence[str] = ()) -> int:
    """Say on standard error what happened and what to do; give the exit code. An address among the
    typed words isn't repeated: it may hold a password, and stand where no address belongs."""
    say = partial(_say, hidden=_hidden(words))
    if isinstance(error, KeyboardInterrupt | Cancelled):
        say("stopped", str(error) if isinstance(error, Cancelled) else "interrupted", "")
        return INTERRUPTED
    if debug:
        _print_traceback(error, _hidden(words))
    if isinstance(error, SqlwrightError):
        say("error", str(error), error.hint)
        return error.exit_code
    if isinstance(error, MemoryError):
        say("error", "this machine has too little memory free for that", "")
        return UNFORESEEN
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        say(
            "error",
            "this machine lets sqlwright start no further thread",
            "End other programs, or raise the limits on processes and memory (ulimit -u, -v).",
        )
        return UNFORESEEN
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        say("error", f"{error.strerror}{where}", _OS_HINTS.get(error.errno or 0, ""))
        return UNFORESEEN
    kind = type(error).__name__
    _say(
        "error",
        f"sqlwright met a problem it didn't expect ({kind}: {str(error) or 'no details'})",
        ""
        if debug
        else "This is a fault in sqlwright, not yours. Please report it with what "
        "the same command prints with --debug, and with sqlwright --version.",
    )
    return UNFORESEEN


_OS_HINTS = {
    28: "Free some space, or name another folder for prepared data with SQLWRIGHT_HOME.",
    13: "Check who owns it and its access rights.",
}


def _say(label: str, message: str, hint: str, *, hidden: re.Pattern[str] | None = None) -> None:
    from sqlwright.cli.terminal.console import PipeClosed, Screen

    screen = Screen.open()
    message, hint = _without(message, hidden), _without(hint, hidden)
    with contextlib.suppress(PipeClosed):  # the exit code still tells
        screen.say(_lines(label, message, hint, max(20, screen.err.width)))


def _hidden(words: Sequence[str]) -> re.Pattern[str] | None:
    """The words that may hold a password, in the forms that a message may have them in: as they
    are, as paths, on one line; None where there is none."""
    from sqlwright.database.address import shown_address

    given = [word.partition("=")[2] if word.startswith("-") else word for word in words]
    secret = {word for word in given if word.strip() and shown_address(word) != word}
    forms = (r"(?:\s|\\x0a|\\n)*".join(map(re.escape, word.split())) for word in secret)
    either = "|".join(sorted(forms, key=len, reverse=True))
    return re.compile(re.sub("/+", "/*", either)) if either else None


def _without(text: str, hidden: re.Pattern[str] | None) -> str:
    return text if hidden is None else hidden.sub("...", text)


def _lines(label: str, message: str, hint: str, width: int) -> Iterator[Text]:
    from rich.text import Text

    from sqlwright.cli.terminal.layout import labelled
    from sqlwright.cli.terminal.text import clean_block

    style = "fair" if label == "stopped" else "bad"
    yield from labelled(label, [Text(clean_block(message, 2_000))], width, style=style)
    if hint:
        yield from labelled("hint", [Text(clean_block(hint, 2_000))], width)


def _print_traceback(error: BaseException, hidden: re.Pattern[str] | None) -> None:
    import traceback

    from rich.text import Text

    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.terminal.text import clean_block

    text = _without("".join(traceback.format_exception(error)), hidden)
    Screen.open().say([Text(clean_block(text.rstrip(), 200_000), style="quiet")])
