"""Every cursor of a program by its name in the steps, and the rows it goes over."""

from __future__ import annotations

from collections import Counter, defaultdict

from sqlwright.sql.plans.program import Program, Region
from sqlwright.sql.plans.registers import TEMPORARY, Cursor, loaded_by
from sqlwright.sql.plans.values import Value
from sqlwright.types.plans import EnginePlan, Instruction

_OPENS = frozenset({
    "OpenRead", "OpenEphemeral", "OpenAutoindex", "OpenDup", "OpenPseudo", "SorterOpen", "VOpen",
})  # fmt: skip


def part_names(program: Program, plan: EnginePlan) -> dict[int, str]:
    """A name for each subquery by its first address: that of a WITH, where the engine tells it."""
    told = [n.detail.partition(" ")[2] for n in sorted(plan.outline, key=lambda n: n.number)
            if n.detail.startswith(("CO-ROUTINE ", "MATERIALIZE "))]  # fmt: skip
    merged = [r for pair in program.merges for r in pair]
    views = [r for r in program.regions if r.kind != "subquery" and r not in merged]
    names: dict[int, str] = {}
    for number, region in enumerate(merged, start=1):
        names[region.first] = f"part {number}"
    if len(told) == len(views):
        names |= {r.first: name for r, name in zip(views, told, strict=True)
                  if not name.startswith("(")}  # fmt: skip
    number = 0
    for region in program.regions:
        if region.first not in names and not _only_constants(program, region.first, region.last):
            number += 1
            names[region.first] = f"subquery {number}"
        else:
            names.setdefault(region.first, "")
    return names


def named_cursors(program: Program, plan: EnginePlan, parts: dict[int, str]) -> dict[int, Cursor]:
    """Every cursor. A table that is opened again gets a number: `ports`, then `ports_2`."""
    by_root = {one.root: one for one in plan.stored}
    cursors: dict[int, Cursor] = defaultdict(Cursor)
    for one in program.code:
        if one.opcode in _OPENS and one.p1 not in cursors:
            cursors[one.p1] = Cursor(keys=one.p4 or "", order=by_root.get(one.p2)
                                     if one.opcode == "OpenRead" else None)  # fmt: skip
    _share(program, cursors)
    leads = _table_of_index(program, cursors)
    seen: Counter[str] = Counter()
    for one in program.code:
        if one.opcode == "OpenRead":
            cursor = cursors[leads.get(one.p1, one.p1)]
            if cursor.order is not None and not cursor.name:
                seen[cursor.order.table] += 1
                again = seen[cursor.order.table]
                cursor.name = f"{cursor.order.table}_{again}" if again > 1 else cursor.order.table
            cursors[one.p1].name = cursor.name
        elif one.opcode == "VOpen":
            cursors[one.p1].label = "a virtual table"
    _label(program, cursors, parts)
    return cursors


def _share(program: Program, cursors: dict[int, Cursor]) -> None:
    """A second cursor on what is put aside sees the same rows."""
    for one in program.code:
        if one.opcode == "OpenDup":
            source = cursors[one.p2]
            cursors[one.p1].rows = source.rows
            cursors[one.p1].keys = source.keys


def _table_of_index(program: Program, cursors: dict[int, Cursor]) -> dict[int, int]:
    """The table's cursor by that of an index whose rows lead to it."""
    found: dict[int, int] = {}
    rowid_of: dict[int, int] = {}
    for one in program.code:
        if one.opcode == "DeferredSeek":
            found[one.p1] = one.p3
        elif one.opcode == "IdxRowid":
            rowid_of[one.p2] = one.p1
        elif one.opcode in {"SeekRowid", "NotExists"} and one.p3 in rowid_of:
            index = rowid_of[one.p3]
            order, table = cursors[index].order, cursors[one.p1].order
            if order and table and order.table == table.table:
                found[index] = one.p1
    return found


def _label(program: Program, cursors: dict[int, Cursor], parts: dict[int, str]) -> None:
    """Say of everything that is put aside what it is for."""
    code = program.code
    for place, one in enumerate(code):
        after = code[place + 1] if place + 1 < len(code) else one
        if one.opcode == "OpenAutoindex":
            cursors[one.p1].label = TEMPORARY
        elif one.opcode == "OpenEphemeral":
            region = program.around(one.address)
            if after.opcode == "OpenDup" and after.p2 == one.p1:
                _window(program, cursors, one)
            elif region and _opens(program, region.first) == place:
                if region.kind == "stored":
                    cursors[one.p1].label = parts[region.first]
                else:
                    cursors[one.p1].is_set = True
                    members = _members(program, region)
                    listed = ", ".join(value.text for value in members)
                    cursors[one.p1].members = members
                    cursors[one.p1].label = listed or f"the values of {parts[region.first]}"
    for one in code:
        if one.opcode == "OpenDup" and not cursors[one.p1].label:
            cursors[one.p1].label = cursors[one.p2].label
            cursors[one.p1].is_set = cursors[one.p2].is_set
            cursors[one.p1].members = cursors[one.p2].members


def _window(program: Program, cursors: dict[int, Cursor], one: Instruction) -> None:
    for other in (one, *(o for o in program.code if o.opcode == "OpenDup" and o.p2 == one.p1)):
        cursors[other.p1].label = "window"


def _opens(program: Program, first: int) -> int:
    """The address of the first instruction of a subquery that does something."""
    while program.code[first].opcode in {"Once", "Noop", "BeginSubrtn"}:
        first += 1
    return first


def _members(program: Program, region: Region) -> tuple[Value, ...]:
    """The constants of an IN."""
    if not _only_constants(program, region.first, region.last):
        return ()
    loaded = (loaded_by(one) for one in program.code[region.first : region.last])
    return tuple(value for value in loaded if value is not None)


def _only_constants(program: Program, first: int, last: int) -> bool:
    """True for the list of an IN: nothing is opened or read for it."""
    opcodes = {o.opcode for o in program.code[first:last]}
    return "OpenEphemeral" in opcodes and not opcodes & {"OpenRead", "Rewind", "Yield", "OpenDup"}
