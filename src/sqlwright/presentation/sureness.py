"""Words for what there is to go by where no probability was fitted to an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlwright.types import Answer, Basis


def agreement_words(basis: Basis) -> str:
    """The queries that agree of those written: "3 of 4 samples agree"."""
    if basis.kind == "agreement":
        return f"{basis.agreeing} of {basis.of} samples agree"
    if basis.of == 1:
        return "1 query, nothing to compare it with"
    return f"{basis.of} queries, nothing judged them" if basis.of else "nothing judged it"


def interval_words(answer: Answer) -> str:
    """The confidence with where it may lie and what it was fitted to, in a sentence; empty where
    there is no interval."""
    if answer.confidence is None or answer.interval is None:
        return ""
    low, high = (f"{round(100 * end)}%" for end in answer.interval)
    words = f"{int(100 * answer.confidence + 1e-6)}%, between {low} and {high}"
    return f"{words}; fitted to {answer.basis.fitted_to}" if answer.basis.fitted_to else words


def basis_lines(answer: Answer) -> list[tuple[str, bool]]:
    """A sentence for each thing to go by for an answer without a probability, and whether it speaks
    against the answer. Empty for others; what the doubt says isn't said again."""
    if answer.status != "answered" or answer.answered_by is None:
        return []
    if answer.confidence is not None:
        return []
    counted = agreement_words(answer.basis)
    lines = [] if counted in answer.doubt else [(counted, False)]
    signs = (sign for sign in answer.basis.signs if sign.text != answer.doubt)
    return lines + [(sign.text, not sign.favours) for sign in signs]


def basis_to_dict(basis: Basis) -> dict[str, Any]:
    """A basis as JSON types."""
    return {
        "kind": basis.kind,
        "agreeing": basis.agreeing,
        "of": basis.of,
        "signs": [
            {"kind": sign.kind, "text": sign.text, "favours": sign.favours} for sign in basis.signs
        ],
        "fitted_to": basis.fitted_to,
    }
