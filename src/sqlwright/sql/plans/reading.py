"""SQLite's bytecode as steps of a plan.

The instructions are gone through in their order, which is that of the work: what a subquery needs
stands before what uses it, rows are found before they are grouped, sorted and delivered. What a
step reads is in the registers as `registers` follows them; a jump is a condition (`branches`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sqlwright.sql.plans.bounds import bounds
from sqlwright.sql.plans.deciding import Deciding
from sqlwright.sql.plans.program import JUMPS, Region
from sqlwright.sql.plans.registers import ARRIVAL, TEMPORARY, WINDOW_VALUES
from sqlwright.sql.plans.steps import PlanStep
from sqlwright.sql.plans.unreadable import check_bytecode, check_steps
from sqlwright.sql.plans.values import NULL, Value, call, made_of
from sqlwright.types.plans import EnginePlan, Instruction


def read_plan(plan: EnginePlan) -> tuple[PlanStep, ...]:
    """The steps of a plan, in the order of the work. Raises UnreadablePlan for one that can't be
    told for certain."""
    check_bytecode(plan)
    steps = _Reader(plan).read() if plan.instructions else ()
    check_steps(steps)
    return steps


class _Reader(Deciding):
    def __init__(self, plan: EnginePlan) -> None:
        super().__init__(plan)
        self._does: dict[str, Callable[[Instruction], None]] = {
            "OpenRead": self._open, "VOpen": self._open, "Rewind": self._scan, "Last": self._scan,
            "VFilter": self._scan, "Sort": self._sort, "SorterSort": self._sort,
            "SorterData": self._sorted_row, "SeekRowid": self._look_up, "NotExists": self._look_up,
            "SeekGE": self._search, "SeekGT": self._search, "SeekLE": self._search,
            "SeekLT": self._search, "IdxInsert": self._enter, "SorterInsert": self._enter,
            "Insert": self._insert, "NullRow": self._unmatched, "Compare": self._together,
            "AggStep": self._aggregate, "AggFinal": self._total, "AggValue": self._window,
            "DecrJumpZero": self._limit, "IfNotZero": self._most, "IfPos": self._offset,
            "ResultRow": self._deliver, "Count": self._count, "Yield": self._yield,
            "Goto": self._goto,
        }  # fmt: skip

    def read(self) -> tuple[PlanStep, ...]:
        for one in self.program.opening:
            self.computing.carries_out(one, self.registers)
        self.walk(1, self.program.end)
        repeats = any(one.opcode == "AggValue" for one in self.program.code)
        return tuple(_said_once(self.steps) if repeats else self.steps)

    def walk(self, first: int, end: int) -> None:
        place = first
        while place < end:
            one = self.program.code[place]
            if one.opcode in JUMPS:
                place = self.jump(one)
                continue
            if one.opcode in self._does:
                self._does[one.opcode](one)
            elif not self.computing.carries_out(one, self.registers):
                self._other(one)
            self._end(place)
            place += 1

    # Subqueries

    def _end(self, place: int) -> None:
        for region in self.program.regions:
            if region.kind == "subquery" and region.last == place:
                self._say_value(region)
                self.finish(region, self.registers)

    def _say_value(self, region: Region) -> None:
        """Say what a subquery of one value comes to."""
        first = next(
            o for o in self.program.code[region.first :] if o.opcode not in {"Once", "Noop"}
        )
        if first.opcode == "Null":
            registers = range(first.p2, max(first.p2, first.p3) + 1)
            values = tuple(self.registers[r] for r in registers)
            self._say("result", self.program.code[region.last], values=values)

    # Tables

    def _open(self, one: Instruction) -> None:
        cursor = self.cursors[one.p1]
        order = cursor.order
        stored = order.table if order else ""
        self._say("open", one, table=cursor.name or cursor.label, stored=stored, by=cursor.by)

    def _scan(self, one: Instruction) -> None:
        cursor = self.cursors[one.p1]
        loop = next((o for o in self.program.loops if o.cursor == one.p1
                     and one.address < o.last and o.first > one.address), None)  # fmt: skip
        named = cursor.name or cursor.label
        if cursor.is_set or named in {"", "window"} or (not cursor.stored and loop is None):
            return
        backwards = bool(loop) and self.program.code[loop.last].opcode == "Prev"  # type: ignore[union-attr]
        ends, exclusive = self._range_end(one)
        if ends:
            columns = [cursor.column(place) for place in range(len(ends))]
            found = bounds(one.opcode, columns, (), ends, exclusive, keyed=cursor.keyed)
            self._say("search", one, table=named, by=cursor.by, values=found, backwards=backwards)
            return
        self._say("scan", one, table=named, by=cursor.by, backwards=backwards)

    def _look_up(self, one: Instruction) -> None:
        cursor = self.cursors[one.p1]
        if not cursor.stored:
            return
        wanted = self.registers[one.p3]
        key = cursor.rowid()
        if wanted == key:  # the row that an index has led to
            return
        text = f"{key.text} = {wanted.bracketed}"
        self._say("look_up", one, table=cursor.name, values=(made_of(text, (key, wanted)),))

    def _search(self, one: Instruction) -> None:
        cursor = self.cursors[one.p1]
        count = int(one.p4) if one.p4.isdigit() else 1
        starts = self.registers.some(one.p3, count)
        if cursor.order is not None and not cursor.order.index and not one.p4.isdigit():
            columns: list[Value] = [cursor.rowid()]
        else:
            columns = [cursor.column(place) for place in range(8)]
        ends, exclusive = self._range_end(one)
        found = bounds(one.opcode, columns, starts, ends, exclusive, keyed=cursor.keyed)
        backwards = one.opcode in {"SeekLE", "SeekLT"}
        kind = "temporary" if cursor.label == TEMPORARY else ""
        self._say("search", one, table=self._name(one.p1), by=cursor.by, values=found,
                  backwards=backwards, text=kind)  # fmt: skip

    def _range_end(self, one: Instruction) -> tuple[tuple[Value, ...] | None, bool]:
        """The values at which a search of an index ends, and whether they are left out."""
        registers = self.registers.copied()
        for after in self.program.code[one.address + 1 : one.address + 12]:
            if after.p1 == one.p1 and after.opcode in {"IdxGT", "IdxGE", "IdxLT", "IdxLE"}:
                count = int(after.p4) if after.p4.isdigit() else 1
                return registers.some(after.p3, count), after.opcode in {"IdxGE", "IdxLE"}
            if after.opcode != "IsNull" and not self.computing.carries_out(after, registers):
                break
        return None, False

    def _unmatched(self, one: Instruction) -> None:
        before = self.program.code[one.address - 1]
        if before.opcode != "IfPos":
            return
        matched = [o.address for o in self.program.code[: one.address]
                   if o.opcode == "Integer" and o.p1 == 1 and o.p2 == before.p1]  # fmt: skip
        self._say("unmatched", one, table=self._name(one.p1))
        step = self.steps.pop()  # what follows for a match follows for none, too
        later = (n for n, s in enumerate(self.steps) if s.address > max(matched, default=0))
        self.steps.insert(next(later, len(self.steps)), step)

    def _name(self, number: int) -> str:
        cursor = self.cursors[number]
        if cursor.name or not cursor.rows:
            return cursor.name or cursor.label
        return ", ".join(sorted({c.partition(".")[0] for v in cursor.rows[0] for c in v.columns}))

    # Rows put aside, grouped, sorted

    def _enter(self, one: Instruction) -> None:
        record = self.registers.records.get(one.p2, ())
        cursor = self.cursors[one.p1]
        cursor.rows.append(record)
        loop = self.program.loop_of(one.address)
        if cursor.is_set and not cursor.members and loop is not None:
            self._say("result", one, values=record)
        elif cursor.label == TEMPORARY:
            held = tuple(v for v in record if not v.text.endswith(".rowid"))
            self._say("fill", one, table=cursor.label, values=held)

    def _insert(self, one: Instruction) -> None:
        cursor = self.cursors[one.p1]
        record = self.registers.records.get(one.p2, ())
        cursor.rows.append(record)
        if cursor.label != "window":
            self._say("fill", one, table=cursor.label, values=record)

    def _sort(self, one: Instruction) -> None:
        cursor = self.cursors[one.p1]
        keys = cursor.keyed
        if not cursor.rows:
            return
        sorted_by = cursor.rows[0][: len(keys)]
        pairs = [(v, k.startswith("-")) for v, k in zip(sorted_by, keys, strict=False)]
        pairs = [pair for pair in pairs if pair[0] != ARRIVAL]
        self._say("sort", one, values=tuple(v for v, _ in pairs),
                  descending=tuple(d for _, d in pairs))  # fmt: skip
        self.most = cursor.most

    def _sorted_row(self, one: Instruction) -> None:
        self.cursors[one.p3].rows = self.cursors[one.p1].rows

    def _together(self, one: Instruction) -> None:
        before, now = (self.registers.some(p, one.p3) for p in (one.p1, one.p2))
        if any(b.last < one.address < b.resumes for _, b in self.program.merges):
            return
        if all(v is not NULL for v in (*before, *now)) and before != now:
            name = self.merging.pop(0) if self.merging else "UNION ALL"
            self._say("merge", one, text=name)
            self.steps += self.merged
            self.merged.clear()
            return
        keys = now if any(v is not NULL for v in now) else before
        self._say("together", one, values=keys)

    def _aggregate(self, one: Instruction) -> None:
        given = self.registers.some(one.p2, one.p5)
        name = one.p4.partition("(")[0]
        if any(one.address < end for end, _ in self.distinct):
            given = tuple(replace(v, text=f"distinct {v.text}") for v in given)
        made = call(name, given) if given else Value(f"{name}(*)")
        conditions = [value for end, value in self.only if one.address < end]
        only = conditions[-1] if conditions else None
        if only is not None:
            made = made_of(f"{made.text} where {only.text}", (made, only), compound=True)
        self.registers.set(one.p3, replace(made, never_null=name == "count"))
        self._say("aggregate", one, values=(made,))

    def _total(self, one: Instruction) -> None:
        """The accumulator holds its aggregate from its first step on."""

    def _window(self, one: Instruction) -> None:
        name = one.p4.partition("(")[0]
        if name in WINDOW_VALUES:
            self.registers.window = {**self.registers.window, one.p3: name}
        else:
            self.registers.set(one.p3, self.registers[one.p1 or one.p3])

    # Results

    def _limit(self, one: Instruction) -> None:
        region = self.program.around(one.address)
        if region is None or region.kind != "subquery" or self.registers[one.p1].text != "1":
            self._say("limit", one, values=(self.registers[one.p1],))

    def _most(self, one: Instruction) -> None:
        """A sorter that keeps the first rows only."""
        for after in self.program.code[one.address : one.address + 6]:
            if after.opcode == "Last":
                self.cursors[after.p1].most = self.registers[one.p1]

    def _offset(self, one: Instruction) -> None:
        for limits in self.program.code:
            if limits.opcode == "OffsetLimit" and limits.p3 == one.p1:
                self._say("offset", one, values=(self.registers[one.p1],))
                return

    def _say_most(self, one: Instruction) -> None:
        if self.most is not None:
            self._say("limit", one, values=(self.most,))
        self.most = None

    def _count(self, one: Instruction) -> None:
        made = Value("count(*)", never_null=True)
        self._say("count", one, table=self._name(one.p1), values=(made,))
        self.registers.set(one.p2, made)

    def _deliver(self, one: Instruction) -> None:
        self._say_most(one)
        self._say("deliver", one, values=self.registers.some(one.p1, one.p2))
        if any(b.last < one.address < b.resumes for _, b in self.program.merges):
            self.merged.append(self.steps.pop())

    def _yield(self, one: Instruction) -> None:
        """A subquery hands over what is read of it later."""
        region = self.program.around(one.address)
        if region is None or region.kind != "coroutine" or region.register != one.p1:
            return
        written = {r for r, places in self.program.written.items()
                   if any(region.first <= p < one.address for p in places)}  # fmt: skip
        later = [r for r in sorted(written) if any(o.address > region.last and not any(
            region.last < p < o.address for p in self.program.written[r])
            for o in self.program.readers[r])]  # fmt: skip
        self._say_most(one)
        values = {self.registers[r].text: self.registers[r] for r in later}
        self._say("result", one, values=tuple(values.values()))

    def _goto(self, one: Instruction) -> None:
        loop = self.program.loop_of(one.address)
        if loop and one.p2 > loop.last and self.program.code[one.address + 1].address <= loop.last:
            self._say("once", one)

    def _other(self, one: Instruction) -> None:
        if one.opcode not in STRUCTURAL:
            self._say("other", one, text=one.opcode)


def _said_once(steps: Iterable[PlanStep]) -> Iterator[PlanStep]:
    """The program of a window holds some work again, for the last of its rows."""
    seen = set()
    for step in steps:
        what = replace(step, address=0)
        if what not in seen or step.kind == "open":
            seen.add(what)
            yield step


STRUCTURAL = frozenset({
    "Init", "BeginSubrtn", "Return", "Gosub", "InitCoroutine", "EndCoroutine", "Jump", "Next",
    "Prev", "SorterNext", "VNext", "OpenEphemeral", "OpenAutoindex", "OpenDup", "OpenPseudo",
    "SorterOpen", "DeferredSeek", "VInitIn",
})  # fmt: skip
"""Instructions that the steps are read around."""
