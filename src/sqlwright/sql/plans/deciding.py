"""Jumps of a program as conditions of its steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from sqlwright.sql.plans.branches import Branches, TooTangled, keeping, settled
from sqlwright.sql.plans.opening import named_cursors, part_names
from sqlwright.sql.plans.program import JUMPS, Program, Region, read_by
from sqlwright.sql.plans.registers import Computing, Registers
from sqlwright.sql.plans.steps import PlanStep, StepKind
from sqlwright.sql.plans.values import NULL, NULLS_EQUAL, Value
from sqlwright.types.plans import EnginePlan, Instruction


class Deciding(ABC):
    """The state while a program is gone through, and the meaning of its jumps."""

    def __init__(self, plan: EnginePlan) -> None:
        self.program = Program(plan.instructions)
        self.parts = part_names(self.program, plan)
        self.merging = [n.detail[7:-1] for n in plan.outline if n.detail.startswith("MERGE (")]
        self.cursors = named_cursors(self.program, plan, self.parts)
        self.registers = Registers()
        self.computing = Computing(self.cursors, self.program.arguments)
        self.branches = Branches(self.program, self.computing, self.cursors, self.finish)
        self.steps: list[PlanStep] = []
        self.only: list[tuple[int, Value]] = []
        self.distinct: list[tuple[int, tuple[Value, ...]]] = []
        self.merged: list[PlanStep] = []
        self.most: Value | None = None

    @abstractmethod
    def walk(self, first: int, end: int) -> None:
        """Say the instructions from one address to before another."""

    def _say(self, kind: StepKind, one: Instruction, **facts: Any) -> None:
        self.steps.append(PlanStep(kind, one.address, self._part(one.address), **facts))

    def _part(self, address: int) -> str:
        region = self.program.around(address)
        for first, last in self.program.built_once:
            if first <= address < last and (region is None or region.first <= first):
                return "a temporary index"
        return self.parts.get(region.first, "") if region else ""

    def finish(self, region: Region, registers: Registers) -> None:
        """Put a subquery's result where it is read."""
        name = self.parts[region.first]
        for one in self.program.code[region.first : region.last]:
            if one.opcode in {"Once", "Noop"}:
                continue
            if one.opcode == "Null":
                for register in range(one.p2, max(one.p2, one.p3) + 1):
                    registers.values[register] = Value(f"the value of {name}")
            elif one.opcode == "Integer" and one.p1 == 0:
                text = f"{name} finds a row"
                registers.values[one.p2] = Value(
                    text, verdict=(text, f"{name} finds no row"), never_null=True
                )
            return

    def jump(self, one: Instruction) -> int:
        """Say a jump's condition; the address to go on with."""
        code, place = self.program.code, one.address
        if self._is_distinct(one) or self._guards_key(one) or self._is_flag(one):
            return place + 1
        if self._repeats(one):
            return place + 1
        if self.program.fate(place, one.p2) != "inner":
            condition = self.branches.condition(one, self.registers)
            self._conditional(one, condition.passed, self.program.fate(place, one.p2))
            return place + 1
        if self._of_aggregate(one):
            return place + 1
        try:
            meets = self.branches.meeting(place)
            tree = self.branches.follow(place, meets, self.registers)
            after = settled(tree)
        except TooTangled:
            condition = self.branches.condition(one, self.registers)
            self._say("jump", one, values=(condition.passed,))
            return place + 1
        self._subqueries_between(place, meets)
        kept = keeping(tree)
        self.registers = after
        if isinstance(kept, Value):
            fates = {self.program.fate(o.address, o.p2) for o in code[place:meets]
                     if o.opcode in JUMPS or o.opcode == "Goto"} - {"inner"}  # fmt: skip
            fate = "unmatched" if fates == {"unmatched"} else "skip"
            self._conditional(one, kept, fate)
        return meets

    def _subqueries_between(self, first: int, end: int) -> None:
        """Say the subqueries that a condition asks."""
        place = first
        while place < end:
            region = next((r for r in self.program.regions if r.first == place), None)
            if region is not None and region.kind == "subquery":
                self.walk(region.first, region.last + 1)
                place = region.last
            place += 1

    def _conditional(self, one: Instruction, kept: Value, fate: str) -> None:
        kinds: dict[str, StepKind] = {"skip": "keep", "stop": "while", "unmatched": "match"}
        self._say(kinds[fate], one, values=(kept,))

    def _is_distinct(self, one: Instruction) -> bool:
        """True for a jump over what was there already: rows, or values of an aggregate."""
        if one.opcode not in {"Found", "NotFound"}:
            return False
        for after in self.program.code[one.address + 1 : one.address + 4]:
            if after.opcode == "IdxInsert" and after.p1 == one.p1:
                count = int(one.p4) if one.p4.isdigit() else 1
                held = self.registers.some(one.p3, count)
                if self._steps_between(one.address, one.p2):
                    self.distinct.append((one.p2, held))
                else:
                    self._say("distinct", one, values=held)
                return True
        return False

    def _is_flag(self, one: Instruction) -> bool:
        """True for a jump that asks what the program noted for itself: that a group has begun, or
        the number of a row put aside."""
        if one.opcode in {"If", "IfNot"}:
            writers = (self.program.code[a].opcode for a in self.program.written[one.p1])
            value = self.registers[one.p1]
            return (value is NULL or value.is_constant) and {*writers} <= {"Integer", "Null"}
        return any(self.registers[r].internal for r in read_by(one))

    def _repeats(self, one: Instruction) -> bool:
        """True for a jump where a value is that of the row before: it was given already."""
        if one.opcode not in {"Eq", "Ne"} or not one.p5 & NULLS_EQUAL:
            return False
        sides = {r: self.registers[r] for r in (one.p1, one.p3)}
        before = [r for r, v in sides.items() if v is NULL
                  and any(a > one.address for a in self.program.written[r])]  # fmt: skip
        values = tuple(v for r, v in sides.items() if r not in before)
        if len(values) == 1:
            self._say("distinct", one, values=values)
        return len(values) == 1

    def _guards_key(self, one: Instruction) -> bool:
        """True for a jump that only keeps NULL from being looked up."""
        if one.opcode != "IsNull":
            return False
        for after in self.program.code[one.address + 1 : one.address + 8]:
            if after.opcode in {"SeekRowid", "NotExists"} and after.p3 == one.p1:
                return True
        return any(
            after.opcode in {"SeekGE", "SeekLE", "SeekGT", "SeekLT", "NotFound"}
            and after.p3 <= one.p1 < after.p3 + (int(after.p4) if after.p4.isdigit() else 1)
            for after in self.program.code[one.address + 1 : one.address + 8]
        )

    def _steps_between(self, first: int, end: int) -> bool:
        return any(o.opcode == "AggStep" for o in self.program.code[first:end])

    def _of_aggregate(self, one: Instruction) -> bool:
        """True for a jump over steps of aggregates: their FILTER."""
        between = self.program.code[one.address + 1 : one.p2]
        if one.p2 <= one.address or not any(o.opcode == "AggStep" for o in between):
            return False
        spare = self.registers.copied()
        plain = all(
            o.opcode in {"AggStep", "Found", "IdxInsert"} or self.computing.carries_out(o, spare)
            for o in between
        )
        if plain:
            self.only.append((one.p2, self.branches.condition(one, self.registers).passed))
        return plain
