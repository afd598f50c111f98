"""`sqlwright ask`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from sqlwright.cli.typed import options
from sqlwright.cli.typed.options import one_form
from sqlwright.cli.typed.target import TypedQuestion, read_target, reads_as_sql

if TYPE_CHECKING:
    from sqlwright.cli.terminal.console import Screen

EXAMPLES = """\
sqlwright ask shop.sqlite "How many orders were cancelled in 2024?"
sqlwright ask shop.sqlite --csv "Total amount paid by customers in each country" > paid.csv
echo "Which five customers have the most orders?" | sqlwright ask shop.sqlite --sql-only
sqlwright ask shop.sqlite --explain "Average price of products in each category"
sqlwright ask shop.sqlite -r baseline -m openai/gpt-4.1 "How many orders are pending?"
"""


def command(
    *,
    words: options.QuestionWords = None,
    database: options.Database = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    as_csv_safe: options.AsCsvSafe = False,
    sql_only: Annotated[bool, typer.Option("--sql-only", help="Print the query alone.")] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show the reasoning: links, every candidate, times."),
    ] = False,
    no_questions: options.NoQuestions = False,
    evidence: options.Evidence = "",
    recipe: options.RecipeOptions,
    model: options.ModelOptions,
    access: options.AccessOptions,
    limits: options.AnswerLimits,
    descriptions: options.Descriptions = None,
    allow_code: options.AllowCode = False,
    accept_login: options.AcceptLogin = False,
) -> int:
    """Ask a question; see the query, its rows and how sure it is.

    The first argument is the database unless a project file, SQLWRIGHT_DATABASE or DATABASE_URL
    names one; the question comes after it, or from standard input. The answer goes to standard
    output, everything else to standard error. Where two readings of the question are about as
    likely, a terminal asks which is meant; elsewhere the likelier is answered and that is said.
    """
    form = one_form(json=as_json, csv=as_csv, csv_safe=as_csv_safe, sql=sql_only)
    target = read_target(words or (), database, accepted=accept_login)

    from sqlwright.cli.opening import Asking, models_ahead, note_destinations, opener, settled
    from sqlwright.cli.terminal.console import Screen

    screen = Screen.open()
    chosen = settled(
        recipe, model, access, limits, max_rows=limits.max_rows, descriptions=descriptions
    )
    models = models_ahead(chosen)  # as early as can be: what follows imports for a while

    from sqlwright.boundary.text import readable
    from sqlwright.cli.terminal.interrupt import interruptible
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.cli.views.ask import show_found
    from sqlwright.cli.views.asking_back import can_ask, put_question
    from sqlwright.settings.policy import check_model_is_asked

    _note_target(screen, target)
    check_model_is_asked(chosen, allow_code=allow_code)
    note_destinations(screen, chosen, allow_code=allow_code)
    asking = Asking(
        opener(target.database, chosen, allow_code=allow_code, models=models),
        target.text,
        evidence=readable(evidence),
    )
    with closing(asking):
        with Spinner(screen) as spinner:
            finding, interrupted = interruptible(lambda: asking.run(spinner), asking.cancel)
        if not (form or no_questions or interrupted) and can_ask(screen):
            finding = put_question(screen, asking.session, finding)
    return show_found(screen, finding, interrupted, form, explain=explain, max_rows=limits.max_rows)


def _note_target(screen: Screen, target: TypedQuestion) -> None:
    """Say how the arguments were read, where that may not be what was meant."""
    from sqlwright.cli.terminal.text import clean

    if target.note:
        screen.note(clean(target.note, 400))
    if reads_as_sql(target.text):
        screen.note("this looks like SQL and is read as a question; sqlwright sql runs a query")
