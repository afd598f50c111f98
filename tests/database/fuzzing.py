"""Random SQL for the guard's second layer, over the tables of `oracle.SCRIPT`.

Texts are made from a grammar, from seeds by changing their tokens, or both; names, spellings and
words are chosen to be read differently by different parsers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlwright.sql.pieces import pieces

_words = str.split
_STORED = {
    "orders": ("id", "state", "order", "secret_id"),
    "secrets": ("id", "token"),
    "order items": ("id", "a b", "c d", "item"),
    "window": ("id", "filter", "values"),
    "count": ("id", "date"),
    "\u212aelvin": ("id", "temperature"),
    "kelvin": ("id", "cold"),
    "open_orders": ("id", "state", "order"),
    "leaking": ("id", "token"),
    "deep": ("one", "two"),
    "\u00d6": ("token",),
    "\u00f6": ("state",),
    "notes": ("body", "rank", "notes"),
    "notes_archive": ("body",),
    "notes_content": ("id", "c0"),
    "places": ("id", "low"),
    "people": ("id", "name", "age"),
    "pins": ("pin",),
    "sqlite_master": ("name", "sql"),
    "sqlite_schema": ("name", "type"),
    "json_each": ("key", "value"),
    "dbstat": ("name", "path"),
    "pragma_database_list": ("name", "file"),
    "pragma_table_list": ("name",),
    "pragma_user_version": ("user_version",),
    "bytecode": ("addr",),
    "nowhere": ("id",),
}
_CALLS = {
    "abs": 1, "coalesce": 2, "date": 1, "time": 1, "datetime": 1, "char": 2, "json": 1, "iif": 3,
    "if": 3, "json_extract": 2, "length": 1, "lower": 1, "max": 2, "min": 2, "printf": 2,
    "replace": 3, "round": 1, "strftime": 2, "substr": 3, "trim": 1, "upper": 1, "like": 2,
    "glob": 2, "typeof": 1, "unixepoch": 1, "json_object": 2, "jsonb": 1, "concat": 2, "ifnull": 2,
    '"lower"': 1, "[hex]": 1, "`unicode`": 1, "regexp": 2, "match": 2,
}  # fmt: skip
_GROUPS = {
    "count": 1, "sum": 1, "total": 1, "avg": 1, "group_concat": 2, "max": 1, "min": 1,
    "json_group_array": 1, "string_agg": 2,
}  # fmt: skip
_WINDOWS = {"row_number": 0, "rank": 0, "lag": 1, "first_value": 1, "ntile": 1}
_BAD_CALLS = _words(
    "load_extension writefile readfile randomblob zeroblob fts3_tokenizer sqlite_version "
    "sqlite_log changes last_insert_rowid total_changes unknown notes_archive pragma_table_info "
    '"load_extension" [randomblob] edit eval dbstat struct array unnest materialized '
    "sqlite_compileoption_get sqlite_source_id"
)
_ALIASES = _words(
    "with as materialized filter window semi anti asof lateral unnest pivot unpivot final "
    "qualify tablesample fetch array struct map interval date timestamp cast recursive over rows "
    "range groups offset end key match like glob replace left cross full natural inner union "
    "values sample top limit first last view table index if rowid 'text' \"q\" [b] `c` "
    "\u00d6l cro\u00df \u0131n u\u017fing li\u212ae"
)
_TYPES = _words(
    "int text real blob integer decimal(10,2) varchar(5) double_precision datetime date json array "
    "struct struct(1) nchar(55) unsigned_big_int map interval load_extension(1) numeric(+1,-2)"
)
_WORDS = _words(
    "select from where ( ) , . * as with in not and or union all join on using values case when "
    "then else end cast exists between like escape collate is null distinct order by group having "
    "limit offset over filter window partition rows unbounded preceding left cross natural "
    "recursive materialized :: : { } [ ] ? @x $y # ; -- /* */ ' \" = < || -> ->> + - ~ 1 0x1F 1e5 "
    "x'00' 'secrets' 'main' \"secrets\" main temp secrets notes_archive load_extension intersect "
    "except insert update delete pragma attach explain returning into lateral unnest pivot interval"
)


class _Source(NamedTuple):
    alias: str
    columns: tuple[str, ...]


class Fuzzer:
    """Texts from one seed: the same seed and seeds give the same texts."""

    def __init__(self, seed: int, seeds: Sequence[str] = ()) -> None:
        self._random = random.Random(seed)
        self._seeds = list(seeds)
        self._scopes: list[list[_Source]] = []
        self._tables: dict[str, tuple[str, ...]] = dict(_STORED)

    def texts(self, count: int) -> Iterator[str]:
        """Half of them as the grammar makes them, half with changed tokens."""
        for number in range(count):
            chosen = self._random.random()
            if chosen < 0.2 and self._seeds:
                text = self._changed(self._random.choice(self._seeds))
            else:
                self._scopes, self._tables = [], dict(_STORED)
                text = self._query(self._random.choice((1, 1, 2, 2, 3)))
                text = self._changed(text) if chosen < 0.5 else text
            yield self._respelled(text) if number % 4 == 0 else text

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _chance(self, chance: float) -> bool:
        return self._random.random() < chance

    def _some(self, make: Callable[[], str], most: int = 3) -> str:
        return ", ".join(make() for _ in range(self._random.randint(1, most)))

    def _query(self, depth: int, names: tuple[str, ...] = ()) -> str:
        """A query; with names it has as many columns, called so."""
        tables = dict(self._tables)
        start = self._with(depth) if depth > 0 and self._chance(0.2) else ""
        text = start + self._select(depth, names)
        if names and self._chance(0.15):
            operator = self._one("UNION", "UNION ALL", "INTERSECT", "EXCEPT")
            text += f" {operator} {self._select(depth - 1, names)}"
        if self._chance(0.15):
            text += f" ORDER BY {self._one('1', '1 DESC', '1 COLLATE nocase ASC NULLS LAST')}"
        if self._chance(0.12):
            text += f" LIMIT {self._one('1', '(SELECT 1)', '1 OFFSET 2', '1, 2', 'abs(1)')}"
        self._tables = tables
        return text

    def _with(self, depth: int) -> str:
        made = []
        for _ in range(self._random.choice((1, 1, 2))):
            name, columns = self._alias(), tuple("xyz"[: self._random.randint(1, 3)])
            body = self._query(depth - 1, columns)
            listed = f"({', '.join(columns)})" if self._chance(0.5) else ""
            kind = self._one("", "", "", "MATERIALIZED ", "NOT MATERIALIZED ")
            made.append(f"{name}{listed} AS {kind}({body})")
            self._tables[name] = columns
        return f"WITH {self._one('', '', 'RECURSIVE ')}{', '.join(made)} "

    def _select(self, depth: int, names: tuple[str, ...]) -> str:
        if self._chance(0.03) and names:
            return f"VALUES ({', '.join(self._constant() for _ in names)})"
        self._scopes.append([])
        sources = f" FROM {self._sources(depth)}" if self._chance(0.9) else ""
        if names:
            items = ", ".join(f"{self._item(depth)} AS {name}" for name in names)
        else:
            items = self._some(lambda: self._item(depth) + self._as())
            items = self._one("*", "count(*)") if self._chance(0.1) and sources else items
        text = f"SELECT {self._one('', '', '', 'DISTINCT ', 'ALL ')}{items}{sources}"
        if self._chance(0.5):
            text += f" WHERE {self._value(depth)}"
        if self._chance(0.1):
            text += f" GROUP BY {self._value(0)}"
            text += f" HAVING {self._value(0)}" if self._chance(0.3) else ""
        self._scopes.pop()
        return text

    def _as(self) -> str:
        return f" {self._one('', 'AS ')}{self._alias()}" if self._chance(0.25) else ""

    def _item(self, depth: int) -> str:
        if self._chance(0.15):
            return self._call(_GROUPS, 0)
        if self._chance(0.07):
            over = self._one("()", "(PARTITION BY 1 ORDER BY 2)", "(ROWS UNBOUNDED PRECEDING)",
                             "(ORDER BY 1 GROUPS 1 PRECEDING EXCLUDE TIES)")  # fmt: skip
            return f"{self._call(_WINDOWS, 0)} OVER {over}"
        return self._value(depth)

    def _alias(self) -> str:
        return self._one(*_ALIASES) if self._chance(0.12) else self._one(*"abcdefghot")

    def _table(self) -> str:
        """A table's name, spelled in one of many ways."""
        common = ("orders", "secrets", "leaking", "notes", "people")
        name = self._one(*common) if self._chance(0.5) else self._one(*self._tables)
        return self._spelled(name)

    def _spelled(self, name: str) -> str:
        if name[0] in "'\"[`":
            return name
        plain = name.isidentifier() and name not in {"order", "values", "filter", "window"}
        if plain and self._chance(0.8):
            return name.upper() if self._chance(0.1) else name
        return self._one(f'"{name}"', f'"{name}"', f"`{name}`", f"[{name}]",
                         *([f"'{name}'"] if self._chance(0.1) else []))  # fmt: skip

    def _sources(self, depth: int) -> str:
        text = self._source(depth)
        for _ in range(self._random.choice((0, 0, 0, 0, 1, 1, 2))):
            join = self._one(",", "JOIN", "LEFT JOIN", "CROSS JOIN", "NATURAL JOIN", "FULL JOIN",
                             "INNER JOIN", "RIGHT OUTER JOIN")  # fmt: skip
            text += f" {join} {self._source(depth)}"
            if not join.startswith(("NATURAL", ",")) and self._chance(0.6):
                text += f" ON {self._value(depth - 1)}"
        return text

    def _source(self, depth: int) -> str:
        chosen = self._random.random()
        alias = self._alias() if self._chance(0.6) else ""
        said = f" {self._one('', 'AS ')}{alias}" if alias else ""
        if chosen < 0.72 or depth <= 0:
            name = self._table()
            self._add(alias or name, self._tables.get(name.strip('"`[]').lower(), ()))
            place = self._one("main.", "'main'.", '"MAIN".', "temp.") if self._chance(0.06) else ""
            more = self._one(" NOT INDEXED", " INDEXED BY i") if self._chance(0.02) else ""
            return place + name + said + more
        if chosen < 0.84:
            text = f"({self._query(depth - 1, ('x', 'y'))}){said}"
            self._add(alias, ("x", "y"))
            return text
        if chosen < 0.9:
            return f"({self._sources(depth - 1)})"
        self._add(alias or "json_each", ("key", "value"))
        call = self._one("json_each", "json_each", "json_tree", '"json_each"', "main.json_each")
        if self._chance(0.3):
            call = self._one(self._table(), self._one(*_BAD_CALLS), self._one(*_CALLS))
        return f"{call}({self._constant() if self._chance(0.9) else ''}){said}"

    def _add(self, alias: str, columns: tuple[str, ...]) -> None:
        if self._scopes:
            self._scopes[-1].append(_Source(alias, columns))

    def _constant(self) -> str:
        return self._one("1", "-2.5", "'text'", "NULL", "x'00'", "'$.a'", '"dq"', "TRUE",
                         "current_date", "0x1F", "1e3", "'[1]'")  # fmt: skip

    def _column(self) -> str:
        scopes = [scope for scope in self._scopes if scope]
        if not scopes or self._chance(0.05):
            return self._one("id", "token", "secrets.token", "main.orders.id", "rowid", "nothing")
        scope = scopes[-1] if self._chance(0.85) else self._random.choice(scopes)
        source = self._random.choice(scope)
        column = self._spelled(self._one(*source.columns)) if source.columns else "rowid"
        if source.alias and (len(scope) > 1 or self._chance(0.2)):
            return f"{source.alias}.{column}"
        return column

    def _value(self, depth: int) -> str:
        if depth <= 0 or self._chance(0.25):
            return self._column() if self._chance(0.65) else self._constant()
        inner = depth - 1
        makers: tuple[Callable[[], str], ...] = (
            lambda: f"{self._value(inner)} {self._operator()} {self._value(inner)}",
            lambda: f"{self._value(inner)} {self._operator()} {self._value(inner)}",
            lambda: f"{self._one('NOT', '-', '+', '~', 'NOT NOT')} {self._value(inner)}",
            lambda: f"({self._value(inner)})",
            lambda: self._call(_CALLS, inner),
            lambda: self._call(_CALLS, inner),
            lambda: f"CAST({self._value(inner)} AS {self._one(*_TYPES).replace('_', ' ')})",
            lambda: (
                f"CASE {self._one('', '', self._value(0))} WHEN {self._value(inner)} THEN "
                f"{self._value(inner)} {self._one('', 'ELSE 1')} END"
            ),
            lambda: (
                f"{self._value(inner)} {self._one('', 'NOT ')}BETWEEN {self._value(0)} AND "
                f"{self._value(inner)}"
            ),
            lambda: f"{self._value(inner)} {self._one('', 'NOT ')}IN {self._members(inner)}",
            lambda: f"{self._value(inner)} {self._one('', 'NOT ')}IN {self._members(inner)}",
            lambda: f"{self._one('', 'NOT ')}EXISTS ({self._query(inner)})",
            lambda: f"({self._query(inner, ('v',))})",
            lambda: f"{self._value(inner)} {self._one('IS NULL', 'NOTNULL', 'IS NOT NULL')}",
            lambda: f"{self._value(inner)} COLLATE {self._one('NOCASE', 'binary', 'rtrim')}",
            lambda: f"({self._value(0)}, {self._value(0)}) = (1, {self._value(0)})",
        )
        return self._random.choice(makers)()

    def _operator(self) -> str:
        return self._one("=", "<>", "<", "+", "-", "*", "/", "%", "||", "AND", "OR", "IS", "IS NOT",
                         "LIKE", "GLOB", "->", "->>", "&", "<<", "==", "IS DISTINCT FROM",
                         "NOT LIKE", "MATCH")  # fmt: skip

    def _members(self, depth: int) -> str:
        if self._chance(0.7):
            listed = self._some(lambda: self._value(depth))
            return self._one(f"({listed})", f"({self._query(depth, ('v',))})")
        called = self._one("json_each", self._table(), *_BAD_CALLS[:3])
        name = self._one(*self._tables).strip("'\"`[]")
        spelled = self._spelled(name)
        return self._one(spelled, f"main.{spelled}", "()", f"'{name}'",
                         f"{called}({self._constant()})", f"'main'.{spelled}")  # fmt: skip

    def _call(self, names: Mapping[str, int], depth: int) -> str:
        name = self._one(*names)
        given = [self._value(depth) for _ in range(names[name])]
        if self._chance(0.04):
            name, given = self._one(*_BAD_CALLS), given[: self._random.choice((0, 1, 1))]
        many = self._one("", "", "", "DISTINCT ") if names is _GROUPS and len(given) == 1 else ""
        text = f"{name}({many}{', '.join(given)})"
        if names is _GROUPS and self._chance(0.1):
            text += f" FILTER (WHERE {self._value(0)})"
        return text

    def _changed(self, text: str) -> str:
        """The text with a few of its tokens dropped, doubled, exchanged, replaced or wrapped."""
        tokens = [piece.text for piece in pieces(text) if piece.kind != "space"]
        for _ in range(self._random.randint(1, 4)):
            at = self._random.randrange(len(tokens) + 1)
            end = min(len(tokens), at + self._random.randint(1, 4))
            chosen = self._random.randrange(7)
            new = self._one(self._one(*_WORDS), self._table(), self._alias(), self._value(1))
            if chosen == 0:
                del tokens[at:end]
            elif chosen == 1:
                tokens[at:at] = tokens[at:end]
            elif chosen == 2 and tokens:
                other = self._random.randrange(len(tokens))
                tokens[at:end], tokens[other : other + 1] = (
                    tokens[other : other + 1],
                    tokens[at:end],
                )
            elif chosen == 3:
                tokens[at : at + 1] = [new]
            elif chosen == 4:
                tokens[at:end] = ["(", *tokens[at:end], ")"]
            elif chosen == 5:
                tokens[at:at] = [self._one("AS", "WITH", ",", "JOIN", "IN", "FROM", "."), new]
            else:
                tokens[at:at] = [new]
        return " ".join(tokens)

    def _respelled(self, text: str) -> str:
        """The same tokens in another case, with other space or with letters that look alike."""
        spaces = (" ", "\n", "\t", "/**/", "--\n", " /* ) AS ( */ ", "\f")
        parts = []
        for piece in pieces(text):
            found = piece.text
            if piece.kind == "word":
                found = self._one(found, found.upper(), found.title(), found.swapcase())
                if self._random.random() < 0.02:
                    found = found.replace("k", "\u212a").replace("s", "\u017f")
            elif piece.kind == "space":
                found = self._one(*spaces)
            parts.append(found)
        return "".join(parts) + self._one("", ";", " ; ;", "\0")[: self._random.random() < 0.1]
