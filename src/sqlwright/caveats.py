"""Effects of the data on a query's order, comparisons and sums, without a word: NULL that wins,
rows equal at the LIMIT, numbers compared as texts, texts among numbers.

Profiles of columns say where that may be. Whether it is so is looked up: by the same query with
such places put right, and by the rows around a LIMIT, each a bounded query of its own under the
guard. What makes no difference isn't told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from sqlwright.candidates import cell_key, grounded, is_empty_answer, same_result, stopped
from sqlwright.english.words import singular, split_name, tokens
from sqlwright.presentation.answer import cell_to_text, result_words
from sqlwright.protocols import Database, Run, Workspace
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.dialects import dialect_of
from sqlwright.sql.hazards import Held, held
from sqlwright.sql.reading import columns_used
from sqlwright.types import CAVEATS, Candidate, Cell, ExecutionResult, Note, State, Veto

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile
    from sqlwright.sql.hazards import Places
    from sqlwright.sql.tied import Cut

SECONDS = 1.0
"""For each query that looks; chosen."""
_CUTS = 3
"""LIMITs of one query that are looked at."""
_LONGEST = 20
"""Rows of a LIMIT from which equal rows at its end are no surprise; chosen."""
_MORE = 30
"""Rows beyond a LIMIT that are looked at: so many equal ones can be counted."""
_KEYS = 60
"""Characters of an order that a note names; what stands for a number among texts is longer."""
_NAMED = 3
"""Texts and rows that a note names."""
_ORDERED = frozenset({"MAX", "MIN", "the order", "the comparison"})

Around = Sequence[tuple["Cut", Sequence[tuple[Cell, ...]]]]


@dataclass(frozen=True)
class Look:
    """The database that queries are looked at in."""

    database: Database
    schema: Schema
    profiles: Callable[[Sequence[ColumnRef]], Mapping[ColumnRef, ColumnProfile]]
    run: Run = field(default_factory=Run)
    known: dict[str, Caveats] = field(default_factory=dict, repr=False)
    """Of queries that were looked at, by the ids of their candidates."""

    @classmethod
    def at(cls, workspace: Workspace, run: Run) -> Look:
        """With the profiles that are there."""
        known = {} if workspace.catalog is None else workspace.catalog.columns
        return cls(workspace.database, workspace.schema, lambda _: known, run)

    def execute(self, sql: str) -> ExecutionResult:
        """Run a query that looks."""
        limits = self.run.limits
        limits = replace(limits, seconds=min(limits.seconds, SECONDS))
        return self.database.execute(sql, self.run, limits=limits)


@dataclass(frozen=True)
class Caveats:
    """The effects found in a query that ran."""

    notes: tuple[Note, ...] = ()
    better: Candidate | None = None
    """The query with its places put right, run, where it gives something else."""
    all_equal: Candidate | None = None
    """The query of one row with all that are equal to it, run."""

    def told(self) -> tuple[Note, ...]:
        """The notes, with what the query put right gives."""
        if self.better is None or self.better.result is None:
            return self.notes
        given = f"; without that the query gives {result_words(self.better.result)}"
        pairs = ((note, "" if note.kind == "tied" else given) for note in self.notes)
        return tuple(replace(note, text=note.text + more) for note, more in pairs)


def expected(sql: str, look: Look) -> tuple[Note, ...]:
    """The notes that profiles alone give: nothing is run, so some may make no difference."""
    return tuple(note for note, _ in _doubtful(sql, look)[0])


def examined(candidate: Candidate, look: Look) -> Caveats:
    """The effects of the data in a query that ran; none in one that failed."""
    if candidate.result is None or not candidate.result.ok or stopped(look.run):
        return Caveats()
    if candidate.id not in look.known:
        doubtful, sql = _doubtful(candidate.sql, look)
        around = list(_around(candidate.sql, look))
        better = _better(candidate, [done for _, done in doubtful], sql, around, look)
        kept = doubtful if better is not None or not sql else ()
        ties = {note: cut for cut, rows in around if (note := _tie(cut, rows)) is not None}
        first = any(cut.whole and cut.rows == 1 for cut in ties.values())
        wider = _with_ties(candidate, look) if first else None
        notes = (*(note for note, _ in kept), *ties, *_numbered(candidate, look))
        look.known[candidate.id] = Caveats(notes, better, wider)
    return look.known[candidate.id]


def cautioned(state: State, look: Look, *, mends: bool) -> State:
    """The state with what the data does in its choice: told, or put right with `mends`."""
    chosen = state.selected
    if chosen is None or state.refusal is not None:
        return state
    new, found = chosen, examined(chosen, look)
    if found.better is not None and mends:
        new = _in_place(found.better, chosen)
        found = examined(new, look)
    words = [word.text.casefold() for word in tokens(state.question.text)]
    any_one = bool({"any", "one"} & set(words))
    if found.all_equal is not None and mends and not any_one and _several(words, new, look.schema):
        new = _in_place(found.all_equal, new)
        found = examined(new, look)
    notes = tuple(
        replace(note, kind="equal_rows") if note.kind == "tied" and any_one else note
        for note in found.told()
    )
    if not notes and new is chosen:
        return state
    new = replace(new, warnings=(*notes, *new.warnings))
    others = tuple(new if one.id == chosen.id else one for one in state.candidates)
    return state.evolve(selected=new, candidates=others)


def faulty(candidate: Candidate) -> tuple[Note, ...]:
    """The notes by which a candidate is doubted."""
    return tuple(note for note in candidate.warnings if note.kind in CAVEATS)


def _several(words: Sequence[str], candidate: Candidate, schema: Schema) -> bool:
    """True if a question's words name what a query shows first, or its table, in the plural, and
    never as one."""
    shown = columns_used(candidate.sql, schema)[:1]
    names = (
        name for ref in shown for name in (*split_name(ref.table)[-1:], *split_name(ref.column))
    )
    nouns = set(map(singular, names))
    named = [word for word in words if singular(word) in nouns]
    return bool(named) and not any(word in nouns for word in named)


# ---- places that profiles speak of


def _doubtful(sql: str, look: Look) -> tuple[tuple[tuple[Note, Veto], ...], str]:
    """The places of a query that profiles make doubtful, each as a fault and as one put right; and
    the query with them put right, empty where that can't be said."""
    from sqlwright.sql.hazards import read_places

    places = read_places(sql, look.schema)
    if places is None:
        return (), ""
    profiles = look.profiles(places.columns)
    known = {ref: profiles[ref] for ref in places.columns if ref in profiles}
    texts = {ref: one for ref, profile in known.items() if (one := held(profile)) is not None}
    title = dialect_of(look.schema).title
    nulls = {ref: profile.nulls for ref, profile in known.items() if profile.nulls}
    found = (*_of_numbers(places, texts, title), *_of_nulls(places, nulls, title))
    pairs = tuple(
        (note, Veto("null" if note.kind == "null_first" else "text", note.text, done))
        for note, done in found
    )
    return pairs, places.mended(texts, nulls) if pairs else ""


def _of_numbers(
    places: Places, texts: Mapping[ColumnRef, Held], title: str
) -> Iterator[tuple[Note, str]]:
    for ref, one in texts.items():
        here = [place for place in places.numbers if place.ref == ref and place.by_text(one)]
        what = list(dict.fromkeys(place.what for place in here))
        if one.words and any(place.first_rows for place in here):
            listed = ", ".join(repr(word) for word in one.words[:_NAMED])
            does = "taken as well" if _ORDERED & set(what) else f"counted as 0 by {title}"
            text = f"{ref} holds text among its numbers ({listed}); in {' and '.join(what)} it is"
            done = f"the text among the numbers of {ref} ({listed}) is left out"
            yield Note("text_among_numbers", f"{text} {does}"), done
        elif here and one.misplaced is not None:
            first, second = one.misplaced
            text = f"{' and '.join(what)} of {ref} by digits: its numbers are stored as text, and"
            done = f"{ref} is taken for the numbers that it stores as text"
            yield Note("order_by_digits", f"{text} {first!r} comes before {second!r}"), done


def _of_nulls(
    places: Places, nulls: Mapping[ColumnRef, int], title: str
) -> Iterator[tuple[Note, str]]:
    for ref in dict.fromkeys(ref for key in places.keys for ref in key.refs if ref in nulls):
        many = "1 row" if nulls[ref] == 1 else f"{nulls[ref]:,} rows"
        text = f"{ref} is NULL in {many}, which {title} puts first in this order"
        yield Note("null_first", text), f"rows without {ref} come last: NULL is no value that wins"


def _better(
    candidate: Candidate, done: Sequence[Veto], sql: str, around: Around, look: Look
) -> Candidate | None:
    """The query with its places put right, where it gives something else."""
    whole = next((pair for pair in around if pair[0].whole), None)
    if sql and whole is not None and all(veto.kind == "null" for veto in done):
        cut, rows = whole
        kept = rows[cut.first :][: cut.rows]
        if not any(None in row[-len(cut.keys) :] for row in kept):
            return None  # what differs then differs by rows that are equal
    better = _rewritten(candidate, sql, done, look)
    if better is None or same_result(better, candidate):
        return None
    return None if is_empty_answer(better) and not is_empty_answer(candidate) else better


def _with_ties(candidate: Candidate, look: Look) -> Candidate | None:
    """The query of one row with all that are equal to it; of more rows that is only told."""
    from sqlwright.sql.tied import with_equal_rows

    sql = with_equal_rows(candidate.sql, look.schema.dialect)
    done = "all rows that are equal by the order asked for are shown"
    return _rewritten(candidate, sql, [Veto("place", "equal rows are left out", done)], look)


def _rewritten(
    candidate: Candidate, sql: str | None, done: Sequence[Veto], look: Look
) -> Candidate | None:
    """The candidate as another query, run; None where there is none, or it fails."""
    if not sql or not (result := look.execute(sql)).ok:
        return None
    new = Candidate(
        sql, "caveats", candidate.score, result, candidate, goal=candidate.goal,
        sample=candidate.sample, model=candidate.model, by_model=candidate.by_model,
        note="; ".join(veto.done for veto in done), mended=(*candidate.mended, *done),
    )  # fmt: skip
    return grounded(new, candidate.values, look.schema)


def _in_place(new: Candidate, of: Candidate) -> Candidate:
    """A candidate judged as the one that it was made from."""
    return replace(
        new, confidence=of.confidence, share=of.share, vetoes=of.vetoes, account=of.account,
        warnings=of.warnings,
    )  # fmt: skip


# ---- rows around a LIMIT


def _around(sql: str, look: Look) -> Iterator[tuple[Cut, Sequence[tuple[Cell, ...]]]]:
    from sqlwright.sql.tied import cuts

    if not any(word in sql.casefold() for word in ("limit", "fetch", "max", "min")):
        return
    for cut in islice(cuts(sql, look.schema.dialect, _MORE), _CUTS):
        result = look.execute(cut.sql) if cut.rows <= _LONGEST else None
        if result is not None and result.ok:
            yield cut, result.rows


def _tie(cut: Cut, rows: Sequence[tuple[Cell, ...]]) -> Note | None:
    """That rows beyond a LIMIT are equal to the last one within it, and show something else."""
    count, end = len(cut.keys), cut.first + cut.rows
    keyed = [(tuple(map(cell_key, row[-count:])), row[:-count]) for row in rows]
    kept = keyed[cut.first : end]
    if not kept or None in rows[min(end, len(rows)) - 1][-count:]:
        return None
    at = kept[-1][0]
    shown = {tuple(map(cell_key, row)) for _, row in kept}
    own = sum(key == at for key, _ in kept)
    equals = [row for key, row in (*keyed[: cut.first], *keyed[end:]) if key == at]
    left_out = [row for row in equals if tuple(map(cell_key, row)) not in shown]
    if not left_out:
        return None
    least = "at least " if len(rows) == end + _MORE and keyed[-1][0] == at else ""
    value = _row(rows[end - 1][-count:])
    named = list(dict.fromkeys(map(_row, left_out)))
    keys = ", ".join(cut.keys)
    keys = keys if len(keys) <= _KEYS else "its order"
    text = (
        f"{'' if cut.whole else 'within the query '}{least}{own + len(equals)} rows are equal by "
        f"{keys} ({value}) and {own} {'is' if own == 1 else 'are'} taken; left out: "
        f"{'; '.join(named[:_NAMED])}{'; and more' if len(named) > _NAMED else ''}"
    )
    return Note("tied", text)


def _row(row: Sequence[Cell]) -> str:
    return ", ".join(cell_to_text(cell, limit=40) for cell in row)


def _numbered(candidate: Candidate, look: Look) -> Iterator[Note]:
    """That ROW_NUMBER gives rows that are equal by its order their numbers by chance."""
    from sqlwright.sql.tied import ranked

    wider = _rewritten(candidate, ranked(candidate.sql, look.schema.dialect), (), look)
    if wider is None or wider.result is None or candidate.result is None:
        return
    more = len(wider.result.rows) - len(candidate.result.rows)
    if more > 0:
        many = "1 row more is" if more == 1 else f"{more:,} rows more are"
        yield Note("tied", f"{many} equal to rows shown by the order of ROW_NUMBER, and left out")
