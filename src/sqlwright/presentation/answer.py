"""An answer as JSON and plain text; `as_csv` and `as_html` have the other formats.

Everything an answer holds was written by somebody else: stored values, names, comments, questions.
None of it may act on whatever shows it:

- JSON escapes every character a terminal would act on (C0 and C1 controls, bidirectional controls,
  line separators, lone surrogates) and whatever could end a script element it is pasted into. The
  data is unchanged: a JSON reader gets back exactly what was stored, except that lone surrogates,
  which UTF-8 can't carry, become U+FFFD.
- CSV is exact, for programs; made safe for spreadsheets, it puts an apostrophe before text that one
  would take for a formula and shows controls as symbols.
- HTML escapes everything, has no script, link or image, and cuts long cells and results.

Not covered: look-alike letters of different scripts.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlwright.boundary.text import money, percent, readable, to_json, visible
from sqlwright.presentation.accounting import account_to_dict
from sqlwright.presentation.cells import TYPED, plain_text, typed_to_json
from sqlwright.presentation.numbers import cost_to_dict
from sqlwright.presentation.sureness import basis_lines, basis_to_dict

if TYPE_CHECKING:
    from sqlwright.types import (
        Answer,
        Candidate,
        Cell,
        ExecutionResult,
        Note,
        QueryCondition,
        QueryPart,
        TierRecord,
        ValueMatch,
        Veto,
    )
    from sqlwright.types.candidates import QuestionBack

_CAME = {
    "agrees": ("it agrees", "more of its queries bear it out"),
    "differs": ("it doesn't agree", "more of its queries don't bear that out"),
    "nothing": ("it wrote no query that runs", "no other query of it runs"),
    "cut_short": ("cut short before it wrote a query", "cut short before it wrote another query"),
}
"""By the end of a tier: what came of the first one, and of a later one."""


def spent_words(answer: Answer) -> str:
    """The words for what was asked of a language model and why, or why nothing was; empty for
    recipes that don't weigh it."""
    if not answer.tiers:
        return ""
    first, *later = answer.tiers
    told = [_asked(first, first=True) if first.entered else _unasked(first, answer)]
    told += [_asked(tier) if tier.entered else f"stopped: {_reason(tier, 'it')}" for tier in later]
    return "; ".join(told)


def _asked(tier: TierRecord, *, first: bool = False) -> str:
    """A tier that was entered."""
    used = tier.usage
    times = {0: "", 1: " once"}.get(used.calls, f" {used.calls:,} times")
    parts = []
    if used.calls:
        parts.append(f"{used.prompt_tokens + used.reply_tokens:,} tokens")
        parts += [] if used.cost is None else [money(used.cost)]
    if used.cached:
        parts.append(f"{used.cached:,} from the cache")
    took = f" ({', '.join(parts)})" if parts else ""
    came = _CAME[tier.end][not first]
    if not first:
        return f"so asked it{times}{took}: {came}"
    if tier.end == "differs" and tier.before is None:
        came = "it wrote a query"
    before = "nothing found" if tier.before is None else f"{percent(tier.before)} sure"
    return f"{before} locally, so asked {tier.model}{times}{took}: {came}"


def _unasked(tier: TierRecord, answer: Answer) -> str:
    """The first tier, where it wasn't entered."""
    reason = _reason(tier, tier.model)
    if answer.status != "answered" or tier.before is None:
        return f"nothing was spent: {reason}"
    return f"answered locally at {percent(tier.before)}, nothing was spent: {reason}"


def _reason(tier: TierRecord, model: str) -> str:
    """The reason why a tier wasn't entered."""
    if tier.end == "budget":
        return f"the budget doesn't reach for asking {model}"
    return "none is to be asked" if tier.before is None else "that is sure enough"


def assumed_words(asked: QuestionBack) -> str:
    """The reading that the answer goes by, and what the others would give, in a sentence."""
    taken, *others = asked.choices
    told = "; ".join(f"{one.text} gives {one.gives}" for one in others)
    said = f"“{asked.phrase}” is taken as {taken.text}" if asked.phrase else f"taken: {taken.text}"
    return f"{said}; {told}"


def question_back_to_dict(
    asked: QuestionBack | None, readable: Callable[[str], str]
) -> dict[str, Any] | None:
    """A question back as JSON types; `readable` makes text that UTF-8 can carry."""
    if asked is None:
        return None
    return {
        "text": readable(asked.text),
        "kind": asked.kind,
        "phrase": readable(asked.phrase),
        "assumed": readable(assumed_words(asked)),
        "choices": [
            {
                "number": number,
                "text": readable(one.text),
                "gives": readable(one.gives),
                "share": round(one.share, 6),
                "sql": readable(one.candidate.sql),
            }
            for number, one in enumerate(asked.choices, 1)
        ],
    }


FORMAT = "sqlwright-answer"
VERSION = 2
"""Version of the JSON form; grows when a key is renamed, removed or changes its meaning."""

LONGEST = 2_000
"""Characters of a message shown in text; chosen."""


def answer_to_dict(answer: Answer, *, rows: int | None = None) -> dict[str, Any]:
    """The answer as JSON types with at most `rows` rows, keys in a fixed order; `row_count` counts
    all rows that were fetched."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "status": answer.status,
        "question": readable(answer.question),
        "sql": None if answer.sql is None else readable(answer.sql),
        "dialect": answer.dialect,
        "answered_by": answer.answered_by,
        "columns": [readable(name) for name in answer.columns],
        "rows": [[cell_to_json(cell) for cell in row] for row in answer.rows[:rows]],
        "row_count": len(answer.rows),
        "truncated": answer.truncated,
        "shortened": [list(place) for place in answer.shortened],
        "confidence": answer.confidence,
        "interval": None if answer.interval is None else list(answer.interval),
        "basis": plain(basis_to_dict(answer.basis)),
        "doubt": readable(answer.doubt),
        "refusal": answer.refusal,
        "message": readable(answer.message),
        "suggestion": readable(answer.suggestion),
        "warnings": [note_to_dict(note) for note in answer.warnings],
        "values": [_value(match) for match in answer.values],
        "account": account_to_dict(answer.account, _value),
        "reading": [_part(part) for part in answer.reading],
        "question_back": question_back_to_dict(answer.question_back, readable),
        "used_tables": [readable(name) for name in answer.used_tables],
        "used_columns": [
            {"table": readable(ref.table), "column": readable(ref.column)}
            for ref in answer.used_columns
        ],
        "alternatives": [candidate_to_dict(candidate) for candidate in answer.alternatives],
        "times": [{"step": time.step, "seconds": round(time.seconds, 6)} for time in answer.times],
        "seconds": round(answer.seconds, 6),
        "usage": dataclasses.asdict(answer.usage),
        "spent": readable(spent_words(answer)),
        "tiers": plain(answer.tiers),
        "usage_by_step": {
            step: dataclasses.asdict(usage) for step, usage in answer.usage_by_step.items()
        },
        "recipe": answer.recipe,
        "trace_id": answer.trace_id,
        **({} if answer.cost is None else {"cost": cost_to_dict(answer.cost)}),
    }


def candidate_to_dict(candidate: Candidate, *, rows: int = 5) -> dict[str, Any]:
    """A candidate as JSON types, with the first rows of its result and its parent."""
    return {
        "id": candidate.id,
        "sql": readable(candidate.sql),
        "source": candidate.source,
        "prompt": readable(candidate.prompt),
        "model": readable(candidate.model),
        "score": plain(candidate.score),
        "confidence": plain(candidate.confidence),
        "share": plain(candidate.share),
        "sample": candidate.sample,
        "plan": readable(candidate.plan),
        "note": readable(candidate.note),
        "warnings": [note_to_dict(note) for note in candidate.warnings],
        "vetoes": [_veto(veto) for veto in candidate.vetoes],
        "mended": [_veto(veto) for veto in candidate.mended],
        "result": None if candidate.result is None else result_to_dict(candidate.result, rows=rows),
        "parent": None if candidate.parent is None else readable(candidate.parent.sql),
        "parent_id": candidate.parent_id or None,
    }


def note_to_dict(note: Note) -> dict[str, str]:
    """A note as JSON types."""
    return {"kind": note.kind, "text": readable(note.text)}


def _veto(veto: Veto) -> dict[str, str]:
    return {
        "kind": veto.kind,
        "message": readable(veto.message),
        "done": readable(veto.done),
    }


def result_to_dict(result: ExecutionResult, *, rows: int | None = None) -> dict[str, Any]:
    """A result as JSON types with at most `rows` rows; `row_count` counts all of them."""
    error = result.error
    return {
        "columns": [readable(name) for name in result.columns],
        "rows": [[cell_to_json(cell) for cell in row] for row in result.rows[:rows]],
        "row_count": len(result.rows),
        "truncated": result.truncated,
        "shortened": [list(place) for place in result.shortened],
        "seconds": round(result.elapsed, 6),
        "error": None
        if error is None
        else {
            "kind": error.kind,
            "cause": error.cause or None,
            "name": readable(error.name) or None,
            "message": readable(error.message),
        },
    }


def cell_to_json(cell: Cell) -> Any:
    """A stored value as a JSON type: bytes become {"base64": ...}, NaN and infinities strings, and
    `cells.py` says what becomes of decimals, dates and arrays."""
    if isinstance(cell, bytes):
        return {"base64": base64.b64encode(cell).decode("ascii")}
    if isinstance(cell, str):
        return readable(cell)
    return plain(cell)


def plain(value: Any) -> Any:
    """Any value of ours as JSON types: dataclasses as objects, tuples as lists, numbers finite."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOT_FINITE.get(str(value), "NaN")
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, bytes):
        return cell_to_json(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {readable(str(key)): plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, TYPED):
        return typed_to_json(value, plain)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return readable(str(value))


_NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def answer_to_json(answer: Answer, *, indent: int | None = 2, rows: int | None = None) -> str:
    """The answer as JSON text."""
    return to_json(answer_to_dict(answer, rows=rows), indent=indent)


def answer_to_text(answer: Answer, *, rows: int | None = None, width: int = 40) -> str:
    """The answer as plain text for a console: at most `rows` rows (20, of a doubtful answer 5),
    cells cut at `width` characters."""
    rows = shown_rows(answer, 20) if rows is None else rows
    lines = [visible(answer.question, limit=LONGEST)]
    if answer.message:
        lines.append(f"{answer.status}: {visible(answer.message, limit=LONGEST)}")
    if answer.suggestion:
        lines.append(visible(answer.suggestion, limit=LONGEST))
    if answer.doubt:
        lines.append(visible(doubt_words(answer), limit=LONGEST))
    if answer.sql:
        lines += ["", visible(answer.sql, limit=20_000, lines=True)]
    if answer.columns and answer.status == "answered":
        lines += ["", *_text_table(answer, rows, width)]
        if answer.confidence is not None and not answer.doubt:
            lines.append(f"confidence {percent(answer.confidence)}")
        lines += [f"how sure: {visible(text, limit=LONGEST)}" for text, _ in basis_lines(answer)]
    if answer.question_back is not None:
        lines.append(f"assumed: {visible(assumed_words(answer.question_back), limit=LONGEST)}")
    if spent := spent_words(answer):
        lines.append(f"spent: {visible(spent, limit=LONGEST)}")
    lines += [f"note: {visible(note.text, limit=LONGEST)}" for note in answer.warnings]
    return "\n".join(lines)


NO_ROWS = "the query found no rows"
DOUBTED_ROWS = 5
"""Rows shown to a person of an answer whose confidence is below a half; chosen."""


def shown_rows(answer: Answer, rows: int) -> int:
    """Number of rows to show a person: `rows`, but at most `DOUBTED_ROWS` of a doubted answer."""
    return min(rows, DOUBTED_ROWS) if answer.doubt else rows


def doubt_words(answer: Answer) -> str:
    """A sentence with the confidence in an answer, if any, and the main reason for doubt."""
    sure = "" if answer.confidence is None else f" ({percent(answer.confidence)})"
    return f"Not sure{sure}: {answer.doubt}"


def cell_to_text(cell: Cell, *, limit: int | None = None) -> str:
    """A stored value for reading: NULL, numbers as stored, bytes by their length and start."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        more = "\u2026" if len(cell) > 16 else ""
        return f"{len(cell):,} bytes: {cell[:16].hex(' ')}{more}"
    return visible(plain_text(cell), limit=limit)


def result_words(result: ExecutionResult, *, limit: int = 40) -> str:
    """A result in a few words: its only value, or its number of rows and the first of them, cut
    at `limit` characters."""
    if result.error is not None:
        return result.error.kind
    if not result.rows:
        return "no rows"
    first = ", ".join(cell_to_text(cell, limit=limit) for cell in result.rows[0])
    first = first if len(first) <= limit else f"{first[:limit]}\u2026"
    if len(result.rows) == 1 and not result.truncated:
        return first
    least = "at least " if result.truncated else ""
    return f"{least}{len(result.rows):,} rows, first {first}"


def _value(match: ValueMatch) -> dict[str, Any]:
    return {
        "phrase": readable(match.phrase),
        "table": readable(match.column.table),
        "column": readable(match.column.column),
        "value": readable(match.value),
        "score": plain(match.score),
        "row_count": match.row_count,
    }


def _part(part: QueryPart) -> dict[str, Any]:
    condition = part.condition
    told = None
    if condition is not None:
        told = {
            "subject": readable(condition.subject),
            "operator": condition.operator,
            "operands": [readable(operand) for operand in condition.operands],
            "columns": [
                {"table": readable(ref.table), "column": readable(ref.column)}
                for ref in condition.columns
            ],
            "values": [_value(match) for match in condition.matches],
        }
    return {
        "kind": part.kind,
        "depth": part.depth,
        "text": readable(part.text),
        "condition": told,
    }


def _text_table(answer: Answer, rows: int, width: int) -> list[str]:
    header = [visible(name, limit=width) for name in answer.columns]
    body = [[cell_to_text(c, limit=width) for c in row] for row in answer.rows[:rows]]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    table = ["  ".join(t.ljust(w) for t, w in zip(r, widths, strict=True)).rstrip() for r in
             [header, ["-" * w for w in widths], *body]]  # fmt: skip
    if not answer.rows and answer.doubt != NO_ROWS:
        table.append("no rows")
    if hidden := hidden_rows(len(answer.rows) - rows, answer.truncated):
        table.append(hidden)
    return table


def hidden_rows(count: int, truncated: bool) -> str:
    """That `count` rows more were fetched than are shown, and whether there are others still that
    were not; empty when all are shown."""
    if count <= 0:
        return "\u2026 more rows, not fetched" if truncated else ""
    least = "at least " if truncated else ""
    return f"\u2026 {least}{count:,} more row{'' if count == 1 and not truncated else 's'}"


def shortened_words(result: ExecutionResult) -> tuple[str, ...]:
    """A note on the values that the limit of one cell cut, the first three by their places."""
    if not result.shortened:
        return ()
    sizes = {_size(result.rows[row][column]) for row, column in result.shortened}
    places = [f"{result.columns[c]} in row {r + 1:,}" for r, c in result.shortened[:3]]
    if rest := len(result.shortened) - len(places):
        places.append(f"{rest:,} more")
    many = "a value is" if len(result.shortened) == 1 else f"{len(result.shortened):,} values are"
    return (f"{many} cut after {max(sizes):,} bytes: {', '.join(places)}",)


def _size(cell: Cell) -> int:
    """Bytes that a text or blob takes in UTF-8."""
    return len(cell if isinstance(cell, bytes) else plain_text(cell).encode("utf-8", "replace"))


def rows_words(condition: QueryCondition) -> str:
    """The number of rows that hold the values of a condition, in words; empty when not counted."""
    counts = {match.value: match.row_count for match in condition.matches}
    rows = [count for count in counts.values() if count is not None]
    if not rows or len(rows) < len(counts):
        return ""
    total = sum(rows)
    words = f"{total:,} row{'' if total == 1 else 's'}"
    if condition.operator in {"=", "in"} and len(counts) == len(condition.operands):
        return words
    return f"{words} {'has' if total == 1 else 'have'} {'it' if len(counts) == 1 else 'them'}"
