"""Recipes: YAML in, a checked step out.

A recipe is a name, a description and a list of steps. A step is its registry name, with options
where the defaults don't suit; options are exactly the fields of the step's dataclass. Combinators
nest:

    steps:
      - retrieval.substrings: {limit: 20}
      - when: {condition: many_columns, then: [schema_linking.embedded], otherwise: []}
      - parallel: [[generation.embedded], [generation.embedded: {beam: 2}]]
      - samples: {count: 4, workers: 4, steps: [generation.direct, repair.revise]}
      - for_each: {field: candidates, steps: [repair.execution_guided]}
      - repeat_until: {condition: has_rows, rounds: 2, steps: [repair.execution_guided]}
      - agent: {task: find values, goal: values, steps: [retrieval.values]}
      - agent: {task: T, steps: [tool: {name: N, purpose: P, steps: [generation.direct]}]}
      - by_group: {most: 3, steps: [schema_linking.embedded, generation.embedded]}
      - sub_questions: {steps: [generation.sub_sql, repair.execute, repair.refine]}
      - stand_in: {steps: [schema_linking.embedded, generation.embedded]}
      - escalate: {sure: 0.8, steps: [tier: {name: N, steps: [generation.direct]}]}
      - selection.critic

After its steps a recipe of language models may have embedded ones at its side, by the key
`beside`: [stand_in, second_opinion] (`beside.yaml` has the steps).

Every step also has the option `enabled`; `false` leaves it out, which is how an ablation is an
override. Options of combinators are overridden alike: `samples.count=2`,
`repeat_until[2].rounds=1` (`overrides` says how they are written).

The same object can be built in Python with `running.combinators` and `running.control_flow`; YAML
adds no power. Unknown names, keys and options are refused with the known ones. Numbers are bounded,
those that multiply one another together: a recipe may be somebody else's.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from copy import deepcopy
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from dataclasses import Field as DataclassField
from functools import lru_cache
from importlib.resources import files
from inspect import isabstract
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sqlwright.boundary.named import unknown
from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.errors import ConfigError
from sqlwright.protocols import Step
from sqlwright.recipes import registry
from sqlwright.recipes.entries import (
    COMBINATORS,
    RecipeEntry,
    explained,
    option_value,
    read_entries,
    refuse_unknown,
)
from sqlwright.recipes.overrides import (
    Override,
    aimed,
    changed_options,
    parse_override,
    with_whole_options,
)
from sqlwright.running import combinators, control_flow
from sqlwright.running.combinators import NamedStep
from sqlwright.running.control_flow import Condition
from sqlwright.running.fit import check_fit

LARGEST = 64 * 1024
"""Bytes a recipe file may have; chosen."""
MOST_TIMES = 1_000
"""Runs of the steps in one combinator at most, and how many at once; chosen."""
ONE_REPLY = 56_000
"""Tokens for a recipe that asks for one reply: with reasoning by the usual effort, and once more
with twice the room. Chosen."""
FURTHER_REPLY = 8_000
"""Tokens for each further reply. Chosen: they have some hundred, with reasoning some thousand."""
BESIDE = "recipes/beside.yaml"
"""Sequences of embedded models that recipes put after their steps by name."""
MOST_RUNS = 10_000
"""Runs of all steps of a recipe together at most, each reply to a request counted; chosen."""


@dataclass(frozen=True)
class Recipe:
    """A recipe ready to run, and what it came from, overrides included."""

    name: str
    description: str
    step: Step
    source: Mapping[str, Any] = field(default_factory=dict)
    replies: int = 0
    """Replies of language models that its steps ask for at most, as far as the recipe tells."""

    @property
    def reply_tokens(self) -> int:
        """Tokens that those may have in all, where no budget names any; 0 without a model."""
        return ONE_REPLY + FURTHER_REPLY * (self.replies - 1) if self.replies else 0

    @property
    def asks(self) -> tuple[str, ...]:
        """The language models its steps name, an empty name being the run's own."""
        steps = combinators.walk(self.step)
        return tuple(dict.fromkeys(name for step in steps for name in step.language_models))

    def asked_of(self, models: Container[str]) -> tuple[str, ...]:
        """Those of `asks` that must be at hand: all but the run's own model where nothing needs
        one and `models` has none."""
        spared = self.spares_model and "llm" not in models
        return tuple(name for name in self.asks if name or not spared)

    @property
    def needs_model(self) -> bool:
        """True if it can't answer without a language model of the run's."""
        return _needs_own(self.step)

    @property
    def spares_model(self) -> bool:
        """True if it answers without the run's language model, too, and asks it where that pays."""
        return "" in self.asks and not self.needs_model

    @property
    def roles(self) -> tuple[str, ...]:
        """The embedded models its steps use."""
        steps = combinators.leaves(self.step)
        return tuple(dict.fromkeys(role for step in steps for role in step.roles))

    @property
    def prepared(self) -> frozenset[str]:
        """The things its steps read that `prepare` makes only where they are asked for."""
        steps = combinators.leaves(self.step)
        return frozenset(one for step in steps for one in step.prepared)

    @property
    def uses_history(self) -> bool:
        """True if earlier questions can matter: prompts show them to language models, and steps of
        others may do anything; the embedded models read each question on its own."""
        return any(
            step.language_models or not type(step).__module__.startswith("sqlwright.")
            for step in combinators.leaves(self.step)
        )


class _RecipeFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    description: str = ""
    steps: list[Any]
    beside: list[str] = Field(default_factory=list)


_Times = Annotated[int, Ge(1), Le(MOST_TIMES)]
_REPEATING: Mapping[str, tuple[str, int]] = {
    # combinator: the option that says how often it runs what is in it, and its usual value
    "samples": ("count", 1),
    "repeat_until": ("rounds", 3),
}
_TIMES_OF_SEQUENCES: Mapping[str, str] = {
    "agent": "turns", "by_group": "most", "sub_questions": "most",
}  # fmt: skip
"""The same of sequences of a kind of their own, whose usual value is their field's."""


def recipe_names() -> tuple[str, ...]:
    """The recipes that ship with the package."""
    return tuple(registry.RECIPES)


def load_recipe(
    name_or_path: str, overrides: Sequence[str] = (), *, allow_code: bool = False
) -> Recipe:
    """A shipped recipe by name or any by path, with overrides like `generation.embedded.beam=4`.

    Raises ConfigError saying what doesn't fit, where, and what would.
    """
    text, origin = _read(name_or_path)
    return parse_recipe(text, overrides, allow_code=allow_code, origin=origin)


def parse_recipe(
    text: str, overrides: Sequence[str] = (), *, allow_code: bool = False, origin: str = "recipe"
) -> Recipe:
    """A recipe from its YAML text. Raises ConfigError."""
    loaded = deepcopy(_as_yaml(text, origin))
    if not isinstance(loaded, dict):
        raise ConfigError(f"{origin}: a recipe is a mapping with the keys name and steps")
    refuse_unknown(loaded, _RecipeFile.model_fields, f"{origin}: key")
    try:
        file = _RecipeFile.model_validate(loaded)
    except ValidationError as error:
        raise ConfigError(f"{origin}: {explained(error)}") from None
    steps = [*file.steps, *_beside(file.beside, origin)]
    entries = read_entries(steps, origin)
    changed = aimed([parse_override(override) for override in overrides], entries, origin)
    builder = _Builder(changed, allow_code=allow_code)
    step = combinators.sequence(*builder.steps(entries))
    try:
        written = check_fit(step)
    except ConfigError as error:
        raise ConfigError(f"{origin}: {error}", hint=error.hint) from None
    if "selected" not in written:
        raise ConfigError(
            f"{origin}: no step selects a candidate",
            hint="End it with a selection step, if only selection.first_valid.",
        )
    source = {"name": file.name, "steps": steps, "overrides": list(overrides)}
    return Recipe(file.name, file.description, step, source, builder.replies)


def _beside(names: Sequence[str], origin: str) -> list[Any]:
    """The sequences of embedded models that a recipe names. Raises ConfigError."""
    if not names:
        return []
    shipped = files("sqlwright").joinpath(BESIDE).read_text(encoding="utf-8")
    known = deepcopy(_as_yaml(shipped, BESIDE))
    refuse_unknown(dict.fromkeys(names), known, f"{origin}: sequence")
    return [{name: known[name]} for name in names]


@lru_cache(maxsize=32)  # every session loads one, mostly the same
def _as_yaml(text: str, origin: str) -> Any:
    return read_yaml(text, origin)


def _needs_own(step: Step) -> bool:
    """True if a step asks the run's own model where there is none, too."""
    if isinstance(step, NamedStep):
        return _needs_own(step.step)
    if isinstance(step, combinators.Combinator) and step.spares_model:
        return False
    if isinstance(step, combinators.Combinator) and any(map(_needs_own, step.children)):
        return True
    return "" in step.language_models


def options_of(step_class: type[Any]) -> dict[str, DataclassField[Any]]:
    """A step's options: the fields its constructor takes."""
    if not is_dataclass(step_class):
        return {}
    return {f.name: f for f in fields(step_class) if f.init and not f.name.startswith("_")}


@dataclass
class _Builder:
    """Turns entries into steps, counting steps of one name as overrides by position do."""

    overrides: Sequence[Override]
    allow_code: bool
    seen: dict[str, int] = field(default_factory=dict)
    times: int = 1
    """Number of runs of what is being built, by the combinators around it."""
    runs: int = 0
    replies: int = 0
    """The part of them that is replies of language models."""

    def steps(self, entries: Sequence[RecipeEntry]) -> list[Step]:
        built = (self.step(entry) for entry in entries)
        return [step for step in built if step is not None]

    def step(self, entry: RecipeEntry) -> Step | None:
        """The step, or None where it isn't enabled."""
        options = self._options(entry)
        enabled = option_value(options.pop("enabled", True), bool, entry, "enabled")
        if entry.name not in COMBINATORS:
            return self._leaf(entry, options) if enabled else None
        return self._combinator(entry, options) if enabled else None

    def _options(self, entry: RecipeEntry) -> dict[str, Any]:
        """The entry's options with the overrides for it."""
        self.seen[entry.name] = place = self.seen.get(entry.name, 0) + 1
        return changed_options(entry.options, self.overrides, entry.name, place)

    def _combinator(self, entry: RecipeEntry, options: Mapping[str, Any]) -> Step:
        known = {*COMBINATORS[entry.name][1], "enabled"}
        refuse_unknown(options, known, f"{entry.where}: option")
        fields_of = (
            options_of(registry.load_sequence(entry.name))
            if entry.name in registry.SEQUENCES
            else {}
        )
        options = with_whole_options(options, fields_of, entry.where)
        workers = option_value(options.get("workers", 1), _Times, entry, "workers")
        before, self.times = self.times, self.times * self._repeats(entry, options)
        try:
            return self._combined(entry, options, workers)
        finally:
            self.times = before

    def _repeats(self, entry: RecipeEntry, options: Mapping[str, Any]) -> int:
        """Number of runs of the steps in a combinator, as far as the recipe says."""
        name, usual = _REPEATING.get(entry.name, ("", 1))
        if entry.name in _TIMES_OF_SEQUENCES:
            name = _TIMES_OF_SEQUENCES[entry.name]
            usual = getattr(registry.load_sequence(entry.name), name)
        return option_value(options.get(name, usual), _Times, entry, name) if name else 1

    def _combined(self, entry: RecipeEntry, options: Mapping[str, Any], workers: int) -> Step:
        if entry.name == "parallel":
            branches = [combinators.sequence(*self.steps(branch)) for branch in entry.branches]
            return control_flow.parallel(*branches, workers=workers)
        inner = {
            key: combinators.sequence(*self.steps(entries)) for key, entries in entry.inner.items()
        }
        if entry.name == "sequence":
            return inner["steps"]
        if entry.name in registry.SEQUENCES:
            special = registry.load_sequence(entry.name)
            hints = get_type_hints(special)
            typed = {k: option_value(v, hints[k], entry, k) for k, v in options.items()}
            try:
                made: Step = special(inner["steps"].steps, **typed)
                return made
            except ValueError as error:
                raise ConfigError(f"{entry.where}: {error}") from None
        if entry.name == "samples":
            count = self._repeats(entry, options)
            at_once = workers if "workers" in options else count
            first = option_value(options.get("first", 1), _Times, entry, "first")
            return control_flow.samples(count, inner["steps"], workers=at_once, first=first)
        if entry.name == "for_each":
            return control_flow.for_each(_text(entry, "field"), inner["steps"], workers=workers)
        condition = self._condition(entry)
        if entry.name == "when":
            return control_flow.when(condition, inner["then"], inner.get("otherwise"))
        rounds = self._repeats(entry, options)
        return control_flow.repeat_until(condition, inner["steps"], rounds=rounds)

    def _condition(self, entry: RecipeEntry) -> Condition:
        try:
            found: Condition = registry.load_condition(_text(entry, "condition"))
        except ConfigError as error:
            raise ConfigError(f"{entry.where}: {error}", hint=error.hint) from None
        return found

    def _leaf(self, entry: RecipeEntry, options: Mapping[str, Any]) -> Step:
        try:
            step_class = registry.load_step(entry.name, allow_code=self.allow_code)
        except ConfigError as error:
            raise ConfigError(f"{entry.where}: {error}", hint=error.hint) from None
        if not issubclass(step_class, Step) or isabstract(step_class):
            raise ConfigError(
                f"{entry.where}: {step_class.__qualname__} is not a step",
                hint="A step inherits from sqlwright.protocols.Step and has reads, writes and "
                "__call__.",
            )
        known = options_of(step_class)
        refuse_unknown(options, known, f"{entry.where}: option")
        options = with_whole_options(options, known, entry.where)
        required = [
            name
            for name, option in known.items()
            if option.default is MISSING and option.default_factory is MISSING
        ]
        absent = [name for name in required if name not in options]
        if absent:
            raise ConfigError(f"{entry.where}: {entry.name} needs {', '.join(absent)}")
        hints = get_type_hints(step_class)
        typed = {key: option_value(value, hints[key], entry, key) for key, value in options.items()}
        self._count(entry, typed, step_class)
        try:
            step: Step = step_class(**typed)
            return NamedStep(entry.name, step, _instead(step))
        except ValueError as error:
            raise ConfigError(f"{entry.where}: {error}") from None

    def _count(
        self, entry: RecipeEntry, options: Mapping[str, Any], step_class: type[Step]
    ) -> None:
        """Raise ConfigError where a recipe, which may be somebody else's, would never end."""
        replies = int(getattr(options.get("sampling"), "n", 1))
        self.runs += self.times * replies
        self.replies += self.times * replies * ("sampling" in options_of(step_class))
        if self.runs > MOST_RUNS:
            raise ConfigError(
                f"{entry.where}: up to and with it, the steps run {self.runs:,} times; "
                f"{MOST_RUNS:,} is the most",
                hint="Lower the counts, rounds and n around it.",
            )


def _instead(step: Step) -> NamedStep | None:
    """The step's variant for a spent budget, which it names as `cheaper`."""
    return NamedStep(step.cheaper, registry.load_step(step.cheaper)()) if step.cheaper else None


def _read(name_or_path: str) -> tuple[str, str]:
    if name_or_path in registry.RECIPES:
        resource = files("sqlwright").joinpath(registry.RECIPES[name_or_path])
        return resource.read_text(encoding="utf-8"), f"recipe {name_or_path}"
    path = Path(name_or_path)
    if path.suffix not in {".yaml", ".yml"} and len(path.parts) == 1:
        raise unknown("recipe", name_or_path, recipe_names())
    try:
        if path.stat().st_size > LARGEST:
            raise ConfigError(f"{path} is too large for a recipe")
        return path.read_text(encoding="utf-8"), str(path)
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"the recipe {path} can't be read: {problem}") from None


def _text(entry: RecipeEntry, key: str) -> str:
    value = entry.options[key]
    if not isinstance(value, str):
        raise ConfigError(f"{entry.where}: {key} is a name, not {value!r}")
    return value
