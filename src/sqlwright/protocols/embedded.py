"""The parts of the embedded wing that the rest asks for, by name.

Only import paths stand here: nothing else outside `local` names that package, and nothing of it is
imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from sqlwright.boundary.named import loaded
from sqlwright.protocols import Embedder, Model, Workspace
from sqlwright.protocols.models import Calibrates
from sqlwright.schema import Schema
from sqlwright.types import Account, Candidate, Note, Question, ValueMatch

PARTS: Mapping[str, str] = {
    "models": "sqlwright.local.models:EmbeddedModels",
    "load": "sqlwright.local.models:load",
    "weights_digest": "sqlwright.local.models:weights_digest",
    "embedded_digest": "sqlwright.local.models:embedded_digest",
    "first_calibration": "sqlwright.local.models:first_calibration",
    "schema_texts": "sqlwright.local.question.schema:texts_of",
    "account": "sqlwright.local.left_out.account:written_account",
    "checks": "sqlwright.local.left_out.amounts:machine_checks",
}


def embedded_models() -> Mapping[str, Model]:
    """The embedded models by role, each loaded when it is first asked for."""
    return cast("Mapping[str, Model]", _part("models")())


def embedded_embedder() -> Embedder:
    """The embedded embedder, loaded anew. Raises ModelUnavailable."""
    return cast("Embedder", _part("load")("embedder"))


def embedder_digest() -> str:
    """A digest of the weights of the embedded embedder."""
    return cast("str", _part("weights_digest")("embedder"))


def embedded_digest() -> str:
    """A digest of the embedded models that how sure an answer is depends on."""
    return cast("str", _part("embedded_digest")())


def first_calibration(*, embedded: bool) -> Calibrates:
    """The calibration that ships, of answers of embedded or of language models; the latter is only
    there to be fitted further. Raises ModelUnavailable."""
    return cast("Calibrates", _part("first_calibration")(embedded=embedded))


def schema_texts(schema: Schema) -> Sequence[str]:
    """The texts of a schema that the linker compares a question with."""
    return cast("Sequence[str]", _part("schema_texts")(schema))


def account_of(
    question: Question, schema: Schema, values: Sequence[ValueMatch], candidate: Candidate
) -> Account | None:
    """The part of a candidate's query that answers each phrase of a question; None where the query
    can't be read."""
    return cast("Account | None", _part("account")(question, schema, values, candidate))


def checked_by_machine(candidate: Candidate, workspace: Workspace) -> tuple[Note, ...]:
    """Warnings about a query that runs, empty when nothing is wrong or it can't be read."""
    return cast("tuple[Note, ...]", _part("checks")(candidate, workspace))


def _part(name: str) -> Callable[..., object]:
    return cast("Callable[..., object]", loaded(f"the embedded {name}", PARTS[name]))
