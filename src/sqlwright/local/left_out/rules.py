"""The rules, in the order they are applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlwright.local.form.nodes import Query
from sqlwright.local.left_out import amounts, flags, keys, operations, times, values
from sqlwright.local.left_out.reading import Finding, Reading
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.local.parser.dressing.undress import undress

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
    operations.measure_for_thing,
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
    operations.unasked_window,
    operations.later_place,
    operations.digits_as_value,
    operations.unrounded,
    operations.lacking,
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
