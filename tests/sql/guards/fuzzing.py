"""Random SQL for the tree check of other engines than SQLite: harmless queries and attacks, put
into each other, with tokens dropped, doubled, exchanged and replaced."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from sqlwright.sql.guards.rules import words

_PIECE = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|\w+(?:\.\d+)?|::|\s+|.",
    re.DOTALL,
)
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_HOT = (
    "secrets", "password", "evil", "system", "columns", "orders", "customers", "g", "o", "evil(1)",
    "system(1)", "g.evil", "o.evil", "orders.evil", "secrets.password",
    "(SELECT max(password) FROM secrets)", "evil(o)", "o.*", "orders", "s.nextval",
    "'secrets'", "AS secrets", "AS evil",
    "AS g", "AS g(evil)", "FROM secrets", ", secrets", "JOIN secrets ON true", "IN (secrets)",
    "IN secrets", "NATURAL JOIN secrets", "current_user", "'x'::regclass", "::evil", "array(1)",
    "cube(1)", "by(1)", "offset", "lateral", "values", "(evil)", ".evil", "evil.", "LIMIT evil(1)",
)  # fmt: skip
_WORDS = sorted(words(
    "select from where ( ) , . * as with in not and or union all by name join on using values case "
    "when then end cast exists between like escape collate is null distinct order group having "
    "limit offset over filter window partition rows left cross natural recursive materialized :: "
    ": { } [ ] = < || -> ->> + - 1 0x1F 1e5 1_000 x'00' E'a' \"evil\" /**/ intersect except for "
    "update share lateral unnest columns interval array row tablesample exclude replace qualify "
    "table lambda ordinality any some cube rollup sets within similar div match against"
))  # fmt: skip
_AROUND = (
    "WITH secrets AS ({0}) SELECT * FROM secrets",
    "WITH RECURSIVE secrets AS ({0} UNION ALL {1}) SELECT * FROM secrets",
    "WITH RECURSIVE secrets AS ({0} UNION ALL BY NAME {1}) SELECT * FROM secrets",
    "WITH secrets AS (SELECT 1), g AS ({0}) SELECT * FROM g, secrets",
    "SELECT * FROM (WITH secrets AS (SELECT 1 AS id) SELECT id FROM secrets) AS g, ({0}) AS o",
    "SELECT g.evil FROM ({0}) AS g",
    "SELECT g.evil AS evil FROM ({0}) AS g, (SELECT 1 AS evil) AS o",
    "SELECT * FROM orders AS o, LATERAL ({0}) AS g",
    "SELECT EXISTS ({0}), o.id FROM orders AS o",
    "SELECT o.id FROM orders AS o WHERE o.id IN ({0}) OR EXISTS ({1})",
    "({0}) UNION ({1})",
    "SELECT * FROM (({0}) UNION ALL ({1})) AS secrets",
    "SELECT (SELECT count(*) FROM ({0}) AS g), (SELECT count(*) FROM ({1}) AS g)",
)


class Fuzzer:
    """Texts from one seed: the same seed and seeds give the same texts."""

    def __init__(self, seed: int, harmless: Sequence[str], attacks: Sequence[str]) -> None:
        self._random = random.Random(seed)
        self._harmless, self._attacks = list(harmless), list(attacks)

    def texts(self, count: int) -> Iterator[str]:
        """Most are changed a little, so that many of them are queries still."""
        for _ in range(count):
            text = self._seed()
            if self._random.random() < 0.35:
                text = self._random.choice(_AROUND).format(text, self._seed())
            for _ in range(self._random.choice((1, 1, 1, 2, 2, 3))):
                text = self._changed(text)
            yield text

    def _seed(self) -> str:
        chosen = self._random.choice
        found = chosen(self._harmless) if self._random.random() < 0.8 else chosen(self._attacks)
        return found.rstrip().rstrip(";")

    def _changed(self, text: str) -> str:
        pieces = _PIECE.findall(text)
        at = self._random.randrange(len(pieces)) if pieces else 0
        names = [n for n, piece in enumerate(pieces) if _PLAIN.fullmatch(piece)]
        new = self._random.choice(_HOT if self._random.random() < 0.7 else _WORDS)
        kind = self._random.randrange(7)
        if kind == 0 and names:
            pieces[self._random.choice(names)] = new
        elif kind == 1 and names:
            one, other = self._random.choice(names), self._random.choice(names)
            pieces[one] = pieces[other]
        elif kind == 2:
            pieces[at:at] = [" ", new, " "]
        elif kind == 3:
            end = at + self._random.randint(1, 3)
            pieces[at:end] = []
        elif kind == 4:
            end = at + self._random.randint(1, 6)
            pieces[at:at] = pieces[at:end]
        elif kind == 5:
            numbers = [n for n, piece in enumerate(pieces) if piece.isdigit() or piece[0] == "'"]
            if numbers:
                inner = self._random.choice((new, f"({self._seed()})"))
                pieces[self._random.choice(numbers)] = inner
        else:
            between = ("/**/", " ", "\n", "--x\n", "\t", "")
            pieces[at:at] = [self._random.choice(between)]
        return "".join(pieces)
