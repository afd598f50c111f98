"""Replies such as a language model might write, made by rules from nothing but the prompt.

    ModelServer(answer=Responder())                        over HTTP on loopback
    Script(otherwise=Responder().scripted)                 the double that ships

The kind of prompt is known by its instructions' own words; schema, question, queries and tests are
read from what it shows. The same prompt, seed and temperature always get the same reply. Queries
are valid over the schema shown and vary with the seed; a share of them names a column that isn't
there, compares with a text that isn't stored, or stops in the middle, so that repairs have work.
It knows no answers: it is there to keep the whole machinery busy, not to be right.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tests.llm import server

from sqlwright.llm import scripted
from sqlwright.prompts.sampling import AGAIN

_ASKED_AGAIN = AGAIN.partition("{")[0]
_NAME = r'(?:"(?:[^"]|"")+"|[A-Za-z_]\w*)'
_TABLE = re.compile(rf"^CREATE (?:TABLE|VIEW) ({_NAME}) \(|^(?:table|view) ({_NAME})[ :]")
_COLUMN = re.compile(rf"^(?:  |- )({_NAME})(?=[\s,:]|$)")
_KEY = re.compile(
    rf"^  FOREIGN KEY \(({_NAME})\) REFERENCES ({_NAME}) \(({_NAME})\)"
    rf"|^- ({_NAME})\b.*? = ({_NAME})\.({_NAME})"
)
_SOFT = re.compile(rf"^({_NAME})(?: \(view.*?\))?: (?={_NAME})(.*)$")
_SOFT_COLUMN = re.compile(rf"(?:^|, )({_NAME})")
_SOFT_KEY = re.compile(rf"^({_NAME})\.({_NAME}) = ({_NAME})\.({_NAME})", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+(?:'s)?", re.UNICODE)
_DULL = frozenset(
    "a an and are at by did do does each every for from give has have how in is it list many "  # noqa: SIM905
    "me more most of on or our show than that the their there to was we what which who with".split()
)

KINDS = (
    ("You prepare a search", "keywords"),
    ("You are shown one column", "relevant"),
    ("You are shown columns of a database", "filter"),
    ("choose the tables that the query has to read", "tables"),
    ("name all tables that the query may have to read", "tables"),
    ("choose the columns that the query has to use", "columns"),
    ("Say of each, in one sentence, what it holds", "summaries"),
    ("find the columns that hold what the question speaks of", "entities"),
    ("You mend", "revise"),
    ("You write tests by which", "tests"),
    ("You judge each of them by one test", "verdicts"),
    ("You judge it by several tests", "verdicts_by_test"),
    ("You steer the tools", "agent"),
    ("You take questions about a database apart", "decompose"),
    ("You write examples for somebody", "examples"),
    ("Two SQLite queries, A and B", "pair"),
    ("You say which of them is most likely", "best"),
    ("You see them at once, each with its result", "correct"),
    ("You see it with its result", "right"),
    ("quer", "sql"),
)


@dataclass(frozen=True)
class Table:
    """A table as the prompt shows it; names as they are written, quotes included."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[tuple[str, str, str], ...] = ()
    """Column, table and column it refers to."""


@dataclass(frozen=True)
class Prompt:
    """What is read of a prompt."""

    text: str

    @cached_property
    def kind(self) -> str:
        """Which template it was made by."""
        flat = " ".join(self.text.split())
        return next((kind for words, kind in KINDS if words in flat), "")

    @cached_property
    def question(self) -> str:
        """The question, which every template puts behind what it belongs to."""
        asked = re.findall(r"^Question: (.*)$", self.text, re.MULTILINE)
        return asked[-1] if asked else ""

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The schema shown last, which is the database's own and not a worked example's."""
        marks = ("Database schema:\n", "\nSchema:\n", "\nColumns:\n", "the query uses:\n",
                 "the queries use:\n")  # fmt: skip
        start = max(self.text.rfind(mark) for mark in marks)
        end = self.text.find("\nQuestion: ", start)
        return tuple(_tables(self.text[start : end if end > 0 else None])) if start >= 0 else ()


def _tables(text: str) -> Iterator[Table]:
    lines = text.partition("\n")[2].partition("\n\n")[0].split("\n")
    soft = [line for line in map(_SOFT.match, lines) if line]
    if len(soft) == len(lines):
        for one in soft:
            keys_of = (k.groups() for k in _SOFT_KEY.finditer(text) if k[1] == one[1])
            columns_of = tuple(column[1] for column in _SOFT_COLUMN.finditer(one[2]))
            yield Table(one[1], columns_of, tuple((k[1], k[2], k[3]) for k in keys_of))
        return
    name, columns, keys = "", list[str](), list[tuple[str, str, str]]()
    for line in text.split("\n"):
        if opening := _TABLE.match(line):
            if name:
                yield Table(name, tuple(columns), tuple(keys))
            name, columns, keys = opening[1] or opening[2], [], []
            continue
        if key := _KEY.match(line):
            near, table, far = (key[n] or key[n + 3] for n in (1, 2, 3))
            keys.append((near, table, far))
        if (column := _COLUMN.match(line)) and column[1] not in {"FOREIGN", "PRIMARY", "primary"}:
            columns.append(column[1])
    if name:
        yield Table(name, tuple(columns), tuple(keys))


@dataclass(frozen=True)
class Responder:
    """Replies by rules."""

    faulty: float = 0.25
    """Share of written queries with a fault."""
    stubborn: float = 0.3
    """Share of mended queries that are no better."""

    def __call__(self, asked: server.Asked) -> Sequence[str]:
        """For the server on loopback: one reply per choice.

        Asked again after a reply of no use, it says what it would have said at first. What goes
        wrong on the way makes no query worse, so that runs with and without it can be compared.
        """
        messages = asked.body["messages"]
        if str(messages[-1]["content"]).startswith(_ASKED_AGAIN):
            messages = messages[:-2]
        text = "\n\n".join(str(message["content"]) for message in messages)
        seed = int(asked.body.get("seed") or 0)
        warm = bool(asked.body.get("temperature"))
        return [self.reply(text, seed + number, warm=warm) for number in range(asked.n)]

    def scripted(self, asked: scripted.Asked) -> str:
        """For the scripted double."""
        return self.reply(asked.prompt, asked.seed, warm=asked.temperature > 0)

    def reply(self, text: str, seed: int, *, warm: bool) -> str:
        """The reply. A cold model doesn't look at the seed."""
        digest = hashlib.sha256(f"{seed if warm else ''}/{text}".encode()).hexdigest()
        prompt, draw = Prompt(text), random.Random(digest)
        return _REPLIES[prompt.kind](self, prompt, draw)

    def _keywords(self, prompt: Prompt, _draw: random.Random) -> str:
        words = [word for word in _words(prompt.question) if word.casefold() not in _DULL]
        return json.dumps({"keywords": words or ["anything"]})

    def _relevant(self, prompt: Prompt, _draw: random.Random) -> str:
        column = re.findall(r"^(?:Table|Column): (.*)$", prompt.text, re.MULTILINE)[-2:]
        named = any(_named(name, prompt.question) for name in column)
        return json.dumps({"reasoning": "by its name", "relevant": "yes" if named else "no"})

    def _filter(self, prompt: Prompt, _draw: random.Random) -> str:
        return self._listed(prompt, [t for t in prompt.tables if _named(t.name, prompt.question)])

    def _tables(self, prompt: Prompt, _draw: random.Random) -> str:
        chosen = self._close(prompt)
        return json.dumps({"reasoning": "by name", "tables": [_bare(t.name) for t in chosen]})

    def _columns(self, prompt: Prompt, _draw: random.Random) -> str:
        return self._listed(prompt, self._close(prompt))

    def _summaries(self, prompt: Prompt, _draw: random.Random) -> str:
        said = [{"table": _bare(t.name), "summary": f"It holds {t.name}."} for t in prompt.tables]
        return json.dumps({"tables": said})

    def _entities(self, prompt: Prompt, _draw: random.Random) -> str:
        entities = []
        for table in self._close(prompt):
            columns = [f"{_bare(table.name)}.{_bare(column)}" for column in table.columns]
            entities.append({"entity": _bare(table.name), "columns": columns[:6]})
        return json.dumps({"reasoning": "by name", "entities": entities})

    def _listed(self, prompt: Prompt, tables: Sequence[Table]) -> str:
        """All columns of these tables, and those of others that the question names."""
        listed = []
        for table in prompt.tables:
            columns = [c for c in table.columns if table in tables or _named(c, prompt.question)]
            if columns:
                listed.append({"table": _bare(table.name), "columns": [_bare(c) for c in columns]})
        return json.dumps({"reasoning": "by name", "tables": listed})

    def _close(self, prompt: Prompt) -> list[Table]:
        """Tables that the question names, themselves or by a column; some, if it names none."""
        tables = prompt.tables
        named = [t for t in tables if _named(t.name, prompt.question)]
        inside = [t for t in tables if any(_named(c, prompt.question) for c in t.columns)]
        return list(dict.fromkeys((named + inside)[:4])) or list(tables[:2])

    def _examples(self, prompt: Prompt, draw: random.Random) -> str:
        """A question for each table, some with a fault, one of them twice."""
        made = [
            {"question": f"What is in {table.name}?", "sql": f"SELECT * FROM {table.name} LIMIT 3"}
            for table in prompt.tables[:6]
        ]
        spoiled = [one | {"sql": one["sql"] + " HAVING ("} for one in made if draw.random() < 0.2]
        return json.dumps({"examples": made + spoiled + made[:1]})

    def _decompose(self, prompt: Prompt, draw: random.Random) -> str:
        """Up to three conditions that nobody asked for, one after another; the question last."""
        conditions = [f"condition {number}" for number in range(1, draw.randint(0, 3) + 1)]
        parts = [f"{prompt.question} ({number} of them)" for number in range(1, len(conditions))]
        said = {"targets": "all", "conditions": conditions, "sub_questions": [*parts, "the end"]}
        return json.dumps(said)

    def _pair(self, _prompt: Prompt, draw: random.Random) -> str:
        return json.dumps({"reasoning": "by and large", "better": draw.choice("AB")})

    def _best(self, prompt: Prompt, draw: random.Random) -> str:
        count = int(re.findall(r"Which of the (\d+) queries", prompt.text)[-1])
        return json.dumps({"reasoning": "by and large", "best": draw.randint(1, count)})

    def _correct(self, prompt: Prompt, draw: random.Random) -> str:
        count = int(re.findall(r"Which of the queries 1 to (\d+)", prompt.text)[-1])
        return json.dumps({"reasoning": "by and large", "correct_sql": draw.randint(1, count)})

    def _right(self, _prompt: Prompt, draw: random.Random) -> str:
        return json.dumps({"reasoning": "by itself", "verdict": draw.choice(("right", "wrong"))})

    def _sql(self, prompt: Prompt, draw: random.Random) -> str:
        sql = self._query(prompt, draw)
        if draw.random() < self.faulty:
            sql = _spoiled(sql, prompt, draw)
        return f"The question is about {prompt.question[:60]!r}.\n\n```sql\n{sql}\n```"

    def _revise(self, prompt: Prompt, draw: random.Random) -> str:
        sql = self._query(prompt, draw)
        if draw.random() < self.stubborn:
            sql = _spoiled(sql, prompt, draw)
        return f"The cause was a name that isn't there.\n\n```sql\n{sql}\n```"

    def _query(self, prompt: Prompt, draw: random.Random) -> str:
        """A query over tables that the question names."""
        tables = [table for table in self._close(prompt) if table.columns]
        if not tables:
            return "SELECT 1"
        table = draw.choice(tables[:2])
        named = [c for c in table.columns if _named(c, prompt.question)] or list(table.columns)
        column, other = draw.choice(named), draw.choice(table.columns)
        forms = [
            f"SELECT count(*)\nFROM {table.name}",
            f"SELECT count(DISTINCT {column})\nFROM {table.name}",
            f"SELECT {column}, count(*)\nFROM {table.name}\nGROUP BY {column}",
            f"SELECT DISTINCT {column}\nFROM {table.name}\nWHERE {other} IS NOT NULL",
            f"SELECT {column}\nFROM {table.name}\nORDER BY {other} DESC\nLIMIT 3",
        ]
        shown = {t.name for t in prompt.tables}
        joins = [key for key in table.keys if key[1] in shown and key[1] != table.name]
        forms += [
            f"SELECT o.{far}, count(*)\nFROM {table.name} AS t\nJOIN {target} AS o"
            f" ON o.{far} = t.{near}\nGROUP BY o.{far}"
            for near, target, far in joins
        ]
        return draw.choice(forms)

    def _tests(self, prompt: Prompt, draw: random.Random) -> str:
        wanted = re.search(r"Write (\d+) tests", prompt.text)
        names = [_bare(column) for table in prompt.tables for column in table.columns] or ["rows"]
        tests = [
            f"Test {number}: the query uses {draw.choice(names)} and counts each row once."
            for number in range(1, int(wanted[1] if wanted else 3) + 1)
        ]
        return json.dumps({"reasoning": "they differ in columns", "tests": tests})

    def _verdicts(self, prompt: Prompt, draw: random.Random) -> str:
        count = int(re.findall(r"each of the (\d+) quer", prompt.text)[-1])
        return _verdict_list(count, draw)

    def _verdicts_by_test(self, prompt: Prompt, draw: random.Random) -> str:
        count = int(re.findall(r"each of the (\d+) test", prompt.text)[-1])
        return _verdict_list(count, draw)

    def _agent(self, prompt: Prompt, draw: random.Random) -> str:
        """The first tool that hasn't run; sometimes one again, sometimes done too early."""
        tools = re.findall(r"^- (\S+): ", prompt.text, re.MULTILINE)
        ran = re.findall(r"^\d+\. (\S+): ", prompt.text, re.MULTILINE)
        left = [tool for tool in tools if tool not in ran]
        chosen = left[0] if left else "done"
        if ran and draw.random() < 0.1:
            chosen = draw.choice([*tools, "done"])
        return json.dumps({"reason": "it is next", "tool": chosen})


_REPLIES: dict[str, Callable[[Responder, Prompt, random.Random], str]] = {
    "keywords": Responder._keywords,
    "relevant": Responder._relevant,
    "filter": Responder._filter,
    "tables": Responder._tables,
    "columns": Responder._columns,
    "summaries": Responder._summaries,
    "entities": Responder._entities,
    "revise": Responder._revise,
    "tests": Responder._tests,
    "verdicts": Responder._verdicts,
    "verdicts_by_test": Responder._verdicts_by_test,
    "agent": Responder._agent,
    "decompose": Responder._decompose,
    "examples": Responder._examples,
    "pair": Responder._pair,
    "best": Responder._best,
    "correct": Responder._correct,
    "right": Responder._right,
    "sql": Responder._sql,
}


def _spoiled(sql: str, prompt: Prompt, draw: random.Random) -> str:
    """The query with one of the faults that models make."""
    kind = draw.randrange(3)
    if kind == 0:
        return sql.replace("SELECT ", f"SELECT missing_{draw.randrange(100)}, ", 1)
    if kind == 1:
        column = next((c for t in prompt.tables for c in t.columns if f" {t.name}" in sql), "1")
        return f"SELECT {column}\nFROM ({sql}) AS inner_one\nWHERE 1 = 0"
    return f"{sql}\nHAVING ("


def _verdict_list(count: int, draw: random.Random) -> str:
    verdicts = [
        {"number": number, "verdict": draw.choice(("passed", "failed"))}
        for number in range(1, count + 1)
    ]
    return json.dumps({"reasoning": "each by itself", "verdicts": verdicts})


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.removesuffix("'s") for word in _WORD.findall(text)))


def _bare(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _named(name: str, question: str) -> bool:
    """Whether a word of a name occurs in the question, one in the plural or not."""
    words = {_stem(word) for word in _words(question)} - _DULL
    return any(_stem(part) in words for part in re.split(r"[\W_]+", _bare(name)) if len(part) > 2)


def _stem(word: str) -> str:
    word = word.casefold()
    for ending, instead in (("ies", "y"), ("ses", "s"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending) + instead
    return word
