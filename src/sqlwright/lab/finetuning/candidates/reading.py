"""Candidates read for building examples, of files and of traces that the user judged: only those
whose generator didn't see the database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.selection import Selection
from sqlwright.lab.evaluation.golden.judged import LONGEST, NAME, load_traces
from sqlwright.lab.finetuning.candidates.generators import EMBEDDED, embedded_databases, outside
from sqlwright.lab.finetuning.candidates.lines import (
    CandidateFile,
    CandidateLine,
    Header,
    QuestionLine,
)
from sqlwright.lab.finetuning.roles.role import Sampled
from sqlwright.running.trace import Trace, read_trace


def traced(folder: Path) -> Iterator[tuple[Header, list[QuestionLine]]]:
    """By recipe and model, the candidates of the judged questions of a folder of traces. What a
    language model was trained on isn't known. Raises DatasetError and WorkspaceError."""
    by_generator: dict[tuple[str, str], list[QuestionLine]] = {}
    for example in load_traces(folder, Selection()).examples:
        trace = read_trace(folder / f"{example.id}.jsonl")
        recipe: Any = trace.start.get("recipe")
        name = str(recipe.get("name", "") if isinstance(recipe, dict) else recipe)
        model = str(trace.start.get("model") or "")
        line = QuestionLine(
            question_id=example.id,
            db_id=example.db_id,
            source=NAME,
            candidates=tuple(_candidates(trace, model)),
        )
        by_generator.setdefault((name, model or EMBEDDED), []).append(line)
    for (name, model), lines in sorted(by_generator.items()):
        yield Header(recipe=name, model=model, sources=({"name": NAME},)), lines


def _candidates(trace: Trace, model: str) -> Iterator[CandidateLine]:
    """The candidates that ran, as they were last. Queries that the trace cuts are left out."""
    kept: list[Any] = []
    for step in trace.steps:
        changes = step.get("changes")
        if isinstance(changes, Mapping) and isinstance(changes.get("candidates"), list):
            kept = changes["candidates"]
    for one in kept:
        if not isinstance(one, dict) or one.get("goal") or not one.get("result"):
            continue
        sql, source = one.get("sql"), str(one.get("source", ""))
        if isinstance(sql, str) and len(sql) <= LONGEST:
            own = not model or source == "generation.embedded"
            yield CandidateLine(sql=sql, model=EMBEDDED if own else str(one.get("model") or model))


Key = tuple[str, str]
"""Ids of a question and of its database."""
Found = dict[Key, dict[str, list[Sampled]]]


@dataclass(frozen=True)
class CandidateSets:
    """The candidates of several generators, by question."""

    generators: tuple[Mapping[str, Any], ...] = ()
    """Each generator with the number of its candidates: kept, dropped because it was trained on
    their database, and of these unknown whether it was. For the record of a set."""
    found: Mapping[Key, Mapping[str, Sequence[Sampled]]] = field(default_factory=dict, repr=False)
    """By question, then by the name of the data set."""

    @property
    def dropped(self) -> int:
        """Candidates left out because their generator was trained on the database."""
        return sum(one["dropped"] for one in self.generators)

    @property
    def unknown(self) -> int:
        """Candidates that are kept although nobody knows what their generator was trained on."""
        return sum(one["unknown"] for one in self.generators)

    def of(self, source: str, question_id: str, db_id: str) -> Sequence[Sampled]:
        """The candidates of a question. A sample or a part of a data set is the same data set; a
        name that no file knows is taken for the only one that has the question."""
        by_source = self.found.get((question_id, db_id), {})
        if (own := by_source.get(_whole(source))) is not None:
            return own
        return next(iter(by_source.values())) if len(by_source) == 1 else ()


def read_candidates(paths: Iterable[Path]) -> CandidateSets:
    """The candidates of several files, each file once; of a folder of traces those of the questions
    that were judged. Raises DatasetError, also where there is none."""
    found: Found = defaultdict(dict)
    generators: list[Mapping[str, Any]] = []
    for path in dict.fromkeys(path.resolve() for path in paths):
        if path.is_dir():
            generators += [_taken(header, lines, path, found) for header, lines in traced(path)]
        else:
            file = CandidateFile.open(path)
            generators.append(_taken(file.header, file.questions(), path, found))
    if not generators:
        raise DatasetError(
            "there are no candidates to choose among",
            hint="Write some with `sqlwright lab finetune candidates`.",
        )
    return CandidateSets(tuple(generators), found)


def _taken(
    header: Header, lines: Iterable[QuestionLine], path: Path, found: Found
) -> Mapping[str, Any]:
    """Takes up a generator's candidates; the generator for the record."""
    shipped, seen = embedded_databases(), seen_by(header)
    counted: Counter[str] = Counter()
    for line in lines:
        kept = found[line.question_id, line.db_id].setdefault(_whole(line.source), [])
        for one in line.candidates:
            known = shipped if one.model == EMBEDDED else seen
            if known is not None and line.db_id in known:
                counted["dropped"] += 1
                continue
            counted["kept"] += 1
            counted["unknown"] += known is None
            kept.append(Sampled(one.sql, one.model or header.model, header.hinted))
    told = header.model_dump(mode="json", exclude={"header", "folded", "trained_on"})
    return {
        **told,
        "file": str(path),
        "trained_on": None if seen is None else len(seen),
        **{name: counted[name] for name in ("kept", "dropped", "unknown")},
    }


def seen_by(header: Header) -> frozenset[str] | None:
    """The databases that a generator was trained on; None where that isn't known. That of a fold
    wasn't trained on its fold, and is held to have been on all others."""
    folded: frozenset[str] = frozenset()
    if header.fold:
        if not header.folded:
            return frozenset(header.trained_on) if header.trained_on is not None else None
        folded = outside(header.folded, header.fold)
    if header.trained_on is None and not folded:
        return None
    return folded | frozenset(header.trained_on or ())


def _whole(source: str) -> str:
    """The name of a data set without the part and the sample that follow it."""
    return source.split(",", maxsplit=1)[0].split(":", maxsplit=1)[0].strip()
