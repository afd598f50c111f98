"""`sqlwright`, the process: turns whatever happens into an exit code.

The commands are put together here: a module each, loaded when it is called. Nothing heavy is
imported at the top, so that Ctrl-C is heard from the first moment on.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.main import get_command

from sqlwright.cli.help import CONTEXT, CalmGroup

if TYPE_CHECKING:
    import threading

EXAMPLES = """\
sqlwright demo --save shop.sqlite
sqlwright ask shop.sqlite "Which customer in Munich has the most orders?"
sqlwright chat shop.sqlite
sqlwright sql shop.sqlite "SELECT count(*) FROM orders" --check"""

SECTIONS = {
    "Ask": ("ask", "chat", "sql"),
    "Set up": ("demo", "prepare", "doctor", "purge"),
    "Look inside": ("recipes", "trace"),
    "Measure": ("evaluate", "report", "lab"),
}
COMMANDS = frozenset(name for names in SECTIONS.values() for name in names)

app = typer.Typer(
    name="sqlwright",
    cls=CalmGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    epilog=EXAMPLES,
    context_settings=dict(CONTEXT),
)


def _print_version(value: bool) -> None:
    if value:
        from sqlwright import __version__

        typer.echo(f"sqlwright {__version__}")
        raise typer.Exit


@app.callback()
def _sqlwright(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  (the callback acts on it)
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[  # noqa: ARG001  (taken out of the arguments in main.py)
        bool, typer.Option("--debug", help="Show tracebacks. Works after the command too.")
    ] = False,
) -> None:
    """Ask a database questions in plain language; get a query you can trust, its rows and the
    evidence. Everything runs on this machine unless you name a language model
    elsewhere, and nothing is ever written to your database.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cache
def parser() -> Any:
    """The program that reads a command line."""
    group: Any = get_command(app)
    names = [name for section in SECTIONS.values() for name in section]
    group.places = {name: f"sqlwright.cli.commands.{name}" for name in names}
    group.sections = SECTIONS
    return group


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; give its exit code (`failure.py` lists them)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = bool(os.environ.get("SQLWRIGHT_DEBUG"))
    if "--debug" in _before_dashes(words):
        words.remove("--debug")
        debug = True
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")  # what their encoding lacks comes out escaped
    try:
        if _means_ask(words, COMMANDS):
            words.insert(0, "ask")
        outcome = parser().main(words, prog_name="sqlwright", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001  (the process's outermost boundary)
        return _failed(error, debug, words)
    return outcome if isinstance(outcome, int) else 0


def run() -> NoReturn:
    """The console script.

    It ends the process at once. By then everything is closed; what is left of an interpreter's end
    is freeing memory, which takes longer than many an answer, and waiting for computations that
    didn't stop when they were asked to.
    """
    import gc
    import signal
    import threading

    # pydantic would look through all installed packages for plugins: a fiftieth of an answer's time
    # where few are, much more where many are, and none of them has any business here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Most of a command's objects are modules and stay; looking for cycles among them so often as
    # Python does by itself takes a thirtieth of the time.
    gc.set_threshold(20_000, 20, 50)
    threading.excepthook = _in_the_background
    _settle_streams()
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os._exit(_flushed(code))


class _OutputError(OSError):
    """Standard output takes no more."""


class _Output(io.FileIO):
    """Standard output, whose failures can be told from those of other files."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _OutputError(error.errno, error.strerror) from error


def _settle_streams() -> None:
    """Open /dev/null for closed standard streams. Otherwise a file that is opened next would get
    their number, and what is printed would end up in it."""
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    before = sys.stdout
    if isinstance(before, io.TextIOWrapper) and before is sys.__stdout__:
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Output(before.fileno(), "wb", closefd=False)),
            encoding=before.encoding,
            errors=before.errors,
            line_buffering=before.line_buffering,
            write_through=before.write_through,
        )


def _flushed(code: int) -> int:
    """The exit code, once everything printed has arrived or can't."""
    from sqlwright.cli.failure import PIPE_CLOSED, OutputLost

    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return PIPE_CLOSED
    except OSError as error:
        if code != OutputLost.exit_code:
            code = _failed(error, debug=False, words=())
    try:
        sys.stderr.flush()
    except BrokenPipeError:
        return PIPE_CLOSED
    except OSError:
        return code  # a message that can't be written changes nothing
    return code


def _in_the_background(failure: threading.ExceptHookArgs) -> None:
    """Ignore a failure of a helping thread: it shows in the main thread's report."""
    if os.environ.get("SQLWRIGHT_DEBUG"):
        import threading

        threading.__excepthook__(failure)


def _failed(error: BaseException, debug: bool, words: Sequence[str]) -> int:
    import signal

    from sqlwright.cli.failure import PIPE_CLOSED, UNFORESEEN, OutputLost, UsageError, report

    if isinstance(error, KeyboardInterrupt):
        # Once is enough: what is left to do is to say so.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return report(error, debug=debug, words=words)
        finally:
            signal.signal(signal.SIGINT, before)
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else UNFORESEEN
    if isinstance(error, BrokenPipeError) or type(error).__name__ == "PipeClosed":
        return PIPE_CLOSED
    if isinstance(error, _OutputError):
        hint = "What arrived is cut off. Make room there or send it elsewhere."
        lost = OutputLost(f"the output can't be written: {error.strerror}", hint=hint)
        return report(lost, debug=debug)
    import typer

    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, typer.Abort):
        return report(KeyboardInterrupt(), debug=debug)
    message = getattr(error, "format_message", None)
    if message is None:
        return report(error, debug=debug, words=words)
    # One of the parser's own exceptions, which it exports by no name.
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "sqlwright"
    hint = (context.meta.get("advice") if context else None) or f"See: {path} --help"
    return report(UsageError(message(), hint=hint), debug=False, words=words)


def _means_ask(words: Sequence[str], commands: frozenset[str | None]) -> bool:
    """`sqlwright shop.sqlite "how many?"` leaves `ask` out."""
    if not words or words[0].startswith("-") or words[0] in commands:
        return False
    from sqlwright.cli.typed.target import looks_like_database, names_a_missing_file

    meant = looks_like_database(words[0]) or names_a_missing_file(words)
    return meant or " " in words[0].strip()


def _before_dashes(words: Sequence[str]) -> Sequence[str]:
    return words[: words.index("--")] if "--" in words else words
