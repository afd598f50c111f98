"""The rules, in the order they are applied.

Those that stand here: operations that a question names, answered by another one, and columns that
are shown although something else was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

from sqlwright.english.cues import (
    LATER_PLACE,
    LATER_PLACES,
    ROUNDED,
    RUN,
    SHARE,
    one_of,
    whole_words,
)
from sqlwright.english.vocabulary import FUNCTION_WORDS, NUMBERS, OPERATION_WORDS
from sqlwright.english.words import split_name, stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.lacking import OPERATIONS
from sqlwright.local.form.nodes import Query
from sqlwright.local.form.walking import inside
from sqlwright.local.left_out import amounts, flags, keys, times, values
from sqlwright.local.left_out.reading import (
    NAMES,
    Finding,
    Reading,
    column_words,
    conjuncts,
    fault,
    name_of,
    named_words,
    with_parts,
)
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.local.parser.dressing.undress import undress
from sqlwright.schema import Table


def lacking(form: f.Query, read: Reading) -> Iterator[Finding]:
    """An operation that the question asks for and the query doesn't work out."""
    asked = [(one, match) for one in OPERATIONS if (match := one.asked.search(read.question))]
    for operation, match in asked:
        if operation.said(form):
            continue
        if named_words(form, read.schema) & set(map(stem, operation.names)):
            continue
        told = f"“{match.group()}” asks for a {operation.name}, which this query doesn't work out"
        mended = form if operation.mend is None else operation.mend(form)
        if mended == form or len(asked) > 1:
            yield fault("operation", told)
        else:
            yield fault("operation", told, f"it gives the {operation.name}", mended)


_ASKS_FOR_WINDOW = whole_words(
    rf"rank\w*|positions?|places?|so far|to date|ytd|moving|rolling|growth|change\w*|grow\w*"
    rf"|differences?|differ|increase\w*|decrease\w*|month over month|compar\w+"
    rf"|of (?:the )?total"
    rf"|number(?:ed|ing)|quartiles?|deciles?|ntile|percentiles?|average|prior|following|earlier"
    rf"|later|before|after|lag|lead|within|accumulat\w*|top|first|last|{one_of((*SHARE, *RUN))}"
)
"""Words of a question that may ask for what a window works out."""


def unasked_window(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A running total or a rank beside, or in place of, what was asked for."""
    if not isinstance(form, f.Select) or _ASKS_FOR_WINDOW.search(read.question):
        return
    items = tuple(dict.fromkeys(item for one in form.items for item in _without_window(one)))
    if items != form.items:
        told = "it works out a running total or rank, which nothing in the question asks for"
        mended = replace(form, items=items) if items else None
        yield fault("window", told, "shown without a running total or rank", mended)


def _without_window(item: f.Expression | f.Star) -> list[f.Expression | f.Star]:
    """The items in a window's place: the aggregate that it runs over, or nothing."""
    if not inside(item, f.Window):
        return [item]
    if not isinstance(item, f.Window) or item.operand is None or item.function == "ntile":
        return []
    if inside(item.operand, f.Aggregate):
        return [item.operand]
    if item.function in {"count", "sum", "avg", "min", "max"}:
        return [f.Aggregate(cast("f.AggregateName", item.function), item.operand)]
    return []


def later_place(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Second most”, answered by the first."""
    match = LATER_PLACE.search(read.question)
    if match is None or not isinstance(form, f.Select) or not form.order_by:
        return
    if form.limit == 1 and not form.offset:
        place, said = LATER_PLACES[match.group("place").casefold()], match.group()
        told, done = (
            f"“{said}” is answered by the first",
            f"“{said}” is place {place} of that order",
        )
        yield fault("place", told, done, replace(form, offset=place - 1))


def digits_as_value(form: f.Query, read: Reading) -> Iterator[Finding]:
    """The number of digits that are wanted, taken for a value that a column is to equal."""
    match = ROUNDED.search(read.question)
    said = match.group("digits") if match else None
    if match is None or said is None or not isinstance(form, f.Select):
        return
    digits = str(NUMBERS.get(said.casefold(), said))
    parts = conjuncts(form.where)
    kept = [part for part in parts if not _equals(part, digits)]
    if len(kept) < len(parts):
        told = f"“{said}” of “{match.group()}” is taken for a stored value"
        yield fault(
            "round", told, f"“{said}” is how many decimals are wanted", with_parts(form, kept)
        )


def _equals(part: f.Condition, number: str) -> bool:
    match part:
        case f.Comparison(_, f.Column(), f.Literal(value)) | f.Like(
            _, f.Column(), f.Literal(value)
        ):
            return str(value).strip(" %") == number
    return False


def unrounded(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Rounded to two decimals”, answered by all of them."""
    match = ROUNDED.search(read.question)
    if match is None or not isinstance(form, f.Select):
        return
    if any(one.name in {"round", "round_to", "integer"} for one in inside(form, f.Function)):
        return
    if "round" in named_words(form, read.schema):
        return
    said = match.group("digits") or "0"
    digits = NUMBERS.get(said.casefold(), int(said) if said.isdigit() else 0)
    items = tuple(_rounded(item, digits) for item in form.items)
    if items != form.items:
        done = f"rounded to {digits} decimal{'s' * (digits != 1)}"
        yield fault("round", "it isn't rounded", done, replace(form, items=items))


def _rounded(item: f.Expression | f.Star, digits: int) -> f.Expression | f.Star:
    worked_out = isinstance(item, f.Aggregate) and item.function in {"avg", "sum", "total"}
    if not (worked_out or isinstance(item, f.Arithmetic)) or isinstance(item, f.Star):
        return item
    return f.Function("round_to", (item, f.Literal(digits)))


def measure_for_thing(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Products priced below 20”, answered by their prices: the column that is compared is shown
    in place of the things themselves."""
    item = form.items[0] if isinstance(form, f.Select) and len(form.items) == 1 else None
    if not isinstance(form, f.Select) or not isinstance(item, f.Column) or form.group_by:
        return
    table = read.schema.table(item.ref.table)
    ranged = (part for part in conjuncts(form.where) if _is_range(part))
    if table is None or not any(item in inside(part, f.Column) for part in ranged):
        return
    if not _is_subject(table, read) or NAMES & column_words(item.ref):
        return
    name = name_of(table)
    if name is not None:
        told = f"{item.ref} is shown, which the question goes by; it asks for {table.name}"
        done = f"{name} is shown instead of {item.ref}"
        yield fault("shown", told, done, replace(form, items=(f.Column(name),)))


def _is_range(part: f.Condition) -> bool:
    if isinstance(part, f.Between):
        return True
    return isinstance(part, f.Comparison) and part.operator in {"<", ">", "<=", ">="}


def _is_subject(table: Table, read: Reading) -> bool:
    """True if the first thing that the question names is the table."""
    dull = FUNCTION_WORDS | OPERATION_WORDS
    first = next((word.text for word in read.words if word.text not in dull), "")
    return stem(first) in {stem(word) for word in split_name(table.own_name)}


Rule = Callable[[Query, Reading], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    times.misplaced_year,
    times.time_left_out,
    values.taken_for_opposite,
    values.excluded_by_name,
    values.several_hold,
    values.left_out,
    values.unused_name,
    values.not_stored,
    amounts.unit_as_value,
    amounts.other_unit,
    amounts.unscaled,
    amounts.shown_in_other_unit,
    measure_for_thing,
    keys.empty_key,
    keys.unrelated,
    keys.no_row_has_both,
    keys.excludes_all,
    keys.null_in_list,
    flags.missing_flag,
    flags.opposite_flag,
    flags.left_out,
    times.event_left_out,
    keys.other_role,
    keys.by_names,
    amounts.ordinal,
    unasked_window,
    later_place,
    digits_as_value,
    unrounded,
    lacking,
    amounts.label_added,
    amounts.out_of_nowhere,
    amounts.constants_only,
    amounts.same_twice,
)
AS_WRITTEN: tuple[Rule, ...] = (
    amounts.text_as_number,
    amounts.part_of_no_date,
)
"""The rules that see what was done to stored dates and amounts; the others see plain columns."""


def findings(form: Query, read: Reading) -> list[Finding]:
    """Everything the rules find fault with."""
    plain = undress(form, read.stored)
    found = [_dressed(finding, read) for rule in RULES for finding in rule(plain, read)]
    return found + [finding for rule in AS_WRITTEN for finding in rule(form, read)]


def _dressed(finding: Finding, read: Reading) -> Finding:
    """With what stored formats need in the query without the fault."""
    if finding.mended is None:
        return finding
    return replace(finding, mended=dress(finding.mended, read.stored))
