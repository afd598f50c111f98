"""Following instructions that only compute: what each register and each row at hand holds."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlwright.sql.plans.values import (
    NULL,
    UNKNOWN,
    Value,
    call,
    constant,
    made_of,
    nullness,
    operation,
    text_constant,
)
from sqlwright.types.plans import Instruction, StoredOrder

_CASTS = {65: "BLOB", 66: "TEXT", 67: "NUMERIC", 68: "INTEGER", 69: "REAL"}
"""Affinities of Cast, by the letter's code."""
_ARITHMETIC = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "Remainder": "%", "Concat": "||",
    "BitAnd": "&", "BitOr": "|", "ShiftLeft": "<<", "ShiftRight": ">>", "And": "and", "Or": "or",
}  # fmt: skip
WINDOW_VALUES = frozenset({"lag", "lead", "nth_value", "first_value", "last_value"})
"""Window functions whose value is read from another row."""


TEMPORARY = "a temporary index"


@dataclass
class Cursor:
    """Rows that a cursor goes over."""

    name: str = ""
    """The table as the steps call it; empty where nothing is stored."""
    order: StoredOrder | None = None
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    """The rows entered into it, one of each instruction that does."""
    keys: str = ""
    """P4 of the instruction that opens it."""
    is_set: bool = False
    """It holds the values of an IN."""
    members: tuple[Value, ...] = ()
    """The constants of a set that has nothing else."""
    label: str = ""
    """Its name where it isn't stored."""
    most: Value | None = None
    """The number of rows that it keeps at most, the first in its order."""

    @property
    def by(self) -> tuple[str, ...]:
        """The columns of an index, the row's number left out; empty for a table."""
        if self.order is None or not self.order.index:
            return ()
        columns = self.order.columns
        ends = columns[-1:] == (self.order.rowid,)
        return columns[:-1] if ends and len(columns) > 1 else columns

    @property
    def keyed(self) -> list[str]:
        """The order of each column of its key: its collation, behind a minus where the greatest
        comes first."""
        return self.keys[2:-1].split(",")[1:] if self.keys.startswith("k(") else []

    @property
    def stored(self) -> bool:
        return self.order is not None

    def column(self, place: int) -> Value:
        """The value of a column of the row at hand."""
        if self.is_set:
            return replace(made_of(f"one of {self.label}", self.members), of_set=self.label)
        if self.order is not None:
            names = self.order.columns
            return self.named(names[place] if place < len(names) else "")
        return self.entered(place)

    def entered(self, place: int) -> Value:
        """A column of what was entered."""
        found = {row[place].text: row[place] for row in self.rows if place < len(row)}
        if not found:
            return UNKNOWN
        if len(found) == 1:
            return next(iter(found.values()))
        return made_of(" or ".join(found), found.values(), compound=True)

    def named(self, column: str) -> Value:
        """A column by its name; an expression of an index has none."""
        if not column:
            return Value(f"an expression of {self.name}")
        text = f"{self.name}.{column}"
        return Value(text, columns=frozenset({text}))

    def rowid(self) -> Value:
        """The row's number."""
        if self.order is None and self.label != TEMPORARY:
            return ARRIVAL
        if self.order is None:  # a temporary index ends with the number of the row it leads to
            return self.entered(len(self.rows[0]) - 1) if self.rows else UNKNOWN
        return replace(self.named(self.order.rowid or "rowid"), never_null=True)


ARRIVAL = Value("the order of arrival", never_null=True)
"""The number of a row that was put aside."""


@dataclass
class Registers:
    """The values known at one point of the program."""

    values: dict[int, Value] = field(default_factory=dict)
    records: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    window: Mapping[int, str] = field(default_factory=dict)
    """Registers that a window function fills from another row, and the function."""

    def __getitem__(self, register: int) -> Value:
        return self.values.get(register, NULL)

    def some(self, first: int, count: int) -> tuple[Value, ...]:
        """The values of registers in a row."""
        return tuple(self[r] for r in range(first, first + count))

    def set(self, register: int, value: Value) -> None:
        """A new value."""
        if register in self.window and value is not NULL:
            value = call(self.window[register], [value])
        self.values[register] = value

    def copied(self) -> Registers:
        """The same, to go on from separately."""
        return Registers(dict(self.values), dict(self.records), dict(self.window))


class Computing:
    """Carries out instructions that decide nothing and enter nothing."""

    def __init__(
        self, cursors: Mapping[int, Cursor], arguments: Callable[[Instruction], int]
    ) -> None:
        """`arguments` says how many arguments a call of a function takes."""
        self._cursors = cursors
        self._arguments = arguments
        self._known: dict[str, Callable[[Instruction, Registers], None]] = {
            "Null": self._null, "SoftNull": self._null_one, "Copy": self._copy,
            "SCopy": self._scopy,
            "IntCopy": self._scopy, "Move": self._move, "Column": self._column,
            "Rowid": self._rowid, "IdxRowid": self._rowid, "Cast": self._cast, "Not": self._not,
            "BitNot": self._bit_not, "IsTrue": self._is_true, "Function": self._function,
            "PureFunc": self._function, "MakeRecord": self._record,
            "Sequence": self._sequence, "OffsetLimit": self._offset_limit,
            "ZeroOrNull": self._zero_or_null, "VColumn": self._column, "NewRowid": self._new_row,
        }  # fmt: skip

    def carries_out(self, one: Instruction, registers: Registers) -> bool:
        """Carry out an instruction; False when it does more than compute."""
        if (value := loaded_by(one)) is not None:
            registers.set(one.p2, value)
        elif one.opcode in _ARITHMETIC:
            left, right = registers[one.p2], registers[one.p1]
            registers.set(one.p3, operation(left, _ARITHMETIC[one.opcode], right))
        elif one.opcode in self._known:
            self._known[one.opcode](one, registers)
        else:
            return one.opcode in SILENT
        return True

    def _null(self, one: Instruction, registers: Registers) -> None:
        for register in range(one.p2, max(one.p2, one.p3) + 1):
            registers.set(register, NULL)

    def _null_one(self, one: Instruction, registers: Registers) -> None:
        registers.set(one.p1, NULL)

    def _copy(self, one: Instruction, registers: Registers) -> None:
        for place in range(one.p3 + 1):
            registers.set(one.p2 + place, registers[one.p1 + place])

    def _scopy(self, one: Instruction, registers: Registers) -> None:
        registers.set(one.p2, registers[one.p1])

    def _move(self, one: Instruction, registers: Registers) -> None:
        for place in range(one.p3):
            registers.set(one.p2 + place, registers[one.p1 + place])

    def _column(self, one: Instruction, registers: Registers) -> None:
        registers.set(one.p3, self._cursors.get(one.p1, Cursor()).column(one.p2))

    def _rowid(self, one: Instruction, registers: Registers) -> None:
        registers.set(one.p2, self._cursors.get(one.p1, Cursor()).rowid())

    def _cast(self, one: Instruction, registers: Registers) -> None:
        value = registers[one.p1]
        text = f"CAST({value.text} AS {_CASTS.get(one.p2, 'NUMERIC')})"
        registers.set(one.p1, made_of(text, (value,)))

    def _not(self, one: Instruction, registers: Registers) -> None:
        value = registers[one.p1]
        made = made_of(f"not {value.bracketed}", (value,), compound=True)
        turned = (value.verdict[1], value.verdict[0])
        registers.set(one.p2, replace(made, verdict=turned, never_null=value.never_null))

    def _bit_not(self, one: Instruction, registers: Registers) -> None:
        value = registers[one.p1]
        registers.set(one.p2, made_of(f"~{value.bracketed}", (value,)))

    def _is_true(self, one: Instruction, registers: Registers) -> None:
        value = registers[one.p1]
        wanted = "false" if one.p4 not in {"", "0", "None"} else "true"
        registers.set(one.p2, made_of(f"{value.bracketed} is {wanted}", (value,), compound=True))

    def _function(self, one: Instruction, registers: Registers) -> None:
        name = one.p4.partition("(")[0]
        given = registers.some(one.p2, self._arguments(one))
        made = call(name, given)
        if name in {"like", "glob"} and len(given) >= 2:
            pattern, text = given[0], given[1]
            texts = (f"{text.bracketed} matches {pattern.bracketed}",
                     f"{text.bracketed} does not match {pattern.bracketed}")  # fmt: skip
            made = replace(made, verdict=texts)
        registers.set(one.p3, made)

    def _record(self, one: Instruction, registers: Registers) -> None:
        registers.records[one.p3] = registers.some(one.p1, one.p2)

    def _sequence(self, one: Instruction, registers: Registers) -> None:
        registers.set(one.p2, ARRIVAL)

    def _new_row(self, one: Instruction, registers: Registers) -> None:
        registers.set(one.p2, Value("the next row number", never_null=True, internal=True))

    def _offset_limit(self, one: Instruction, registers: Registers) -> None:
        registers.set(one.p2, registers[one.p1])

    def _zero_or_null(self, one: Instruction, registers: Registers) -> None:
        given = [registers[r] for r in (one.p1, one.p3) if not registers[r].never_null]
        either_null = " or ".join(nullness(value).taken.text for value in given)
        text = f"NULL if {either_null}, otherwise 0" if given else "0"
        registers.set(one.p2, made_of(text, given, compound=True))


SILENT = frozenset({
    "Affinity", "RealAffinity", "CollSeq", "MustBeInt", "Noop", "ReleaseReg", "Once", "Blob",
    "FilterAdd", "Filter", "IfEmpty", "SeekScan", "SeekHit", "IfNoHope", "Explain", "Transaction",
    "FinishSeek", "IdxLE", "IdxLT", "IdxGE", "IdxGT", "ResetSorter", "AddImm", "ColumnsUsed",
    "TableLock", "CursorHint", "Permutation", "ClrSubtype", "GetSubtype", "SetSubtype", "Expire",
    "IfNullRow", "CursorLock", "CursorUnlock", "NullRow", "Close", "SqlExec", "Trace", "Halt",
    "IfSizeBetween", "ReopenIdx", "RowData", "Delete",
})  # fmt: skip
"""Instructions that change no value a query's author could name: conversions, checks that only save
work, and bookkeeping."""


def _in_two_halves(one: Instruction) -> str:
    """A number of 64 bits: P1 holds the lower half, P3 the upper."""
    held = struct.pack(">iI", one.p3, one.p1 & 0xFFFFFFFF)
    return str(struct.unpack(">q" if one.opcode == "Int64" else ">d", held)[0])


def loaded_by(one: Instruction) -> Value | None:
    """The constant that an instruction loads into P2."""
    if one.opcode == "Integer":
        return constant(str(one.p1))
    if one.opcode in {"Int64", "Real"}:
        return constant(one.p4 or _in_two_halves(one))
    if one.opcode in {"String8", "String"}:
        return text_constant(one.p4)
    return None
