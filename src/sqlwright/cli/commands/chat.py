"""`sqlwright chat`."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import accept, read_database
from sqlwright.presentation.answer import readable

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

    from sqlwright.cli.opening import note_destinations, opener, settled, warm_session
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.cli.typed.prompt import LineReader
    from sqlwright.cli.views.chat import Conversation
    from sqlwright.settings.policy import check_model_is_asked

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
