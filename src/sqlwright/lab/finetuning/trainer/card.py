"""The model card of a run, from its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.lab.evaluation.files import write_lines
from sqlwright.lab.finetuning.trainer.record import RunFolder

_TASKS: Mapping[str, str] = {
    "linker": "name the tables that a question needs",
    "generator": "write the SQL query for a question",
    "critic": "name the right one of several queries with their results",
    "selector": "say which of two queries is right, by their results",
}
_NUMBERS = ("rank", "alpha", "dropout", "epochs", "batch", "learning_rate", "warm_up",
            "weight_decay", "max_grad_norm", "max_tokens")  # fmt: skip


def write_card(folder: RunFolder) -> None:
    """Write the card of a run that has ended."""
    write_lines(folder.card, (line + "\n" for line in _lines(folder, folder.record())))


def _lines(folder: RunFolder, record: Mapping[str, Any]) -> Iterator[str]:
    role, examples = record["role"], record["examples"]
    yield f"# An adapter of the {role}"
    yield ""
    yield f"It was trained to {_TASKS.get(role, 'fill its role')}: the step `{record['step']}` of"
    yield f"the recipe `{record['recipe']}` of sqlwright asks it, with the very prompts that it was"
    yield "trained on. Another template, another chat template or another recipe is another task."
    if record["overrides"]:
        told = ", ".join(f"`{_plain(one)}`" for one in record["overrides"])
        yield f"So are other options: these were set in training, and are to be set in use: {told}."
    yield ""
    yield "## Base model"
    yield ""
    yield f"`{_plain(record['base_folder'])}`, content SHA-256 `{record['base']['digest']}`."
    yield ""
    yield from _data(record)
    yield from _training(record, examples)
    yield from _evaluation(record)
    yield from _limits()
    yield "## Serving it"
    yield ""
    yield "In the project file, with the base model's folder and this one in place of the paths:"
    yield ""
    yield "```toml"
    yield f"[models.tuned-{role}]"
    yield f'model = "weights/{_plain(folder.adapter.resolve())}"'
    yield f"context_tokens = {record['context_tokens']}"
    yield "```"
    yield ""
    yield "A server that takes adapters serves `adapter/` over the base model; for one that takes"
    yield "none, `sqlwright lab finetune merge` makes a whole model of both."


def _data(record: Mapping[str, Any]) -> Iterator[str]:
    yield "## Data"
    yield ""
    if not record["sources"]:
        yield "The set doesn't say where its examples come from."
    for source in record["sources"]:
        part = f", {_plain(source['split'])}" if source["split"] else ""
        yield f"- {_plain(source['name'])}{part}"
        for path, digest in source["files"].items():
            yield f"  - `{_plain(path)}` {_plain(digest)}"
    yield ""
    for name, digest in record["set"].items():
        yield f"- `{_plain(name)}` of the set: SHA-256 `{_plain(digest)}`"
    yield ""


def _training(record: Mapping[str, Any], examples: Mapping[str, Any]) -> Iterator[str]:
    settings, losses = record["settings"], record["losses"]
    yield "## Training"
    yield ""
    yield f"{examples['trained']:,} examples in {record['steps']:,} steps, by the objective"
    yield f"`{record['objective']}` with the preset `{record['preset']}`; in `sft` the tokens of"
    yield f"replies alone count. {examples['too_long']:,} longer examples were left out; the"
    yield f"longest of all has {examples['longest']:,} tokens."
    yield ""
    yield "| setting | value |"
    yield "|---|---|"
    for name in _NUMBERS:
        yield f"| {name} | {settings[name]} |"
    yield f"| schedule | {settings['schedule']} |"
    yield f"| adapted layers | {_plain(', '.join(settings['target_modules']))} |"
    yield f"| base model in | {settings['quantized'].replace('none', record['precision'])} |"
    yield f"| seed | {record['seed']} |"
    parameters = record["parameters"]
    yield f"| parameters trained | {parameters['adapter']:,} of {parameters['all']:,} |"
    yield f"| device | {_plain(record['device'])}, {record['processes']} at a time |"
    yield f"| hours | {record['seconds'] / 3600:.2f} |"
    yield ""
    yield f"Loss of the first step {losses['first']:.4f}, of the last {losses['last']:.4f}, mean of"
    yield f"the last tenth {losses['last_tenth']:.4f}. Versions: " + ", ".join(
        f"{name} {_plain(number)}" for name, number in record["versions"].items()
    ) + "."  # fmt: skip
    yield ""


def _evaluation(record: Mapping[str, Any]) -> Iterator[str]:
    yield "## Evaluation"
    yield ""
    if not record["evaluation"]:
        yield "None: the set holds no examples out, or none were asked for."
    else:
        yield "On examples over databases of which none was trained on, replies at temperature 0:"
        yield ""
        yield "| | share | 95 % interval (Wilson) | n |"
        yield "|---|---|---|---|"
    for name, share in record["evaluation"].items():
        interval = f"{share['low']:.1%} to {share['high']:.1%}"
        yield f"| {name} | {share['value']:.1%} | {interval} | {share['total']:,} |"
    if record["role"] == "linker":
        yield ""
        yield "Tables of one question aren't drawn one by one: their intervals are too narrow."
    yield ""


def _limits() -> Iterator[str]:
    yield "## Limits"
    yield ""
    yield "- The figures are of one step at prompts whose earlier steps went as in training. What a"
    yield "  whole recipe answers is measured by `sqlwright evaluate`."
    yield "- On databases and questions unlike those of its data it may be worse than the base"
    yield "  model."
    yield "- Its queries are as untrusted as any model's: sqlwright runs them read-only."
    yield "- The licences of the base model and of the data hold for this adapter, too. Nobody has"
    yield "  looked at them here: see to them before you pass it on."
    yield ""


def _plain(value: object) -> str:
    """A name or path within a line of Markdown: no line break, no mark that ends its cell."""
    text = " ".join(str(value).split())
    return text.replace("`", "'").replace("|", "/").replace("<", "&lt;")
