"""The rules, in the order they are applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlwright.form.nodes import Query
from sqlwright.steps.repair.vetoes import amounts, keys, operations, shown, times, units, values
from sqlwright.steps.repair.vetoes.reading import Finding, Reading

Rule = Callable[[Query, Reading], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    times.misplaced_year,
    times.left_out,
    values.taken_for_opposite,
    values.left_out,
    values.unused_name,
    values.not_stored,
    units.unit_as_value,
    units.other_unit,
    units.unscaled,
    units.shown_in_other_unit,
    shown.measure_for_thing,
    keys.excludes_all,
    keys.null_in_list,
    keys.by_names,
    operations.later_place,
    operations.digits_as_value,
    operations.unrounded,
    operations.lacking,
    amounts.text_as_number,
    amounts.part_of_no_date,
    amounts.constants_only,
)


def findings(form: Query, read: Reading) -> list[Finding]:
    """Everything the rules find fault with."""
    return [finding for rule in RULES for finding in rule(form, read)]
