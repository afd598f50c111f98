"""Floating-point operations, tokens and time of a question, by step: MSc-SQL's table of efficiency.

    python -m benchmarks.operations FOLDER [--recipes local msc-local chase ...] [--questions 4]
        [--parameters 7.25] [--parameters selection=2.6 ...]

Operations are estimated as 2 x parameters x tokens, prompt and reply alike: a multiplication and an
addition for each weight and token. Attention over the context, lookups of words and networks of a
few thousand weights are left out. MSc-SQL counts 2,048 tokens for every call of a model; that
figure stands beside the one from counted tokens. Work that a prefix cache would save is counted.

Embedded models are measured as they run: word pieces of their encoders, padding included, and every
step of every hypothesis of the parser's decoder; a call is a run of a graph. Their parameters are
taken from the size of their graphs, which hold a byte for each. Language models are scripted
(`answering.py`): prompts are real, replies short, about 4 characters a token, and their parameters
are declared in billions, for all steps or for those whose name begins so. Seconds are those of the
step's own work, branches side by side added up; a scripted model takes none, so for language models
they say nothing of what a user waits for. Questions are the demo's.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.answering import Responder
from benchmarks.setting import prepared_demo, varied_questions

from sqlwright import api
from sqlwright.events import Event, StepEnded, StepStarted
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.local.critic.critic import Critic
from sqlwright.local.digests import DIGESTS
from sqlwright.local.embedder.onnx import (
    LOWER,
    LowerLayers,
    OnnxEmbedder,
    TextFront,
    WordTable,
    load_tokenizer,
)
from sqlwright.local.linker.linker import Linker
from sqlwright.local.models import WEIGHTS, cache_on
from sqlwright.local.parser.parser import Parser
from sqlwright.local.runtime import open_session
from sqlwright.recipes.loading import load_recipe, recipe_names

PAPER_TOKENS = 2_048
"""Tokens that MSc-SQL supposes for each call (appendix B)."""
BILLIONS = 7.25
"""Parameters of Mistral 7B v0.3, in billions."""
RECIPES = (
    "local",
    "msc-local",
    "baseline",
    "chess-ir-ss-cg",
    "chess-ir-cg-ut",
    "chase",
    "mag",
    "msc",
)


@dataclass
class Work:
    """What a step did for all questions."""

    calls: int = 0
    tokens: int = 0
    operations: float = 0.0
    supposed: float = 0.0
    """Operations if every call had as many tokens as MSc-SQL supposes."""
    seconds: float = 0.0


@dataclass
class Meter:
    """Work by step; listens to a run's events to know which step is at work."""

    work: dict[str, Work] = field(default_factory=lambda: defaultdict(Work))
    order: dict[str, None] = field(default_factory=dict)
    """The steps as they began."""
    _open: list[str] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepStarted):
            self._open.append(event.step)
            self.order.setdefault(event.step)
        elif isinstance(event, StepEnded):
            with suppress(ValueError):
                self._open.remove(event.step)

    def ran(self, parameters: float, tokens: int) -> None:
        """An embedded model read so many tokens."""
        work = self.work[self._open[-1] if self._open else "opening"]
        work.calls += 1
        work.tokens += tokens
        work.operations += 2 * parameters * tokens
        work.supposed += 2 * parameters * tokens

    def asked(self, step: str, parameters: float, tokens: int) -> None:
        """A language model read and wrote so many tokens."""
        work = self.work[step]
        work.calls += 1
        work.tokens += tokens
        work.operations += 2 * parameters * tokens
        work.supposed += 2 * parameters * PAPER_TOKENS


@dataclass
class Metered:
    """A graph that tells the meter what it reads; else as the session it stands for."""

    name: str
    meter: Meter

    def __post_init__(self) -> None:
        path = WEIGHTS / self.name
        self.session = open_session(path)
        self.parameters = path.stat().st_size

    def run(self, names: Sequence[str], feeds: Mapping[str, Any]) -> Any:
        """Run the graph and count."""
        read = feeds.get("tokens", feeds.get("lower", feeds.get("words")))
        shape = read.shape if read is not None else (0,)
        self.meter.ran(self.parameters, int(shape[0] * (shape[1] if len(shape) > 1 else 1)))
        return self.session.run(names, feeds)

    def get_inputs(self) -> Any:
        """The graph's inputs."""
        return self.session.get_inputs()


def metered_models(meter: Meter) -> dict[str, Any]:
    """The embedded models on metered graphs."""
    words = WordTable.load(WEIGHTS)
    lower: Any = Metered(LOWER, meter)
    front = TextFront(LowerLayers(lower), load_tokenizer(WEIGHTS), words)
    graphs: list[Any] = [
        Metered(name, meter)
        for name in ("embedder.onnx", "parser_encoder.onnx", "parser_decoder.onnx")
    ]
    embedder = OnnxEmbedder(front, graphs[0])
    cache = cache_on(embedder)
    return {
        "embedder": embedder,
        "parser": Parser(front, graphs[1], graphs[2]),
        "linker": Linker.load(WEIGHTS, embedder=embedder, cache=cache),
        "critic": Critic.load(WEIGHTS, embedder=embedder, weights=DIGESTS, cache=cache),
    }


def measured(recipe: str, folder: Path, count: int, sizes: Mapping[str, float]) -> Meter:
    """The work of some questions with a recipe."""
    place, meter, responder = prepared_demo(folder), Meter(), Responder(faulty=0.1)
    models = metered_models(meter)

    def reply(asked: Asked) -> str:
        said = responder.scripted(asked)
        billions = next((sizes[name] for name in sizes if asked.step.startswith(name)), BILLIONS)
        meter.asked(asked.step, billions * 1e9, (len(asked.prompt) + len(said)) // 4)
        return said

    models["llm"] = ScriptedModel(Script(otherwise=reply))
    with api.open(
        place.database, recipe=recipe, models=models, home=place.home,
        descriptions=place.descriptions, prepare=False, record=False, stand_in=False,
    ) as session:  # fmt: skip
        questions = varied_questions(count)
        session.ask(questions[0])  # what is read once for a database is no question's work
        meter.work.clear()
        for question in questions:
            answer = session.ask(question, on_event=meter)
            for time in answer.times:
                meter.order.setdefault(time.step)
                meter.work[time.step].seconds += time.seconds
    return meter


def tell(recipe: str, meter: Meter, count: int) -> None:
    """The rows of one recipe, a question's mean by step, and all steps together."""
    total = Work()
    rows = [(name, meter.work[name]) for name in meter.order if name in meter.work]
    for name, work in [*rows, ("**all**", total)]:
        cells = [
            recipe,
            name,
            f"{work.calls / count:,.1f}",
            f"{work.tokens / count:,.0f}",
            _operations(work.operations / count),
            _operations(work.supposed / count),
            f"{work.seconds / count:.3f}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
        total.calls += work.calls
        total.tokens += work.tokens
        total.operations += work.operations
        total.supposed += work.supposed
        total.seconds += work.seconds


def _operations(number: float) -> str:
    if number >= 1e11:
        return f"{number / 1e12:,.2f} T"
    return f"{number / 1e9:,.1f} G" if number >= 1e7 else "-"


def _sizes(given: Sequence[str]) -> dict[str, float]:
    """Billions of parameters by the beginning of a step's name; longer beginnings first."""
    sizes = {}
    for one in given:
        name, _, billions = one.rpartition("=")
        sizes[name] = float(billions)
    return dict(sorted(sizes.items(), key=lambda pair: -len(pair[0])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="for the database; kept")
    known = [name for name in RECIPES if name in recipe_names()]
    parser.add_argument("--recipes", nargs="+", default=known)
    parser.add_argument("--questions", type=int, default=4)
    parser.add_argument(
        "--parameters", action="append", default=[], metavar="[STEP=]BILLIONS",
        help=f"of the language model, {BILLIONS} unless said; of those steps alone",
    )  # fmt: skip
    options = parser.parse_args()
    print("| recipe | step | calls or runs | tokens | operations | at 2,048 tokens a call "
          "| own seconds |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for recipe in options.recipes:
        load_recipe(recipe)
        meter = measured(recipe, options.folder, options.questions, _sizes(options.parameters))
        tell(recipe, meter, options.questions)


if __name__ == "__main__":
    main()
