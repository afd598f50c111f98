"""Every exception sqlwright raises on purpose.

    SqlwrightError
    ├── UserError                 the user can put it right; shown without a traceback
    │   ├── DatabaseUnavailable   missing, locked, corrupt, encrypted, not a database
    │   ├── ConfigError           project file, recipe, option or override that doesn't fit
    │   ├── WorkspaceError        the prepared folder can't be read or written
    │   └── DatasetError          a benchmark folder that doesn't have the expected layout
    ├── UnsafeQuery               the guard refused a statement; carries the reason
    ├── TooCostly                 a query would read more than --max-scan allows
    ├── ModelUnavailable          weights are missing, damaged or not the ones the code expects
    ├── MalformedReply            a language model's reply could not be parsed, re-asks included
    ├── ModelFailed               a language model gave no reply, retries included
    │   └── ModelRejected         it refused the request: a wrong key or name, too long a prompt
    ├── BudgetSpent               no call could be made: the question's budget is spent
    ├── Cancelled                 the run was cancelled or its deadline has passed
    └── UnsupportedQuery          a query the intermediate form can't express

An SQL error is not an exception: it is `ExecutionResult.error`.
"""

from __future__ import annotations


class SqlwrightError(Exception):
    """The root. `hint` says what to do about it, `exit_code` what the command line ends with."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UserError(SqlwrightError):
    """Something the user can put right."""

    exit_code = 2


class DatabaseUnavailable(UserError):
    """The database can't be opened, or not safely."""

    exit_code = 3


class ConfigError(UserError):
    """A project file, recipe, option or override doesn't fit."""

    exit_code = 4


class WorkspaceError(UserError):
    """The folder with what was prepared can't be read or written."""

    exit_code = 5


class DatasetError(UserError):
    """A benchmark folder doesn't have the expected layout."""

    exit_code = 6


class UnsafeQuery(SqlwrightError):
    """The guard refused a statement. The message says which rule."""

    exit_code = 7


class TooCostly(SqlwrightError):
    """A query would read more than is allowed, by the engine's estimate."""

    exit_code = 16


class ModelUnavailable(SqlwrightError):
    """An embedded model's weights are missing, damaged or not the expected ones."""

    exit_code = 8


class MalformedReply(SqlwrightError):
    """A language model's reply could not be parsed, bounded re-asks included."""

    exit_code = 9


class ModelFailed(SqlwrightError):
    """A language model gave no reply at all: unreachable, overloaded, or it refused the request."""

    exit_code = 17


class ModelRejected(ModelFailed):
    """The endpoint refused the request: a wrong key or model name, or too long a prompt."""


class BudgetSpent(SqlwrightError):
    """No call could be made, because the question's budget is spent."""

    exit_code = 18


class Cancelled(SqlwrightError):
    """The run was cancelled, or its deadline has passed."""

    exit_code = 130


class UnsupportedQuery(SqlwrightError):
    """The intermediate form can't express this query."""


def explained(error: SqlwrightError) -> str:
    """An error that ended the steps of a question early, in words for the user."""
    if isinstance(error, Cancelled):
        return f"stopped early: {error}"
    return f"{error}. {error.hint}" if error.hint else str(error)
