"""`sqlwright lab finetune linker|generator|critic|selector`: one command under four names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import finetuning, gating, options

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


def command(
    context: typer.Context,
    *,
    out: finetuning.Out,
    data: finetuning.Data = None,
    split: finetuning.Splits = None,
    held_out: finetuning.HeldOut = None,
    model: finetuning.Model = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            "-r",
            metavar="NAME",
            help="The recipe whose prompts are trained: msc-tuned, chase-tuned, chess-tuned.",
        ),
    ] = None,
    settings: options.Settings = None,
    option: finetuning.RoleOptions = None,
    candidates: finetuning.Candidates = None,
    objective: finetuning.Objective = "sft",
    context_tokens: finetuning.Context = 8_192,
    share: Annotated[
        float | None,
        typer.Option(
            "--share",
            metavar="SHARE",
            parser=gating.share,
            help="Share of the databases set apart for evaluation; a tenth, or with --held-out "
            "none.",
        ),
    ] = None,
    without: finetuning.Without = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of set and training.")] = 0,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", metavar="N", parser=options.count, help="Questions to build from."
        ),
    ] = None,
    build_only: finetuning.BuildOnly = False,
    preset: finetuning.Preset = None,
    rank: finetuning.Rank = None,
    alpha: finetuning.Alpha = None,
    epochs: finetuning.Epochs = None,
    batch: finetuning.Batch = None,
    micro_batch: finetuning.MicroBatch = None,
    learning_rate: finetuning.LearningRate = None,
    quantized: finetuning.Quantized = None,
    start: finetuning.Start = None,
    beta: finetuning.Beta = None,
    group: finetuning.Group = None,
    kl: finetuning.Kl = None,
    reply_tokens: finetuning.ReplyTokens = None,
    precision: finetuning.Precision = "auto",
    device: finetuning.Device = "auto",
    evaluate: finetuning.EvaluateQuestions = 100,
    checkpoint_minutes: finetuning.CheckpointMinutes = 15.0,
    as_json: options.AsJson = False,
) -> int:
    """Train one role."""
    role = context.info_name or ""
    tried = [*(candidates or ()), *(_traces(data) if role in CHOOSING else ())]
    _check(role, out, model, tried, build_only=build_only)
    sources = finetuning.data_sets(data, splits=split)
    measured = finetuning.data_sets(held_out) if held_out else []

    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.finetune.training import Wanted, run
    from sqlwright.lab.finetuning.building.plan import BuildPlan, Source
    from sqlwright.lab.finetuning.preferences.options import PairOptions, RewardOptions

    settle_streams()
    plan = BuildPlan(
        role=role,
        datasets=[Source(name, dataset, part) for name, part, dataset in sources],
        recipe=recipe or RECIPES.get(role, "msc-tuned"),
        out=out / "set",
        held_out=[dataset for _, _, dataset in measured],
        overrides=tuple(settings or ()),
        context_tokens=context_tokens,
        seed=seed,
        share_held_out=share,
        limit=limit,
        candidates=tuple(tried),
        options=_options(option),
        without=tuple(one.strip() for one in (without or "").split(",") if one.strip()),
    )
    chosen = {
        "rank": rank,
        "alpha": alpha,
        "epochs": epochs,
        "batch": batch,
        "learning_rate": learning_rate,
        "quantized": quantized,
        "max_tokens": context_tokens,
    }
    wanted = Wanted(
        plan,
        out,
        None if build_only else model,
        preset,
        _given(chosen),
        {
            "objective": objective,
            "start": start,
            "pairs": PairOptions(**_given({"beta": beta})),
            "rewards": RewardOptions(
                **_given({"group": group, "kl": kl, "max_reply_tokens": reply_tokens})
            ),
            "seed": seed,
            "micro_batch": micro_batch or 0,
            "precision": precision,
            "device": device,
            "evaluate_questions": evaluate,
            "checkpoint_minutes": checkpoint_minutes,
        },
    )
    return run(Screen.open(), wanted, as_json=as_json)


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


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that somebody named."""
    return {name: value for name, value in values.items() if value is not None}


def _traces(data: Sequence[str] | None) -> list[Path]:
    """Folders of traces among the data: what was tried there are candidates, too."""
    named = [one.partition(":") for one in data or ()]
    return [
        Path(folder.strip()).expanduser() for name, _, folder in named if name.strip() == "traces"
    ]


def _options(texts: Sequence[str] | None) -> dict[str, str]:
    """Options of the role. Raises UsageError."""
    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name.strip() and equals):
            raise UsageError(
                f"--option takes NAME=VALUE, not {text[:80]!r}",
                hint="Such as --option orders=both of the selector.",
            )
        found[name.strip()] = value.strip()
    return found
