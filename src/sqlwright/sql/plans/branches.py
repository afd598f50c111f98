"""Forward jumps made into conditions: OR and AND, CASE, values that depend on something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlwright.sql.plans.program import COMPARISONS, JUMPS, Program, Region
from sqlwright.sql.plans.registers import Computing, Cursor, Registers
from sqlwright.sql.plans.values import (
    UNKNOWN,
    Condition,
    Formula,
    Joined,
    Value,
    both,
    comparison,
    either,
    made_of,
    nullness,
    said,
    truth,
    untruth,
)
from sqlwright.types.plans import Instruction

MOST_BRANCHES = 300
"""Ends of one decision at most that are followed."""


@dataclass(frozen=True)
class Leaf:
    """An end of a decision: whether the row is kept, and the registers there."""

    kept: bool
    registers: Registers


@dataclass(frozen=True)
class Fork:
    """A decision."""

    condition: Condition
    taken: Leaf | Fork
    passed: Leaf | Fork


class TooTangled(Exception):
    """The jumps don't make one decision."""


class Branches:
    """Follows the jumps between an instruction and the place where all of them meet again."""

    def __init__(
        self, program: Program, computing: Computing, cursors: Mapping[int, Cursor],
        finished: Callable[[Region, Registers], None],
    ) -> None:  # fmt: skip
        """`finished` puts a subquery's result into the registers."""
        self._program = program
        self._computing = computing
        self._cursors = cursors
        self._finished = finished

    def condition(self, one: Instruction, registers: Registers) -> Condition:
        """The condition of a jump."""
        code = one.opcode
        if code in COMPARISONS:
            left, right = registers[one.p3], registers[one.p1]
            return comparison(left, COMPARISONS[code], right, one.p5, one.p4)
        if code in {"If", "IfNot"}:
            made = truth if code == "If" else untruth
            return made(registers[one.p1], if_null=bool(one.p3))
        if code in {"IsNull", "NotNull"}:
            known = nullness(registers[one.p1])
            return known if code == "IsNull" else known.turned()
        count = int(one.p4) if one.p4.isdigit() else 1
        held = registers.some(one.p3, max(count, 1))
        text = ", ".join(value.bracketed for value in held)
        cursor = self._cursors.get(one.p1, Cursor())
        label, parts = cursor.label or "what was entered before", (*held, *cursor.members)
        among = Condition(made_of(f"{text} is one of {label}", parts),
                          made_of(f"{text} is none of {label}", parts))  # fmt: skip
        return among if code == "Found" else among.turned()

    def meeting(self, address: int) -> int:
        """The address where the jumps that begin at another meet. Raises TooTangled."""
        meets = self._program.code[address].p2
        place = address
        while place < meets:
            one = self._program.code[place]
            region = self._begun(place)
            if region is not None:
                place = region.last + 1
                continue
            further = one.opcode in JUMPS or one.opcode == "Goto"
            if further and self._program.fate(place, one.p2) == "inner":
                if one.p2 <= place:
                    raise TooTangled
                meets = max(meets, one.p2)
            place += 1
        return meets

    def follow(self, address: int, meets: int, registers: Registers) -> Leaf | Fork:
        """The decision between two addresses. Raises TooTangled."""
        return self._follow(address, meets, registers.copied(), [0])

    def _follow(self, place: int, meets: int, registers: Registers, ends: list[int]) -> Leaf | Fork:
        while place != meets:
            one = self._program.code[place]
            region = self._begun(place)
            if region is not None:
                self._finished(region, registers)
                place = region.last + 1
            elif one.opcode == "Goto":
                if self._program.fate(place, one.p2) != "inner":
                    return self._leaf(False, registers, ends)
                place = one.p2
            elif one.opcode in JUMPS:
                condition = self.condition(one, registers)
                taken = self._jumped(one, meets, registers.copied(), ends)
                passed = self._follow(place + 1, meets, registers, ends)
                return Fork(condition, taken, passed)
            elif self._computing.carries_out(one, registers) or self._idle(one):
                place += 1
            else:
                raise TooTangled
            if place > meets:
                raise TooTangled
        return self._leaf(True, registers, ends)

    def _jumped(
        self, one: Instruction, meets: int, registers: Registers, ends: list[int]
    ) -> Leaf | Fork:
        if self._program.fate(one.address, one.p2) == "inner":
            return self._follow(one.p2, meets, registers, ends)
        return self._leaf(False, registers, ends)

    def _idle(self, one: Instruction) -> bool:
        """A set's cursor is placed on its first value, to see whether it is NULL."""
        return one.opcode == "Rewind" and self._cursors.get(one.p1, Cursor()).is_set

    def _begun(self, place: int) -> Region | None:
        if self._program.code[place].opcode != "BeginSubrtn":
            return None
        return next((r for r in self._program.regions if r.first == place + 1), None)

    @staticmethod
    def _leaf(kept: bool, registers: Registers, ends: list[int]) -> Leaf:
        ends[0] += 1
        if ends[0] > MOST_BRANCHES:
            raise TooTangled
        return Leaf(kept, registers)


def keeping(tree: Leaf | Fork) -> Value | bool:
    """The condition under which the row is kept."""
    return said(_kept(tree))


def _kept(tree: Leaf | Fork) -> Formula:
    if isinstance(tree, Leaf):
        return tree.kept
    yes, no = _kept(tree.taken), _kept(tree.passed)
    taken, passed = tree.condition.taken, tree.condition.passed
    if yes is True:
        return either(taken, no)
    if no is True:
        return either(passed, yes)
    if yes is False:
        return both(passed, no)
    if no is False:
        return both(taken, yes)
    # Whatever comes of the condition, the last alternative of one branch may be all of the other.
    if isinstance(no, Joined) and no.word == "or" and no.parts[-1] == yes:
        return either(both(passed, no.without_last()), yes)
    if isinstance(yes, Joined) and yes.word == "or" and yes.parts[-1] == no:
        return either(both(taken, yes.without_last()), no)
    return either(both(taken, yes), both(passed, no))


def settled(tree: Leaf | Fork) -> Registers:
    """The registers where all branches meet: what differs is told with what it depends on."""
    leaves = [leaf for leaf in _leaves(tree) if leaf.kept]
    if not leaves:
        raise TooTangled
    made = leaves[0].registers.copied()
    for register in set().union(*(leaf.registers.values for leaf in leaves)):
        if any(leaf.registers[register] != leaves[0].registers[register] for leaf in leaves):
            made.values[register] = _choice(tree, register) or UNKNOWN
    return made


def _choice(tree: Leaf | Fork, register: int) -> Value | None:
    """A register's value by what it depends on; None where the row isn't kept."""
    if isinstance(tree, Leaf):
        return tree.registers[register] if tree.kept else None
    yes, no = _choice(tree.taken, register), _choice(tree.passed, register)
    if yes is None or no is None or yes == no:
        return no if yes is None else yes
    condition = tree.condition.taken
    if " if " not in no.text:  # what is simple comes first
        yes, no, condition = no, yes, tree.condition.passed
    first = yes.bracketed if " if " in yes.text else yes.text
    text = f"{first} if {condition.text}, otherwise {no.text}"
    return made_of(text, (yes, condition, no), compound=True)


def _leaves(tree: Leaf | Fork) -> list[Leaf]:
    return [tree] if isinstance(tree, Leaf) else [*_leaves(tree.taken), *_leaves(tree.passed)]
