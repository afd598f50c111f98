"""`sqlwright lab finetune linker|generator|critic|selector`: one command under four names."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from sqlwright.boundary.named import unknown
from sqlwright.boundary.text import counted, to_json
from sqlwright.cli.commands.finetune.checks import check_room, check_training, run_bytes, set_bytes
from sqlwright.cli.failure import UsageError
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.interrupt import noted_interrupt
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.progress import Spinner, Telling
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import measuring, options
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.finetuning.building.build import build
from sqlwright.lab.finetuning.building.plan import BuildPlan, Source
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.roles.registry import find_role
from sqlwright.lab.finetuning.trainer.plan import (
    PairOptions,
    RewardOptions,
    Settings,
    TrainingPlan,
    find_preset,
)

HELP: Mapping[str, str] = {
    "linker": "Train the model that names the tables a question needs (MSc-SQL, section 3.1).",
    "generator": "Train the model that writes the query (MSc-SQL, section 3.2; CHESS, appendix B).",
    "critic": "Train the model that chooses among several queries (MSc-SQL, section 4).",
    "selector": "Train the model that chooses between two queries (CHASE-SQL, section 3.5).",
}
"""The roles, each with its help's first line."""
MORE = """

Checks everything first, builds a set of examples in OUT/set unless it is there, trains an adapter
in OUT/run, evaluates it on databases that were set apart by executing what it writes, and writes a
model card. Broken off, the same command goes on.
"""
RECIPES: Mapping[str, str] = {"selector": "chase-tuned"}
"""The recipe whose prompts are trained, where it isn't MSc-SQL's."""
CHOOSING = frozenset({"critic", "selector"})
"""Roles that learn on queries of generators."""
EXAMPLES: Mapping[str, str] = {
    "linker": """\
sqlwright lab finetune linker --data golden:my-questions.yaml --out tuned/linker --build-only
sqlwright lab finetune linker --data bird:data/bird --split train --held-out bird:data/bird \\
    --model models/qwen-7b --preset msc --out tuned/linker
""",
    "generator": """\
sqlwright lab finetune generator --data golden:my-questions.yaml --out tuned/generator --build-only
sqlwright lab finetune generator --data bird:data/bird --split train --recipe chess-tuned \\
    --model models/deepseek-33b --preset chess --out tuned/generator
""",
    "critic": """\
sqlwright lab finetune critic --data spider:data/spider --split fit --candidates zero.jsonl \\
    --candidates one.jsonl --model models/qwen-7b --preset msc --out tuned/critic
""",
    "selector": """\
sqlwright lab finetune selector --data golden:my-questions.yaml --candidates mine.jsonl \\
    --out tuned/selector --build-only
sqlwright lab finetune selector --data golden:my-questions.yaml --candidates mine.jsonl \\
    --model models/qwen-3b --preset chase-selector --out tuned/selector
""",
}
PRESETS: Mapping[str, str] = {"dpo": "dpo", "grpo": "grpo"}
"""The preset of an objective where none is named; `small` of others."""
PLANNED = (
    "micro_batch", "precision", "gradient_checkpointing", "checkpoint_minutes",
    "checkpoint_steps", "evaluate_steps", "evaluate_questions", "device",
)  # fmt: skip
"""Fields of a training's plan that --training sets, beside those of its settings."""
BALANCE = 12
"""Labels of a kind that are shown; --json has all."""

Share = Annotated[
    float | None,
    typer.Option(
        "--share",
        metavar="SHARE",
        parser=measuring.share,
        help="Share of the databases set apart for evaluation; a tenth, or with --held-out none.",
    ),
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="NAME:FOLDER",
        help="A data set to train on: spider, bird and others, golden:FILE for your own, "
        "traces:FOLDER for answers that were judged. Repeatable.",
    ),
]
Splits = Annotated[
    list[str] | None,
    typer.Option(
        "--split",
        metavar="NAME",
        help="A part of it, as in evaluate: once for all, or once for each --data.",
    ),
]
HeldOut = Annotated[
    list[str] | None,
    typer.Option(
        "--held-out",
        metavar="NAME:FOLDER",
        help="A data set that measures later: training on its databases or questions is refused. "
        "Repeatable.",
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="FOLDER",
        help="The model to train, as transformers saves it. Nothing is downloaded.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="FOLDER", help="Where the set (set/) and the run (run/) are kept."
    ),
]
Candidates = Annotated[
    list[Path] | None,
    typer.Option(
        "--candidates",
        metavar="FILE",
        help="Queries that 'finetune candidates' wrote, for critic and selector. Repeatable.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Settings to begin with: small (ours), msc, chess, chase-selector and others.",
    ),
]
Objective = Annotated[
    Literal["sft", "dpo", "grpo"],
    typer.Option(
        "--objective",
        help="sft: right replies; dpo: preferences; grpo: rewards by execution.",
    ),
]
Start = Annotated[
    Path | None,
    typer.Option(
        "--start",
        metavar="RUN",
        help="A run, or an adapter, that training begins with; for dpo and grpo the sft run.",
    ),
]
Context = Annotated[
    int,
    typer.Option(
        "--context",
        metavar="N",
        parser=options.count,
        help="Tokens that the model reads; prompts are fitted to it.",
    ),
]
RoleOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the role, such as orders=both of the selector. Repeatable.",
    ),
]
BuildOnly = Annotated[
    bool, typer.Option("--build-only", help="Stop once the set is built; needs no model, no GPU.")
]
Without = Annotated[
    str | None,
    typer.Option(
        "--without", metavar="A,B", help="Databases that are left out, commas between them."
    ),
]
TrainingValues = Annotated[
    list[str] | None,
    typer.Option(
        "--training",
        metavar="NAME=VALUE",
        help="A value of the training in place of the preset's: rank, alpha, epochs, batch, "
        "learning_rate, quantized (nf4), beta, group, kl, precision, device, evaluate_questions "
        "and others. Repeatable.",
    ),
]


def command(
    context: typer.Context,
    *,
    out: Out,
    data: Data = None,
    split: Splits = None,
    held_out: HeldOut = None,
    model: Model = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            "-r",
            metavar="NAME",
            help="The recipe whose prompts are trained: msc-tuned, chase-tuned, chess-tuned.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change one setting of it. Repeatable."),
    ] = None,
    option: RoleOptions = None,
    candidates: Candidates = None,
    objective: Objective = "sft",
    context_tokens: Context = 8_192,
    share: Share = None,
    without: Without = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of set and training.")] = 0,
    limit: measuring.Limit = None,
    build_only: BuildOnly = False,
    preset: Preset = None,
    start: Start = None,
    training: TrainingValues = None,
    as_json: options.AsJson = False,
) -> int:
    """Train one role."""
    role = context.info_name or ""
    tried = [*(candidates or ()), *(_traces(data) if role in CHOOSING else ())]
    _check(role, out, model, tried, build_only=build_only)
    plan = BuildPlan(
        role=role,
        datasets=[Source(name, dataset, part) for name, part, dataset in data_sets(data, split)],
        recipe=recipe or RECIPES.get(role, "msc-tuned"),
        out=out / "set",
        held_out=[dataset for _, _, dataset in data_sets(held_out)] if held_out else [],
        overrides=tuple(overrides or ()),
        context_tokens=context_tokens,
        seed=seed,
        share_held_out=share,
        limit=limit,
        candidates=tuple(tried),
        options=dict(_pairs("--option", option)),
        without=tuple(one.strip() for one in (without or "").split(",") if one.strip()),
    )
    preset = preset or PRESETS.get(objective, "small")
    wanted = _training(_pairs("--training", training), preset, context_tokens)
    wanted |= {"objective": objective, "start": start, "seed": seed, "preset": preset}
    planned = None
    if model is not None and not build_only:
        model = model.expanduser().resolve()
        planned = TrainingPlan(set_folder=plan.out, model=model, out=out / "run", **wanted)
    return run(Screen.open(), plan, planned, out, as_json=as_json)


def run(
    screen: Screen, plan: BuildPlan, training: TrainingPlan | None, out: Path, *, as_json: bool
) -> int:
    """Check, build, train; give the exit code."""
    find_role(plan.role)
    if training is not None:
        check_training(training)
    check_room(out, set_bytes(plan) + (run_bytes(training) if training else 0))
    with noted_interrupt(screen), Spinner(screen, "building the set") as spinner:
        made = build(plan, progress=Telling(screen, spinner).questions)
    if not as_json:
        screen.show(set_lines(made, screen.width))
    record = None if training is None else _trained(screen, training)
    if as_json:
        write_result(to_json({"set": set_data(made), "run": record}, indent=2) + "\n")
    elif training is None or record is None:
        _advise(screen, made)
    else:
        screen.show(run_lines(record, training.out, screen.width))
        screen.show(serving_lines(plan, training.out, screen.width))
    return 0


def _trained(screen: Screen, plan: TrainingPlan) -> Mapping[str, Any]:
    """The record of a training that ended. Raises Cancelled where it was broken off."""
    from sqlwright.lab.finetuning.trainer.train import train

    with Spinner(screen, "loading the model") as spinner:
        telling = Telling(screen, spinner)
        folder = train(
            plan,
            progress=telling.step,
            notice=lambda line: screen.note(clean(line, 400)),
        )
    return folder.record()


def _advise(screen: Screen, made: SetFolder) -> None:
    """Say what comes next where a set alone was built."""
    screen.note(f"the set is in {clean(str(made.path), 400)}")
    screen.note("to train: the same command with --model FOLDER in place of --build-only")


def _check(
    role: str, out: Path, model: Path | None, candidates: Sequence[Path], *, build_only: bool
) -> None:
    """Raise UsageError for what can't go together: no model to train, no candidates to choose
    among, several processes that would write one set at once."""
    if model is None and not build_only:
        raise UsageError(
            "name the model to train, or build the set alone",
            hint="Give --model FOLDER, a model as transformers saves it, or --build-only.",
        )
    if role in CHOOSING and not candidates:
        raise UsageError(
            f"a {role} learns to choose among queries, and there are none",
            hint="Write some with 'sqlwright lab finetune candidates', and name the file with "
            "--candidates.",
        )
    several = os.environ.get("WORLD_SIZE", "1") not in {"", "1"}
    if several and not (out / "set" / "set.json").is_file():
        raise UsageError(
            "several processes can't build a set together",
            hint="Build it first, by the same command without the launcher and with --build-only.",
        )


def _training(given: Mapping[str, str], preset: str, context_tokens: int) -> dict[str, Any]:
    """Fields of a training's plan: the preset's settings, changed by what was given. Raises
    ConfigError."""
    kinds = {"settings": Settings, "pairs": PairOptions, "rewards": RewardOptions}
    known = {field.name: part for part, kind in kinds.items() for field in fields(kind)}
    known |= dict.fromkeys(PLANNED, "")
    parts: dict[str, dict[str, Any]] = {"settings": {"max_tokens": context_tokens}}
    for name, text in given.items():
        if name not in known or name == "target_modules":
            raise unknown("value of the training", name, [*known])
        parts.setdefault(known[name], {})[name] = _value(text)
    return {
        **parts.get("", {}),
        "settings": replace(find_preset(preset), **parts["settings"]),
        "pairs": PairOptions(**parts.get("pairs", {})),
        "rewards": RewardOptions(**parts.get("rewards", {})),
    }


def _value(text: str) -> object:
    """A number, true, false or a word."""
    for read in (int, float, {"true": True, "false": False}.__getitem__):
        try:
            return read(text)
        except (ValueError, KeyError):
            continue
    return text


def _traces(data: Sequence[str] | None) -> list[Path]:
    """Folders of traces among the data: what was tried there are candidates, too."""
    named = [one.partition(":") for one in data or ()]
    return [
        Path(folder.strip()).expanduser() for name, _, folder in named if name.strip() == "traces"
    ]


def _pairs(option: str, texts: Sequence[str] | None) -> dict[str, str]:
    """The names and values that a repeatable option holds. Raises UsageError."""
    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name.strip() and equals):
            raise UsageError(
                f"{option} takes NAME=VALUE, not {text[:80]!r}",
                hint="Such as --option orders=both of the selector, or --training rank=32.",
            )
        found[name.strip()] = value.strip()
    return found


def data_sets(
    data: Sequence[str] | None, splits: Sequence[str] | None = None
) -> list[tuple[str, str | None, Dataset]]:
    """Each data set that the options name, with the name it was given and its split. Raises
    UsageError, ConfigError and DatasetError."""
    named, parts = list(data or ()), list(splits or ())
    if not named:
        raise UsageError(
            "name what to train on",
            hint="Give --data NAME:FOLDER, such as --data spider:data/spider, or --data "
            "golden:my-questions.yaml.",
        )
    if len(parts) not in {0, 1, len(named)}:
        raise UsageError(
            f"{len(parts)} splits are named for {len(named)} data sets",
            hint="Give --split once for all, or once for each --data, in the same order.",
        )
    each: list[str | None] = [None] * len(named)
    if parts:
        each = [*parts] if len(parts) == len(named) else [parts[0]] * len(named)
    found = [
        (name, split, measuring.QuestionOptions(data=[name], split=split).dataset())
        for name, split in zip(named, each, strict=True)
    ]
    return _told_apart(found)


def _told_apart(
    found: Sequence[tuple[str, str | None, Dataset]],
) -> list[tuple[str, str | None, Dataset]]:
    """The same, with the loader's name in front of a name that several have: `train` of BIRD and
    of Spider-Syn."""
    names = [dataset.name for _, _, dataset in found]
    return [
        (name, split, dataset)
        if names.count(dataset.name) == 1
        else (name, split, replace(dataset, name=f"{name.partition(':')[0]}-{dataset.name}"))
        for name, split, dataset in found
    ]


def set_data(made: SetFolder) -> dict[str, Any]:
    """A set as JSON holds it."""
    return {"folder": str(made.path), **asdict(made.about)}


def set_lines(made: SetFolder, width: int) -> Iterator[Text]:
    """A set's statistics."""
    about = made.about
    for part in ("train", "held_out"):
        told = about.statistics.get(part)
        if isinstance(told, Mapping):
            label = part.replace("_", " ")
            yield from labelled(label, [Text(line) for line in _part(told)], width)
    skipped = [f"{counted(n, 'question')}: {clean(why, 200)}" for why, n in about.skipped.items()]
    yield from labelled("left out", [Text(line) for line in skipped], width)
    generators = [Text(line) for line in map(_generator, about.generators)]
    yield from labelled("candidates", generators, width)
    if about.evaluations:
        names = clean(", ".join(about.evaluations), 400)
        told = f"no database and no question of {names} is in it"
        yield from labelled("leakage", [Text(told)], width)


def _generator(told: Mapping[str, Any]) -> str:
    name = clean(str(told.get("model") or told.get("recipe") or "unnamed"), 200)
    line = f"{counted(told.get('kept', 0), 'candidate')} by {name}"
    if told.get("dropped"):
        line += f", {told['dropped']:,} left out: it was trained on their databases"
    if told.get("unknown"):
        line += f", of {told['unknown']:,} it isn't known whether it was trained on their databases"
    return line


def _part(told: Mapping[str, Any]) -> Iterator[str]:
    tokens = told.get("tokens", {})
    yield (
        f"{counted(told.get('examples', 0), 'example')} of "
        f"{counted(told.get('questions', 0), 'question')} over "
        f"{counted(told.get('databases', 0), 'database')}"
    )
    if told.get("examples"):
        yield (
            f"tokens, estimated rather too many: {tokens['mean']:,.0f} on average, 95 % up to "
            f"{tokens['p95']:,}, the longest {tokens['max']:,}"
        )
    for labels in told.get("balance", {}).values():
        for name, counts in labels.items():
            if isinstance(counts, Mapping):
                yield f"{name.replace('_', ' ')}: {_counts(counts)}"


def _counts(counts: Mapping[str, int]) -> str:
    shown = [
        f"{clean(str(label), 60)} {count:,}" for label, count in list(counts.items())[:BALANCE]
    ]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def run_lines(record: Mapping[str, Any], folder: Path, width: int) -> Iterator[Text]:
    """A run that has ended."""
    yield from labelled("adapter", [Text(clean(str(folder / "adapter"), 400))], width)
    yield from labelled("card", [Text(clean(str(folder / "MODEL_CARD.md"), 400))], width)
    losses = record.get("losses") or {}
    if losses:
        told = f"{losses['first']:.3f} at first, {losses['last_tenth']:.3f} at the end"
        yield from labelled("loss", [Text(told)], width)
    shares = (record.get("evaluation") or {}).items()
    lines = [Text(clean(f"{name}: {_share(share)}", 400)) for name, share in shares]
    none = "none: no example is over a database that was set apart, or evaluate_questions was 0"
    yield from labelled("evaluation", lines or [Text(none)], width)


def _share(share: Mapping[str, Any]) -> str:
    low, high = f"{share['low']:.0%}", f"{share['high']:.0%}"
    return f"{share['value']:.1%} of {share['total']:,} (95 % interval {low} to {high})"


def serving_lines(plan: BuildPlan, out: Path, width: int) -> Iterator[Text]:
    """The lines of a project file that name the adapter, and how to ask with it."""
    adapter = clean(str((out / "adapter").absolute()), 400)
    lines = [
        f"[models.tuned-{plan.role}]",
        f"model = {json.dumps(f'weights/{adapter}')}",
        f"context_tokens = {plan.context_tokens}",
    ]
    yield from labelled("to use it", [Text("put this into sqlwright.toml:")], width)
    yield Text()
    yield from (Text(f"    {line}") for line in lines)
    yield Text()
    told = f"sqlwright ask shop.sqlite 'QUESTION' --recipe {clean(plan.recipe, 80)}"
    told += "".join(f" --set {clean(shlex.quote(one), 200)}" for one in plan.overrides)
    yield from labelled("then", [Text(told)], width)
    merging = f"sqlwright lab finetune merge {clean(str(out), 400)} --out FOLDER"
    yield from labelled("or", [Text(f"{merging}, for servers without adapters")], width)
