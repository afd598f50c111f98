"""Commands made of functions: loaded when called, with groups of options and a calm help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from sqlwright.cli.failure import UsageError

SETTINGS: Mapping[str, tuple[str, str]] = {
    "--remote": ("llm.remote", "true"),
    "--local": ("llm.remote", "false"),
    "--reasoning": ("llm.reasoning", '"low"'),
    "--no-cache": ("llm.cache", "false"),
    "--functions": ("functions", '["net_price"]'),
    "--no-prepare": ("prepare", "false"),
}
"""Options that were, and the setting that each is now, with a value as in the project file."""
TRAINING = frozenset(
    {
        "alpha", "batch", "beta", "checkpoint-minutes", "device", "epochs", "evaluate", "group",
        "kl", "learning-rate", "micro-batch", "precision", "quantized", "rank", "reply-tokens",
    }
)  # fmt: skip
"""Options that were, and are values of `--training` now."""
RENAMED = {"evaluate": "evaluate_questions", "reply-tokens": "max_reply_tokens"}
CONTEXT: Mapping[str, Any] = {
    "help_option_names": ["--help", "-h"],
    "max_content_width": 96,
}


class CalmCommand(TyperCommand):
    """A command that takes a text which begins with dashes for a text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        known |= {name for parameter in self.get_params(ctx) for name in parameter.secondary_opts}
        known |= set(ctx.help_option_names)
        dashes = args.index("--") if "--" in args else len(args)
        _refuse_settings(args[:dashes], known)
        # A blank before it changes neither a query nor a question, and makes it no option.
        texts = [f" {word}" if _is_text(word, known) else word for word in args[:dashes]]
        parsed: list[str] = super().parse_args(ctx, texts + args[dashes:])
        return parsed

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return [*(str(each.metavar) for each in arguments), "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, the command's own options, then those of each group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        shown: list[Any] = self.get_params(ctx)
        for each in shown:
            if each.param_type_name == "argument":
                sections["Arguments"].append((each.metavar, each.help))
            else:
                record = each.get_help_record(ctx)
                sections.setdefault(each.rich_help_panel or "Options", []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        _write_examples(self.epilog, formatter)


class CalmGroup(TyperGroup):
    """A group that loads a command when it is called, and says which there are where one is
    unknown."""

    places: Mapping[str, str] = {}
    """The commands' names and the modules of each."""
    sections: Mapping[str, Sequence[str]] = {}
    """The commands by what they are for, where help shows them so."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [
            *self.places,
            *(name for name in super().list_commands(ctx) if name not in self.places),
        ]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.places and cmd_name not in self.commands:
            self.add_command(_loaded(cmd_name, self.places[cmd_name]), cmd_name)
        return super().get_command(ctx, cmd_name)

    def advice(self, context: Any, word: str) -> str:  # noqa: ARG002
        """A hint on a word that is no command."""
        return f"Commands: {', '.join(self.list_commands(context))}."

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None:
            ctx.meta["advice"] = self.advice(ctx, args[0])  # told where the error is reported
            for name in self.places:  # so that the nearest can be named
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in (self.sections or {"Commands": self.list_commands(ctx)}).items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, self.get_command(ctx, name).get_short_help_str(200)) for name in names]
                )

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        _write_examples(self.epilog, formatter)


def command_group(
    purpose: str,
    examples: str,
    places: Mapping[str, str] | None = None,
    *,
    cls: type[CalmGroup] = CalmGroup,
) -> CalmGroup:
    """A group of commands that shows its help where none of them is named."""
    app = typer.Typer(
        cls=cls,
        add_completion=False,
        rich_markup_mode=None,
        invoke_without_command=True,
        epilog=examples,
        context_settings=dict(CONTEXT),
    )

    @app.callback(help=purpose)
    def alone(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    group: Any = get_command(app)
    group.places = places or {}
    found: CalmGroup = group
    return found


def as_command(
    name: str,
    function: Callable[..., int],
    examples: str,
    *,
    purpose: str | None = None,
    cls: type[CalmCommand] = CalmCommand,
) -> Any:
    """A function as a command; the fields of its option groups are options of the command."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, cls=cls, epilog=examples, help=purpose, context_settings=dict(CONTEXT))(
        spread(function)
    )
    return get_command(app)


def spread(function: Callable[..., int]) -> Callable[..., int]:
    """The function with a parameter for each field of a parameter that is a dataclass of
    options."""
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind = parameter.annotation
        if not is_dataclass(kind):
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = kind
        hints = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(
                each.name, parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name]
            )
            for each in fields(kind)
        ]

    def command(**given: Any) -> int:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        return function(**given)

    command.__doc__ = function.__doc__
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(command)["__signature__"] = inspect.Signature(parameters)
    return command


def _loaded(name: str, place: str) -> Any:
    """The command or group that a module has."""
    module = import_module(place)
    group = getattr(module, "group", None)
    return as_command(name, module.command, module.EXAMPLES) if group is None else group


def _refuse_settings(words: Sequence[str], known: Collection[str]) -> None:
    """Raise UsageError for an option that is a setting now."""
    for word in words:
        option = word.partition("=")[0]
        if option in known:
            continue
        if option[2:] in TRAINING and "--training" in known:
            name = RENAMED.get(option[2:], option[2:].replace("-", "_"))
            raise UsageError(
                f"{option} is no option; a value of --training is in its place",
                hint=f"Write --training {name}=VALUE.",
            )
        if option in SETTINGS:
            name, value = SETTINGS[option]
            table, _, key = name.rpartition(".")
            place = f"{key} = {value}" + (f" under [{table}]" if table else "")
            variable = f"SQLWRIGHT_{name.replace('.', '_').upper()}"
            raise UsageError(
                f"{option} is no option; the setting {name} is in its place",
                hint=f"Write {place} in sqlwright.toml, or set {variable}.",
            )


def _is_text(word: str, known: Collection[str]) -> bool:
    """True if a word that begins with a dash can't be meant as an option: its name would hold
    blanks, or it has several lines. SQL's comments begin so."""
    name = word.partition("=")[0]
    if not word.startswith("-") or name in known or (word[1:2] != "-" and word[:2] in known):
        return False
    return any(letter.isspace() for letter in name) or "\n" in word


def _write_examples(examples: str | None, formatter: Any) -> None:
    if examples:
        with formatter.section("Examples"):
            for line in examples.splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
