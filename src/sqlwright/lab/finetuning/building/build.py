"""Builds a set: the steps of a recipe, taught question by question, database by database.

Each database makes a part, which is whole or not there: a build that was killed loses the database
it was at, and the next call goes on behind it.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from itertools import chain
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

import sqlwright
from sqlwright.errors import DatabaseUnavailable, DatasetError
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.reading import file_digest
from sqlwright.lab.evaluation.files import locked, read_object, write_json
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.lab.finetuning.building.leakage import (
    Fingerprint,
    fingerprints,
    refuse_leakage,
    set_apart,
)
from sqlwright.lab.finetuning.building.plan import BuildPlan, Source, plan_digest
from sqlwright.lab.finetuning.building.set_folder import (
    HELD_OUT,
    RECORD,
    TRAIN,
    VERSION,
    SetFolder,
    SetRecord,
    SourceRecord,
    read_record,
    write_record,
)
from sqlwright.lab.finetuning.building.statistics import statistics
from sqlwright.lab.finetuning.candidates.reading import CandidateSets, read_candidates
from sqlwright.lab.finetuning.example import TrainingExample, read_examples, write_examples
from sqlwright.lab.finetuning.lesson import Lesson
from sqlwright.lab.finetuning.roles.registry import find_role, with_options
from sqlwright.lab.finetuning.roles.role import Asked, Role
from sqlwright.local.models import EmbeddedModels
from sqlwright.prepare import open_workspace, prepare, prepared_folder
from sqlwright.protocols import ModelsByRole, Run, Workspace
from sqlwright.recipes.loading import Recipe, load_recipe

FOLDER = "parts"


@dataclass(frozen=True, slots=True)
class Job:
    """The questions of a source over one database."""

    number: int
    source: Source
    db_id: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Examples of a database, which are in a file beside."""

    source: str
    db_id: str
    questions: int
    skipped: Mapping[str, int]
    digest: str
    """Of the examples' file."""


@dataclass(frozen=True)
class Parts:
    """The folder of parts in that of a set."""

    folder: Path
    today: date
    """The day the build began, which prompts are told though it goes on on another."""

    @staticmethod
    def claim(out: Path, plan: str) -> Parts:
        """Begin or go on by a plan's digest. Raises DatasetError where another plan was begun."""
        folder = out / FOLDER
        begun = folder / "plan.json"
        folder.mkdir(parents=True, exist_ok=True)
        told = read_object(begun)
        if not told:
            told = {"plan": plan, "today": date.today().isoformat()}
            write_json(begun, told)
        if told.get("plan") != plan:
            raise DatasetError(
                f"{out} holds the beginning of a set of other data, recipe or options",
                hint=f"Name another folder with --out, or remove {folder} to begin anew.",
            )
        try:
            return Parts(folder, date.fromisoformat(str(told.get("today"))))
        except ValueError:
            raise DatasetError(
                f"{begun} is damaged: it tells no day", hint=f"Remove {folder} to begin anew."
            ) from None

    def find(self, job: Job) -> Part | None:
        """The part that a job has made; None where it isn't done, or its file was damaged."""
        told = read_object(self._record(job))
        try:
            part = TypeAdapter(Part).validate_python(told)
            whole = file_digest(self._file(job)) == part.digest
        except (ValidationError, DatasetError):
            return None
        return part if whole else None

    def write(
        self, job: Job, examples: Sequence[TrainingExample], skipped: Mapping[str, int]
    ) -> Part:
        """Keep what a job has made; the record comes last."""
        write_examples(self._file(job), examples)
        part = Part(
            job.source.dataset.name,
            job.db_id,
            len(job.examples),
            dict(skipped),
            file_digest(self._file(job)),
        )
        write_json(self._record(job), asdict(part))
        return part

    def examples(self, job: Job) -> Iterator[TrainingExample]:
        """The examples that a job has made, in order."""
        return read_examples(self._file(job))

    def remove(self) -> None:
        """Remove all, once the set is there."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, job: Job) -> Path:
        return self.folder / f"{job.number:05d}.jsonl"

    def _record(self, job: Job) -> Path:
        return self.folder / f"{job.number:05d}.json"


__all__ = ["BuildPlan", "Progress", "Source", "build"]

Progress = Callable[[int, int], None]
"""Told the number of questions that are done, and of all."""

NO_FILE = "the database isn't there"
CLOSED = "the database can't be opened"
NO_GOLD = "it has no gold query"
GOLD_FAILS = "the gold query fails"
DUPLICATE = "the same example twice"


@dataclass(frozen=True)
class _Build:
    """A build at work."""

    plan: BuildPlan
    recipe: Recipe
    role: Role
    jobs: Sequence[Job]
    marks: Mapping[str, Mapping[str, Fingerprint]]
    """The marks of databases by their ids, for each source by its name."""
    candidates: CandidateSets
    embedded: ModelsByRole = field(default_factory=EmbeddedModels)


def build(plan: BuildPlan, *, progress: Progress = lambda _done, _whole: None) -> SetFolder:
    """Build the set of a plan, or go on with it; one that is there is checked and given back.

    A question that gives no example is counted by the reason. Raises ConfigError (recipe, role,
    options), WorkspaceError (no place to prepare in) and DatasetError: leakage, no example at all,
    a folder that holds another set.
    """
    recipe = load_recipe(plan.recipe, plan.overrides)
    role = with_options(find_role(plan.role), plan.options)
    _check(plan, role)
    digest = plan_digest(plan.told(recipe))
    with locked(plan.out):
        if (plan.out / RECORD).exists():
            return _there(plan, digest)
        jobs = _jobs(plan)
        asked = [_asked(source, jobs) for source in plan.datasets]
        needed = bool(plan.held_out) or plan.share > 0
        marks = {one.name: fingerprints(one) for one in asked} if needed else {}
        for one in asked:
            for evaluation in plan.held_out:
                refuse_leakage(one, evaluation, marks[one.name])
        candidates = read_candidates(plan.candidates) if plan.candidates else CandidateSets()
        work = _Build(plan, recipe, role, jobs, marks, candidates)
        parts = Parts.claim(plan.out, digest)
        skipped = _made(work, parts, progress)
        _write(work, parts, skipped, digest)
        parts.remove()
        return SetFolder.open(plan.out)


def _check(plan: BuildPlan, role: Role) -> None:
    """Raise DatasetError for a plan that can't be built."""
    if role.chooses and not plan.candidates:
        raise DatasetError(
            f"the {role.name} chooses among queries of generators, and none are given",
            hint="Write some with `sqlwright lab finetune candidates`, and name the file with "
            "--candidates.",
        )
    names = [source.dataset.name for source in plan.datasets]
    if len(set(names)) < len(names):
        raise DatasetError(
            "two data sets have the same name, by which examples are told apart",
            hint="Give their questions in one folder, or build two sets.",
        )
    known = {db_id for source in plan.datasets for db_id in source.dataset.db_ids}
    if unknown := sorted(set(plan.without) - known):
        raise DatasetError(
            f"no question is over {', '.join(unknown)}, which is to be left out",
            hint=f"There are {', '.join(sorted(known))}.",
        )


def _there(plan: BuildPlan, digest: str) -> SetFolder:
    if read_record(plan.out).plan != digest:
        raise DatasetError(
            f"{plan.out} holds a set of other data, recipe or options",
            hint="Name another folder with --out.",
        )
    return SetFolder.open(plan.out)


def _jobs(plan: BuildPlan) -> list[Job]:
    """The questions that are asked, by source and database."""
    left = plan.limit
    grouped: dict[tuple[int, str], list[Example]] = {}
    for number, source in enumerate(plan.datasets):
        asked = [one for one in source.dataset.examples if one.db_id not in plan.without]
        for one in asked if left is None else asked[:left]:
            grouped.setdefault((number, one.db_id), []).append(one)
        left = None if left is None else max(left - len(asked), 0)
    if not grouped:
        raise DatasetError("there are no questions to build from", hint="Take fewer --without.")
    return [
        Job(number, plan.datasets[key[0]], key[1], tuple(examples))
        for number, (key, examples) in enumerate(grouped.items())
    ]


def _asked(source: Source, jobs: Sequence[Job]) -> Dataset:
    """The part of a source that is asked."""
    own = [one for job in jobs if job.source is source for one in job.examples]
    return replace(source.dataset, examples=tuple(own))


def _made(work: _Build, parts: Parts, progress: Progress) -> Counter[str]:
    """Make the parts that aren't there; the questions skipped in all, by reason."""
    whole, done = sum(len(job.examples) for job in work.jobs), 0
    skipped: Counter[str] = Counter()
    progress(done, whole)
    for job in work.jobs:
        part = parts.find(job)
        if part is None:
            told: Counter[str] = Counter()
            examples: list[TrainingExample] = []
            for number, found in enumerate(_examples(work, job, parts, told), 1):
                examples += found
                progress(done + number, whole)
            part = parts.write(job, examples, told)
        done += len(job.examples)
        progress(done, whole)
        skipped.update(part.skipped)
    return skipped


def _examples(
    work: _Build, job: Job, parts: Parts, skipped: Counter[str]
) -> Iterator[Sequence[TrainingExample]]:
    """The examples of each question of a database, in order."""
    plan = work.plan
    try:
        with _opened(work, job) as workspace:
            dataset = job.source.dataset
            scorer = Scorer(workspace.database, workspace.schema, find_rule(dataset.rule), ())
            at_hand = Lesson(work.recipe, workspace, work.embedded, plan.context_tokens)
            at_hand.step(work.role.step)
            for example in job.examples:
                usable = _usable(example, scorer, skipped)
                if usable is None:
                    yield ()
                    continue
                lesson = replace(at_hand, run=Run(seed=plan.seed, today=parts.today))
                purpose = f"{plan.seed}/{work.role.name}/{dataset.name}/{job.db_id}/{example.id}"
                asked = Asked(
                    usable,
                    dataset.name,
                    lesson,
                    scorer,
                    work.candidates.of(dataset.name, example.id, job.db_id),
                    random.Random(purpose),  # noqa: S311 - to be repeatable
                    lambda reason: skipped.update([reason]),
                )
                yield work.role.examples(asked)
    except DatabaseUnavailable:
        there = job.examples[0].database.exists()
        skipped.clear()
        skipped[CLOSED if there else NO_FILE] = len(job.examples)


def _usable(example: Example, scorer: Scorer, skipped: Counter[str]) -> Example | None:
    """The question with those of its gold queries that run; None without any."""
    rewrite, dialect = scorer.rule.rewrite, scorer.schema.dialect
    golds = [sql for sql in example.golds if scorer.execute(rewrite(sql, dialect)).whole]
    if not golds:
        skipped[GOLD_FAILS if example.golds else NO_GOLD] += 1
        return None
    return replace(example, gold_sql=golds[0], also=tuple(golds[1:]))


@contextmanager
def _opened(work: _Build, job: Job) -> Iterator[Workspace]:
    """The database of a job, prepared where the plan says so."""
    url, home = str(job.examples[0].database), work.plan.home
    folder = None if home is None else home / "databases" / prepared_folder(url).name
    described = job.source.dataset.descriptions.get(job.db_id)
    if work.plan.prepare:
        prepare(url, folder=folder, descriptions=described)
    workspace = open_workspace(url, folder=folder, descriptions=described)
    try:
        yield workspace
    finally:
        workspace.database.close()


def _write(work: _Build, parts: Parts, skipped: Counter[str], digest: str) -> None:
    """Put the parts together; the record comes last."""
    plan = work.plan
    databases = list(dict.fromkeys(job.db_id for job in work.jobs))
    marks = [one for found in work.marks.values() for one in found.values()]
    apart = set_apart(databases, marks, plan.share, plan.seed)
    seen: set[bytes] = set()
    digests, told = {}, {}
    for name, held in ((TRAIN, False), (HELD_OUT, True)):
        jobs = [job for job in work.jobs if (job.db_id in apart) == held]
        path = plan.out / name
        write_examples(path, _distinct((parts.examples(job) for job in jobs), seen, skipped))
        digests[name] = file_digest(path)
        told["held_out" if held else "train"] = statistics(
            read_examples(path), context_tokens=plan.context_tokens
        )
    if not told["train"]["examples"]:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in skipped.most_common(3))
        raise DatasetError(
            f"no question gives an example to train on: {reasons or 'all are held out'}",
            hint="Check databases and gold queries, or take more of both.",
        )
    checked = len(databases) if plan.held_out else 0
    told["leakage"] = {"checked": checked}  # what leaks was refused
    generators = tuple(work.candidates.generators)
    record = SetRecord(
        version=VERSION,
        role=work.role.name,
        step=work.role.step,
        recipe=plan.recipe,
        overrides=tuple(plan.overrides),
        context_tokens=plan.context_tokens,
        seed=plan.seed,
        sqlwright=sqlwright.__version__,
        sources=tuple(_source(source) for source in plan.datasets),
        databases={
            "train": tuple(db_id for db_id in databases if db_id not in apart),
            "held_out": tuple(db_id for db_id in databases if db_id in apart),
        },
        held_out_questions=tuple(
            one.id for job in work.jobs if job.db_id in apart for one in job.examples
        ),
        generators=generators,
        skipped=dict(skipped.most_common()),
        statistics=told,
        digests=digests,
        options=dict(plan.options),
        evaluations=tuple(one.name for one in plan.held_out),
        today=parts.today.isoformat(),
        plan=digest,
    )
    write_record(plan.out, record)


def _source(source: Source) -> SourceRecord:
    return SourceRecord(
        source.data,
        source.split,
        source.dataset.name,
        source.dataset.rule,
        dict(source.dataset.files),
    )


def _distinct(
    parts: Iterable[Iterable[TrainingExample]], seen: set[bytes], skipped: Counter[str]
) -> Iterator[TrainingExample]:
    """The examples of several parts; of those with the same prompt and reply the first."""
    for one in chain.from_iterable(parts):
        told = json.dumps([[(turn.role, turn.text) for turn in one.messages], one.completion])
        mark = hashlib.sha256(told.encode()).digest()
        if mark in seen:
            skipped[DUPLICATE] += 1
        else:
            seen.add(mark)
            yield one
