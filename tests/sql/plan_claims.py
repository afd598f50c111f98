"""What the prose of a plan claims, and whether it is so: an independent reading.

The sentences are taken apart by their forms; a sentence of no form is a fault. What they claim is
held against the rows of EXPLAIN (which cursor is on which page, which instruction of which kind
comes when) and against sqlglot's tree of the query (columns, constants, comparisons, aggregates,
order, limit, what is delivered). Nothing here uses `sqlwright.sql.plans`. Each check goes both
ways: nothing is said that isn't there, nothing is there that isn't said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify

from sqlwright.types.plans import EnginePlan, Instruction

FORMS = {
    "open": r"Open (?P<list>.+)\.",
    "scan": r"Scan (?P<table>[^ ,]+)(?: in the order of its index on (?P<by>.+?))?"
    r"(?P<back>, from the last to the first)?\.",
    "search": r"Look up the rows of (?P<table>\S+)(?: where (?P<said>.+?))?"
    r"(?: by (?:its index on (?P<by>.+?)|the temporary index))?"
    r"(?P<back>, from the last to the first)?\.",
    "look_up": r"Look up the row of (?P<table>\S+) where (?P<said>.+)\.",
    "keep": r"(?:Keep the row|Take it for a match) only if (?P<said>.+)\.",
    "while": r"Go on only as long as (?P<said>.+)\.",
    "once": r"Stop there: one row is enough\.",
    "unmatched": r"Where nothing in (?P<table>\S+) matched, go on once with NULL in all its "
    r"columns\.",
    "fill": r"Put (?P<said>.+) into (?P<table>.+)\.",
    "together": r"Take rows with the same (?P<said>.+) together\.",
    "count": r"Count the rows of (?P<table>\S+): (?P<said>count\(\*\))\.",
    "aggregate": r"Add the row to (?P<said>.+)\.",
    "sort": r"Sort by (?P<said>.+)\.",
    "limit": r"Stop after the first (?P<number>row|\d+ rows)\.",
    "offset": r"Leave out the first (?P<number>row|\d+ rows)\.",
    "distinct": r"Leave the row out if the same (?P<said>.+) came before\.",
    "merge": r"Merge both parts by (?P<name>[A-Z ]+): .+\.",
    "deliver": r"Give (?P<said>.+)\.",
    "result": r"Hand over (?P<said>.+)\.",
}  # fmt: skip
_TEXT = re.compile(r"'(?:[^']|'')*'")
_NUMBER = re.compile(r"(?<![\w.'])-?\d+(?:\.\d+)?(?!\w|\.\d)")
_COLUMN = re.compile(r"\b([A-Za-z]\w*)\.([A-Za-z]\w*)\b")
_COMPARED = re.compile(
    r"(?P<column>\b[A-Za-z]\w*\.\w+) (?P<sign>[=≠<>≤≥]|matches|does not match|is not|is) "
    r"(?P<other>the value of subquery|'(?:[^']|'')*'|-?\d+(?:\.\d+)?\b|NULL\b|[A-Za-z]\w*\.\w+)"
)
_SIGNS = {exp.EQ: "=", exp.NEQ: "≠", exp.LT: "<", exp.GT: ">", exp.LTE: "≤", exp.GTE: "≥",
          exp.Like: "matches", exp.Is: "is"}  # fmt: skip
_NOT = {"=": "≠", "≠": "=", "<": "≥", "≥": "<", ">": "≤", "≤": ">", "matches": "does not match",
        "does not match": "matches", "is": "is not", "is not": "is"}  # fmt: skip
_TURNED = {"=": "=", "≠": "≠", "<": ">", ">": "<", "≤": "≥", "≥": "≤"}


@dataclass(frozen=True)
class Claim:
    """One sentence, by its form."""

    kind: str
    parts: dict[str, str]
    text: str

    @property
    def said(self) -> str:
        return self.parts.get("said") or ""


def claims_of(prose: str) -> list[Claim]:
    """The sentences of a plan. Raises AssertionError for one that has none of the forms."""
    found, number = [], 0
    for line in prose.splitlines():
        if not line.startswith("  "):
            continue
        number += 1
        head, _, text = line.strip().partition(". ")
        assert head == str(number), f"numbered {head} instead of {number}"
        matched = [(k, m) for k, form in FORMS.items() if (m := re.fullmatch(form, text))]
        assert matched, f"no form for: {text}"
        kind, match = matched[0]
        found.append(Claim(kind, {k: v for k, v in match.groupdict().items() if v}, text))
    return found


def faults(
    prose: str,
    plan: EnginePlan,
    sql: str,
    schema: dict[str, dict[str, str]],
    views: dict[str, str] | None = None,
) -> list[str]:
    """Everything in which the prose and the plan or the query differ."""
    try:
        claims = claims_of(prose)
    except AssertionError as error:
        return [str(error)]
    return [*_of_program(claims, plan), *query_faults(prose, sql, schema, views)]


def query_faults(
    prose: str, sql: str, schema: dict[str, dict[str, str]], views: dict[str, str] | None = None
) -> list[str]:
    """Everything in which the prose and the query differ, whichever way an engine goes."""
    parsed = sqlglot.parse_one(sql, dialect="sqlite")
    defined = {
        name: sqlglot.parse_one(text, dialect="sqlite") for name, text in (views or {}).items()
    }
    tree = qualify(exp.expand(parsed, defined, dialect="sqlite"), schema=schema, dialect="sqlite",
                   expand_stars=False, quote_identifiers=False, identify=False)  # fmt: skip
    return list(_of_query(claims_of(prose), tree, set(schema)))


# Against the rows of EXPLAIN


def _of_program(claims: list[Claim], plan: EnginePlan) -> Iterator[str]:
    events = _events(plan)
    said = [event for claim in claims for event in _told(claim)]
    done = [event for event, _ in events]
    if any(i.opcode == "AggValue" for i in plan.instructions):  # windows do their last rows again
        done, said = list(dict.fromkeys(done)), list(dict.fromkeys(said))
        events = []
    if done != said:
        yield f"the program does {done}, said is {said}"
        return
    if events:
        yield from _in_their_place(claims, events, plan)
    yield from _named(claims)
    texts = {i.p4 for i in plan.instructions if i.opcode == "String8"}
    for claim in claims:
        for text in _TEXT.findall(claim.text):
            if text[1:-1].replace("''", "'") not in texts:
                yield f"no constant {text} in the program: {claim.text}"


Event = tuple[object, ...]


def _events(plan: EnginePlan) -> list[tuple[Event, int]]:
    """What the program does, by address."""
    found = [*_of_tables(plan), *_of_rows(plan), *_of_results(plan)]
    found.sort(key=lambda event: event[1])
    if any(node.detail.startswith("MERGE") for node in plan.outline):
        last = [event for event in found if event[0][0] == "deliver"]
        found = [event for event in found if event[0][0] != "deliver"] + last
    return found


def _of_tables(plan: EnginePlan) -> Iterator[tuple[Event, int]]:
    at = {one.root: one for one in plan.stored}
    code = plan.instructions
    opened = {i.p1: at[i.p2] for i in code if i.opcode == "OpenRead"}
    temporary = {i.p1 for i in code if i.opcode == "OpenAutoindex"}
    advanced = {i.p1 for i in code if i.opcode in {"Next", "Prev"}}
    for i in code[: code[0].p2]:
        if i.opcode == "OpenRead":
            yield ("open", opened[i.p1].table, bool(opened[i.p1].index)), i.address
        elif i.opcode in {"Rewind", "Last", "SeekGE", "SeekGT", "SeekLE", "SeekLT"}:
            if i.p1 in temporary:
                yield ("find", ""), i.address
            elif i.p1 in opened and (i.p1 in advanced or i.opcode.startswith("Seek")):
                yield ("find", opened[i.p1].table), i.address
        elif i.opcode == "SeekRowid" and i.p1 in opened:
            yield ("row", opened[i.p1].table), i.address
        elif i.opcode == "IdxInsert" and i.p1 in temporary:
            yield ("fill",), i.address
        elif i.opcode == "NullRow" and code[i.address - 1].opcode == "IfPos":
            flag = code[i.address - 1].p1
            matched = [o.address for o in code if (o.opcode, o.p1, o.p2) == ("Integer", 1, flag)]
            yield ("unmatched", ""), matched[0]


def _of_rows(plan: EnginePlan) -> Iterator[tuple[Event, int]]:
    code = plan.instructions
    merging = any(node.detail.startswith("MERGE") for node in plan.outline)
    sorters = {i.p1: i.p4 for i in code if i.opcode in {"SorterOpen", "OpenEphemeral"}}
    steps = set()
    for i, after in zip(code, [*code[1:], code[0]], strict=True):
        if i.opcode == "AggStep" and (i.p4, i.p3) not in steps:
            steps.add((i.p4, i.p3))
            yield ("aggregate", i.p4.partition("(")[0]), i.address
        elif i.opcode == "Count":
            yield ("aggregate", "count"), i.address
        elif i.opcode in {"Sort", "SorterSort"}:
            keys = sorters[i.p1].strip("k()").split(",")[1:]
            yield ("sort", tuple(key.startswith("-") for key in keys)), i.address
        elif (i.opcode, after.opcode) == ("Compare", "Jump") and not merging:
            yield ("together", i.p3), i.address
        elif (i.opcode in {"Eq", "Ne"} and i.p5 & 0x80) or _leaves_out(i, code):
            yield ("distinct",), i.address
    if merging:
        yield ("merge",), max(i.address for i in code if i.opcode == "Compare")


def _leaves_out(i: Instruction, code: tuple[Instruction, ...]) -> bool:
    """True where a row is left out that was entered before."""
    entered = any((o.opcode, o.p1) == ("IdxInsert", i.p1) for o in code[i.address : i.address + 4])
    counted = any(o.opcode == "AggStep" for o in code[i.address : i.p2])
    return i.opcode == "Found" and entered and not counted


_DECIDING = frozenset({
    "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "If", "IfNot", "IsNull", "NotNull", "Found", "NotFound",
})  # fmt: skip


def _of_results(plan: EnginePlan) -> Iterator[tuple[Event, int]]:
    code = plan.instructions
    scalar, listed = set(), {}
    for i in code:
        if i.opcode == "Return" and i.p2 and code[i.p2 - 1].opcode == "BeginSubrtn":
            first = next(o for o in code[i.p2 :] if o.opcode != "Once")
            inside = code[i.p2 : i.address]
            if first.opcode == "Null":
                scalar |= {o.address for o in inside}
                yield ("result",), i.address
            elif first.opcode == "OpenEphemeral" and any(o.opcode == "OpenRead" for o in inside):
                listed[first.p1] = range(i.p2, i.address)
            elif first.opcode == "Integer":
                scalar |= {o.address for o in inside}
    best = [i for i in code if i.opcode == "IfNotZero"]
    stored = {i.p1 for i in code if i.opcode == "OpenEphemeral"}
    windows = {i.p2 for i in code if i.opcode == "OpenDup" and code[i.address - 1].opcode in
               {"OpenEphemeral", "OpenDup"}}  # fmt: skip
    windows |= {i.p1 for i in code if i.opcode == "OpenDup" and i.p2 in windows}
    for i in code:
        if i.opcode == "ResultRow":
            if best:
                yield ("limit",), i.address
            yield ("deliver", i.p2), i.address
        elif i.opcode == "DecrJumpZero" and i.address not in scalar:
            yield ("limit",), i.address
        elif i.opcode == "IfPos" and i.p3:
            yield ("offset",), i.address
        elif (i.opcode == "Yield" and not i.p2) or (
            i.opcode == "IdxInsert" and i.address in listed.get(i.p1, ())
        ):
            yield ("result",), i.address
        elif i.opcode == "Insert" and i.p1 in stored - windows:
            yield ("fill",), i.address


def _told(claim: Claim) -> Iterator[Event]:
    table = re.sub(r"_\d+$", "", claim.parts.get("table", ""))
    if claim.kind == "open":
        yield from map(_opened, _opened_parts(claim.parts["list"]))
    elif claim.kind in {"scan", "search"}:
        yield "find", "" if "by the temporary index" in claim.text else table
    elif claim.kind == "look_up":
        yield "row", table
    elif claim.kind in {"aggregate", "count"}:
        yield "aggregate", claim.said.partition("(")[0]
    elif claim.kind == "sort":
        yield "sort", tuple(key.endswith(" descending") for key in _split(claim.said))
    elif claim.kind in {"together", "deliver"}:
        yield claim.kind, len(_split(claim.said))
    elif claim.kind == "unmatched":
        yield claim.kind, ""
    elif claim.kind in {"limit", "offset", "fill", "result", "distinct", "merge"}:
        yield (claim.kind,)


def _named(claims: list[Claim]) -> Iterator[str]:
    """Each table has a name of its own, and goes by it behind its opening."""
    names: set[str] = set()
    for claim in claims:
        for part in _opened_parts(claim.parts.get("list", "")):
            name = part.split(" again as ")[-1].split()[0] if part else ""
            if part and not part.startswith("the index of "):
                if name in names:
                    yield f"opened as {name} before: {claim.text}"
                names.add(name)
        if claim.kind != "open":
            for table, _ in _COLUMN.findall(_bare(claim.said)):
                if table not in names:
                    yield f"{table} isn't open: {claim.text}"
    gone_over = {
        c.parts.get("table") for c in claims if c.kind in {"scan", "search", "look_up", "count"}
    }
    if names - gone_over:
        yield f"opened and not gone over: {sorted(names - gone_over)}"


def _opened_parts(listed: str) -> list[str]:
    """What one sentence says is opened."""
    return [part for piece in _split(listed) for part in piece.split(" and ")]


def _opened(part: str) -> tuple[object, ...]:
    if part.startswith("the index of "):
        return "open", re.sub(r"_\d+$", "", part.split()[3]), True
    return "open", part.split(maxsplit=1)[0], "(its index on" in part


def _in_their_place(
    claims: list[Claim], events: list[tuple[Event, int]], plan: EnginePlan
) -> Iterator[str]:
    """A condition stands between the same steps as the instructions that read its columns, and
    what is computed is used behind where it is."""
    at = {one.root: one for one in plan.stored}
    code = plan.instructions
    opened = {i.p1: at[i.p2] for i in code if i.opcode == "OpenRead"}
    reads = [
        (i.address, opened[i.p1].table,
         opened[i.p1].rowid if i.opcode in {"Rowid", "IdxRowid"} else opened[i.p1].columns[i.p2])
        for i in code if i.opcode in {"Column", "Rowid", "IdxRowid"} and i.p1 in opened
    ]  # fmt: skip
    place, added = 0, ""
    for claim in claims:
        place += len(list(_told(claim)))
        if claim.kind in {"aggregate", "count"}:
            added += claim.said + " "
        if claim.kind in {"keep", "while"}:
            first = events[place - 1][1] if place else 0
            last = events[place][1] if place < len(events) else len(code)
            names = {(re.sub(r"_\d+$", "", t), c) for t, c in _COLUMN.findall(_bare(claim.said))}
            near = {(t, c) for address, t, c in reads if first <= address <= last}
            if not any(i.opcode in _DECIDING for i in code[first:last]):
                yield f"nothing is decided there: {claim.text}"
            for aggregate in re.findall(r"\b(?:count|sum|avg|min|max|rank)\(", claim.said):
                if aggregate not in added:
                    yield f"used before it is computed: {claim.text}"
                names = set()
            if names and not names & near and "subquery" not in claim.said and reads and \
                    not any("into" in c.text or c.kind == "result" for c in claims):  # fmt: skip
                yield f"nothing of it is read there: {claim.text}"


# Against the query's tree


def _of_query(claims: list[Claim], tree: exp.Expression, tables: set[str]) -> Iterator[str]:
    prose = " ".join(claim.text for claim in claims if claim.kind != "open")
    prose = re.sub(r" (?:by|in the order of) its index on [^.']+?(?=\.|, from)", "", prose)
    yield from _differ("columns", set(_columns(tree, tables)), {
        (re.sub(r"_\d+$", "", t), c) for t, c in _COLUMN.findall(_bare(prose))
        if re.sub(r"_\d+$", "", t) in tables
    })  # fmt: skip
    if "otherwise NULL" in prose:  # a comparison as a number
        prose = re.sub(r"\b1 if (.*?), otherwise NULL if (.*?), otherwise 0", r"\1 \2", prose)
    yield from _differ("constants", set(_constants(tree)), {
        *_TEXT.findall(prose), *(_NUMBER.findall(_bare(re.sub(r"subquery \d+", "", prose))))
    } - _ROW_NUMBERS)  # fmt: skip
    wanted, told = set(_comparisons(tree, tables)), set(_compared(claims))
    for one in wanted - told:
        yield f"isn't said: {one}"
    within = tree.find(exp.Subquery, exp.CTE) is not None  # columns go by other names there
    for one in told - wanted - set(_cases(tree, tables)):
        if not (within and _COLUMN.fullmatch(one[2])):
            yield f"isn't asked: {one}"
    for kind, node in (("limit", exp.Limit), ("offset", exp.Offset)):
        numbers = {n.expression.name for n in tree.find_all(node)}
        said = {
            (c.parts["number"].split()[0]).replace("row", "1") for c in claims if c.kind == kind
        }
        yield from _differ(kind, numbers, said)
    yield from _delivered(claims, tree, tables)
    yield from _ordered(claims, tree, tables)
    aggregates = Counter(type(a).__name__.lower() for a in tree.find_all(exp.AggFunc))
    if bool(aggregates) and not any(c.kind in {"aggregate", "count"} for c in claims) and not (
        {*aggregates} <= {"lag", "lead"}
    ):  # fmt: skip
        yield f"aggregates aren't said: {dict(aggregates)}"
    if tree.find(exp.Distinct) and not any(
        c.kind == "distinct" or "distinct " in c.said for c in claims
    ):
        yield "distinct isn't said"
    if any(j.side == "LEFT" for j in tree.find_all(exp.Join)) != any(
        c.kind == "unmatched" for c in claims
    ):
        yield "an outer join isn't said, or is where there is none"


_ROW_NUMBERS = {"1"}
"""`EXISTS (SELECT 1)` and `the first row` name a number that the other side doesn't."""


def _differ(what: str, wanted: set[object], said: set[object]) -> Iterator[str]:
    wanted = {w for w in wanted if w not in _ROW_NUMBERS}
    said = {s for s in said if s not in _ROW_NUMBERS}
    if wanted - said:
        yield f"{what} that aren't said: {sorted(map(str, wanted - said))}"
    if said - wanted:
        yield f"{what} that aren't asked: {sorted(map(str, said - wanted))}"


def _bare(text: str) -> str:
    return _TEXT.sub("''", text)


def _sources(tree: exp.Expression, tables: set[str]) -> dict[str, str]:
    return {t.alias_or_name: t.name for t in tree.find_all(exp.Table) if t.name in tables}


def _columns(tree: exp.Expression, tables: set[str]) -> Iterator[tuple[str, str]]:
    sources = _sources(tree, tables)
    for column in tree.find_all(exp.Column):
        if column.table in sources:
            yield sources[column.table], column.name


def _constants(tree: exp.Expression) -> Iterator[str]:
    for literal in tree.find_all(exp.Literal):
        if isinstance(literal.parent, exp.Ordered) or literal.find_ancestor(exp.Interval):
            continue
        quoted = "'" + literal.name.replace("'", "''") + "'"
        yield quoted if literal.is_string else literal.name


def _name(node: exp.Expression | None, sources: dict[str, str]) -> str:
    if isinstance(node, exp.Collate | exp.Paren):
        return _name(node.this, sources)
    if isinstance(node, exp.Column):
        return f"{sources[node.table]}.{node.name}" if node.table in sources else ""
    if isinstance(node, exp.Null):
        return "NULL"
    if isinstance(node, exp.Subquery):
        return "the value of subquery"
    if isinstance(node, exp.Literal):
        return "'" + node.name.replace("'", "''") + "'" if node.is_string else node.name
    return ""


def _comparisons(tree: exp.Expression, tables: set[str]) -> Iterator[tuple[str, str, str]]:
    """Each simple comparison of a column that decides on rows, as it holds for those kept."""
    sources = _sources(tree, tables)
    for node in tree.find_all(*_SIGNS, exp.Between, exp.In):
        if node.find_ancestor(exp.Case, exp.If, exp.Filter) or not node.find_ancestor(
            exp.Where, exp.Join, exp.Having
        ):
            continue
        turned = (_nots(node) + bool(node.args.get("negate"))) % 2 == 1
        yield from _compares(node, sources, turned)


def _compares(
    node: exp.Expression, sources: dict[str, str], turned: bool
) -> Iterator[tuple[str, str, str]]:
    column = _name(node.this, sources)
    if isinstance(node, exp.Between):
        if column and not turned:
            yield column, "≥", _name(node.args["low"], sources)
            yield column, "≤", _name(node.args["high"], sources)
        return
    if isinstance(node, exp.In):
        return
    sign, other = _SIGNS[type(node)], _name(node.expression, sources)
    if column and other and "." in column:
        yield _either_way(column, _NOT[sign] if turned else sign, other)


def _either_way(column: str, sign: str, other: str) -> tuple[str, str, str]:
    """Two columns in the order of their names."""
    if re.fullmatch(r"\w+\.\w+", other) and not other[0].isdigit() and other < column:
        return other, _TURNED[sign], column
    return column, sign, other


def _nots(node: exp.Expression) -> int:
    count = 0
    while node.parent is not None and not isinstance(node.parent, exp.Where | exp.Select):
        count += isinstance(node.parent, exp.Not)
        node = node.parent
    return count


def _cases(tree: exp.Expression, tables: set[str]) -> Iterator[tuple[str, str, str]]:
    """Comparisons that may be told without deciding on rows: of CASE, FILTER, COALESCE, lists."""
    sources = _sources(tree, tables)
    for node in tree.find_all(*_SIGNS):
        for turned in (False, True):
            yield from _compares(node, sources, turned)
    for node in tree.find_all(exp.Coalesce):
        yield _name(node.this, sources), "is", "NULL"
    for node in tree.find_all(exp.In):
        for one in node.expressions:
            for sign in "=≠":
                yield _name(node.this, sources), sign, _name(one, sources)
    for column in {_name(c, sources) for c in tree.find_all(exp.Column)}:
        yield column, "is", "NULL"
        yield column, "is not", "NULL"
    for node in tree.find_all(exp.In):
        query = node.args.get("query")
        if query is not None:
            for column in query.find_all(exp.Column):
                yield _either_way(_name(node.this, sources), "=", _name(column, sources))


def _compared(claims: list[Claim]) -> Iterator[tuple[str, str, str]]:
    for claim in claims:
        if claim.kind in {"keep", "while", "search", "look_up"}:
            for match in _COMPARED.finditer(claim.said):
                column, other = (
                    re.sub(r"^(\w+?)_\d+\.", r"\1.", match[g]) for g in ("column", "other")
                )
                yield _either_way(column, match["sign"], other)


def _delivered(claims: list[Claim], tree: exp.Expression, tables: set[str]) -> Iterator[str]:
    """The plain columns of a query without a subquery in FROM stand where they were asked."""
    sources = _sources(tree, tables)
    selects = [tree] if isinstance(tree, exp.Select) else list(tree.find_all(exp.Select))
    if tree.find(exp.Subquery, exp.CTE) or len(selects) != len(
        [c for c in claims if c.kind == "deliver"]
    ):
        return
    for select, claim in zip(selects, (c for c in claims if c.kind == "deliver"), strict=True):
        for asked, given in zip(select.expressions, _split(claim.said), strict=False):
            name = _name(asked.unalias(), sources)
            if name and re.sub(r"^(\w+?)_\d+\.", r"\1.", given) != name:
                yield f"{name} is asked where {given} is given"


def _ordered(claims: list[Claim], tree: exp.Expression, tables: set[str]) -> Iterator[str]:
    """What rows are sorted by: the groups behind it, or the order that is asked."""
    sources, selects = _sources(tree, tables), list(tree.find_all(exp.Select))
    for claim, after in zip(claims, [*claims[1:], claims[-1]], strict=True):
        if claim.kind != "sort":
            continue
        keys = [re.sub(r" (?:ascending|descending)$", "", key) for key in _split(claim.said)]
        if after.kind == "together":
            if keys != _split(after.said):
                yield f"sorted by something else than the groups: {claim.text}"
        elif len(selects) == 1 and tree.args.get("order"):
            aliases = {e.alias: e.this for e in tree.expressions if isinstance(e, exp.Alias)}
            for key, ordered in zip(keys, tree.args["order"].expressions, strict=False):
                by = ordered.this
                by = tree.expressions[int(by.name) - 1] if isinstance(by, exp.Literal) else by
                by = aliases.get(by.name, by) if isinstance(by, exp.Column) and not by.table else by
                wanted = {_name(c, sources) for c in by.find_all(exp.Column)} - {""}
                told = {f"{re.sub(r'_[0-9]+$', '', t)}.{c}" for t, c in _COLUMN.findall(_bare(key))}
                if wanted != told or bool(by.find(exp.AggFunc)) != bool(_AGGREGATE.search(key)):
                    yield f"{sorted(wanted)} is asked, sorted by {key}"


_AGGREGATE = re.compile(r"\b(?:count|sum|avg|min|max|group_concat)\(")


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets and no quotes."""
    parts, depth, quoted = [""], 0, False
    for sign in text:
        quoted ^= sign == "'"
        depth += (sign == "(") - (sign == ")") if not quoted else 0
        if sign == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
