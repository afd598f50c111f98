"""Recipes run against servers that others wrote, with a tiny model of random weights.

    python -m benchmarks.real_servers FOLDER [--install] [--only NAME ...] [--write]

FOLDER keeps an environment for each server, the model (`benchmarks/tiny_model.py` makes it) and the
servers' logs. `--install` puts the servers into their environments first: some 600 MB, and
llama.cpp is compiled. Without it those that aren't there are left out. `llama-server` is taken from
the PATH, or from where `--llama-server` says. `--write` puts the table into docs/measuring.md.

The model writes nonsense, so recipes are to end cleanly, with a failure or a stand-in. Each server
is asked whether prompts arrive whole, seeds repeat, several replies differ, replies keep to a JSON
schema, and how it says that a prompt is too long, a model unknown, a parameter bad.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.marked import write_between
from tokenizers import Tokenizer

import sqlwright
from sqlwright.demo.business import write_business
from sqlwright.events import Event, ModelCalled, ReplyUnreadable
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions
from sqlwright.messages import Message, Missing, Reply, Request, Sample, Text, Tool
from sqlwright.protocols import Run
from sqlwright.spending import parse_budget

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measuring.md"
BEGINS, ENDS = "<!-- real servers: begins -->", "<!-- real servers: ends -->"
CONTEXT = 16_384
RECIPE_SECONDS = 60.0
SYSTEM, WORDS = "You help.", "Which customers ordered more than once?"
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "tables": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["reasoning", "tables"],
    "additionalProperties": False,
}
TOOL = Tool(
    "look_up", "Find a stored value.", {"type": "object", "properties": {"x": {"type": "string"}}}
)
SHORT = (("reply_tokens", 200),)
"""At temperature 0 the model repeats itself as long as it may."""
QUESTION = "Which customer in Munich has the most orders?"
RECIPES: Mapping[str, Sequence[str]] = {
    "baseline": (),
    "chess-ir-ss-cg": (),
    "chess-ir-cg-ut": (
        "samples[1].count=2",
        "samples[2].count=2",
        "selection.generate_tests.tests=3",
    ),
    "chess-agents": (),
}


@dataclass(frozen=True)
class Server:
    """A server, and how it is installed and started."""

    name: str
    package: str
    """Whose version is told; empty for a program that tells its own."""
    requires: Sequence[str]
    command: Callable[[Path, Path, int], Sequence[str]]
    """The command line by environment, model's folder and port."""
    model: str = "tiny"
    """The model's name there; empty where it is the path."""
    provider: str = "openai-compatible"
    capabilities: tuple[tuple[str, bool | int], ...] = ()
    """What a user would say about it in `[llm.capabilities]`."""
    behind: str = ""
    """The server it is a gateway to."""
    environment: Mapping[str, str] = field(default_factory=dict)


def _llama_server(place: Path, model: Path, port: int) -> Sequence[str]:
    return (str(place), "-m", str(model / "tiny.gguf"), "--host", "127.0.0.1",
            "--port", str(port), "-c", str(CONTEXT), "-np", "1", "--alias", "tiny", "--jinja",
            "--offline")  # fmt: skip


SERVERS = (
    Server(
        "transformers serve",
        "transformers",
        ("torch==2.13.0", "transformers[serving]", "gguf"),
        lambda place, model, port: (
            str(place / "bin" / "transformers"), "serve", str(model / "hf"), "--device", "cpu",
            "--host", "127.0.0.1", "--port", str(port),
        ),
        model="",
        capabilities=(("json_schema", True), ("n", True), *SHORT),
    ),
    Server(
        "llama-cpp-python",
        "llama-cpp-python",
        ("llama-cpp-python[server]",),
        lambda place, model, port: (
            str(place / "bin" / "python"), "-m", "llama_cpp.server", "--model",
            str(model / "tiny.gguf"), "--model_alias", "tiny", "--n_ctx", str(CONTEXT),
            "--host", "127.0.0.1", "--port", str(port),
        ),
        capabilities=(("json_schema", True), ("n", True), *SHORT),
    ),
    Server(
        "llama.cpp llama-server", "", (), _llama_server, provider="llamacpp", capabilities=SHORT
    ),
    Server(
        "LiteLLM proxy",
        "litellm",
        ("litellm[proxy]",),
        lambda place, _, port: (
            str(place / "bin" / "litellm"), "--model", "openai/tiny",
            "--api_base", f"http://127.0.0.1:{port + 1}/v1", "--drop_params",
            "--host", "127.0.0.1", "--port", str(port),
        ),
        model="openai/tiny",
        capabilities=(("json_schema", True), ("tools", True), *SHORT),
        behind="llama-cpp-python",
        environment={
            "OPENAI_API_KEY": "none",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        },
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Started:
    """A server that runs."""

    server: Server
    version: str
    url: str
    model: str
    tokenizer: Tokenizer

    def options(self, **more: Any) -> LlmOptions:
        given: dict[str, Any] = {
            "model": f"{self.server.provider}/{self.model}",
            "base_url": self.url,
            "capabilities": self.server.capabilities,
            "cache": False,
            "timeout": 120.0,
            "concurrency": 1,
        }
        return LlmOptions(**{**given, **more})

    def ask(self, *, options: LlmOptions | None = None, **request: Any) -> tuple[Sample, ...]:
        """Replies to one request, through the gate and all that lies behind it."""
        words = request.pop("words", WORDS)
        messages = (
            Message("system", Text.of(SYSTEM, "template")),
            Message("user", Text.of(words, "question")),
        )
        given: dict[str, Any] = {"temperature": 1.0, "max_tokens": 200, "seed": 7}
        models = Models({}, options or self.options(), environ={})
        try:
            model: Any = models["llm"]
            wanted = Request(messages, **{**given, **request})
            (samples,) = model.complete([wanted], Run(seconds=240), step="check")
        finally:
            models.close()
        return tuple(samples)


def said(sample: Sample) -> str:
    return sample.text if isinstance(sample, Reply) else f"({sample.kind}: {sample.message})"


def refusal(started: Started, sample: Sample, *words: str) -> str:
    """How a refusal was understood: one with these words is."""
    if isinstance(sample, Reply):
        return "answers all the same"
    message = sample.message.replace(f"{started.server.provider}/{started.model}", "the model")
    return "understood" if any(word in message for word in words) else f"**{message}**"


def arrives(started: Started) -> str:
    """Whether the server counts the tokens that the chat template makes of the messages."""
    (reply,) = started.ask()
    template = f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{WORDS}<|im_end|>\n"
    count = len(started.tokenizer.encode(f"{template}<|im_start|>assistant\n").ids)
    if isinstance(reply, Missing):
        return f"**{said(reply)}**"
    (other,) = started.ask(words="Name three suppliers, the cheapest first.")
    if said(other) == said(reply):
        return "**the reply doesn't depend on it**"
    return "whole" if reply.prompt_tokens == count else f"**{reply.prompt_tokens}, not {count}**"


def seeds(started: Started) -> str:
    (one,), (again,), (other,) = started.ask(), started.ask(), started.ask(seed=8)
    if said(one) != said(again):
        return "**don't repeat**"
    return "repeat" if said(one) != said(other) else "**make no difference**"


def several(started: Started) -> str:
    replies = started.ask(n=3)
    texts = {said(reply) for reply in replies if isinstance(reply, Reply)}
    return "3 of 3 differ" if len(texts) == 3 else f"**{len(texts)} of 3**"


def schema(started: Started) -> str:
    can = {**dict(started.server.capabilities), "reply_tokens": 2_000}
    options = started.options(capabilities=tuple(can.items()))
    (reply,) = started.ask(reply_schema=SCHEMA, max_tokens=2_000, options=options)
    if isinstance(reply, Missing):
        return f"**{said(reply)}**"
    try:
        form = json.loads(reply.text, strict=False)  # llama-cpp-python lets line feeds pass
    except ValueError:
        return "free text"
    fits = isinstance(form, dict) and set(form) == set(SCHEMA["required"])
    return "kept" if fits else "**JSON of another form**"


def tools(started: Started) -> str:
    can = dict(started.server.capabilities) | {"tools": True}
    (reply,) = started.ask(tools=(TOOL,), options=started.options(capabilities=tuple(can.items())))
    return "taken" if isinstance(reply, Reply) else f"**{said(reply)}**"


def logprobs(started: Started) -> str:
    can = dict(started.server.capabilities) | {"logprobs": True}
    options = started.options(capabilities=tuple(can.items()))
    (reply,) = started.ask(logprobs=2, options=options)
    if isinstance(reply, Missing):
        return f"**{said(reply)}**"
    told = "".join(token.token for token in reply.logprobs)
    if not told:
        return "none"
    return "of the reply" if told.strip() == reply.text.strip() else "**of another text**"


def context(started: Started) -> str:
    """Whether the server was asked how much it takes, and said."""
    models = Models({}, started.options(), environ={})
    try:
        model: Any = models["llm"]
        asked = Request((Message("user", Text.of(WORDS, "question")),), max_tokens=5)
        model.complete([asked], Run(seconds=60), step="check")
        told = model.capabilities.context_tokens
    finally:
        models.close()
    return "told" if told == CONTEXT else "not told"


def too_long(started: Started) -> str:
    """By the server, not by us: it is sent as if there were room."""
    can = {**dict(started.server.capabilities), "context_tokens": 10_000_000}
    options = started.options(capabilities=tuple(can.items()), retrying=1.0)
    (reply,) = started.ask(words="customers and orders " * CONTEXT, max_tokens=5, options=options)
    return refusal(started, reply, "too long")


def no_model(started: Started) -> str:
    name = f"{started.server.provider}/nobody/such-model"
    options = started.options(model=name, retrying=1.0)
    (reply,) = started.ask(options=options)
    return refusal(started, reply, "model's name")


def bad_parameter(started: Started) -> str:
    (reply,) = started.ask(temperature=-1.0, options=started.options(retrying=1.0))
    if isinstance(reply, Reply):
        return "left out, or taken"
    return refusal(started, reply, "refused")


CHECKS: Mapping[str, Callable[[Started], str]] = {
    "prompt": arrives,
    "seeds": seeds,
    "n = 3": several,
    "JSON schema": schema,
    "tools": tools,
    "log probabilities": logprobs,
    "context size": context,
    "too long a prompt": too_long,
    "unknown model": no_model,
    "bad temperature": bad_parameter,
}


def run_recipe(started: Started, recipe: str, folder: Path) -> str:
    """A recipe on the demo's database: how it ended, its calls, replies that couldn't be read."""
    called = unread = failed = 0

    def count(event: Event) -> None:
        nonlocal called, unread, failed
        if isinstance(event, ModelCalled):
            called += 1
            failed += any(isinstance(sample, Missing) for sample in event.replies)
        unread += isinstance(event, ReplyUnreadable)

    with sqlwright.open(
        folder / "demo.sqlite",
        recipe=recipe,
        overrides=RECIPES[recipe],
        llm=started.options(budget=parse_budget("80 calls")),
        home=folder / "home",
        seconds=RECIPE_SECONDS,
        environ={},
    ) as session:
        answer = session.ask(QUESTION, on_event=count)
    ended = "stand-in answers" if answer.answered_by == "stand_in" else answer.status
    told = f"{ended}; {called} requests, {unread} unread"
    return f"{told}, {failed} failed" if failed else told


@contextmanager
def running(
    server: Server, place: Path, folder: Path, port: int, environment: Mapping[str, str]
) -> Iterator[None]:
    """The server's process, until the block ends. Raises SystemExit if it never listens."""
    line = server.command(place, folder / "model", port)
    with (folder / f"{server.name.replace(' ', '-')}.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(line, stdout=log, stderr=log, env=environment, cwd=folder)
        try:
            end = time.monotonic() + 180
            while not _listens(port):
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"{server.name} didn't start; see {log.name}")
                time.sleep(0.5)
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _listens(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5):
            return True
    except urllib.error.HTTPError as error:
        return error.code != 503  # llama-server, while it loads the model
    except OSError:
        return False


def _environment(server: Server, folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf-home")}
    (folder / "hf-home" / "hub").mkdir(parents=True, exist_ok=True)
    return {**kept, **offline, **server.environment}


def version(server: Server, place: Path) -> str:
    if server.package:
        code = f"import importlib.metadata as m; print(m.version({server.package!r}))"
        line = [str(place / "bin" / "python"), "-c", code]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
    told = subprocess.run([str(place), "--version"], capture_output=True, text=True, check=False)
    lines = (told.stdout + told.stderr).splitlines()
    return next((each.split(":", 1)[1].strip() for each in lines if "version" in each), "unknown")


def place_of(server: Server, folder: Path, program: str) -> Path | None:
    """The server's environment, or its program; None where it isn't there."""
    if server.requires:
        place = folder / server.name.replace(" ", "-")
        return place if (place / "bin" / "python").exists() else None
    found = shutil.which(program)
    return None if found is None else Path(found)


def install(server: Server, folder: Path) -> None:
    place = folder / server.name.replace(" ", "-")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    line = [str(place / "bin" / "python"), "-m", "pip", "install", "-q", *server.requires]
    subprocess.run(line, check=True)


def measure(
    server: Server, place: Path, folder: Path, others: Mapping[str, Path], port: int
) -> dict[str, str]:
    """The row of one server."""
    tokenizer = Tokenizer.from_file(str(folder / "model" / "hf" / "tokenizer.json"))
    url = f"http://127.0.0.1:{port}/v1"
    told, name = version(server, place), server.model or str(folder / "model" / "hf")
    started = Started(server, told, url, name, tokenizer)
    row = {"server": server.name, "version": told}

    def fill() -> None:
        with running(server, place, folder, port, _environment(server, folder)):
            for name, check in CHECKS.items():
                row[name] = check(started)
                print(f"{server.name}: {name}: {row[name]}", flush=True)
            for recipe in RECIPES:
                row[recipe] = run_recipe(started, recipe, folder)
                print(f"{server.name}: {recipe}: {row[recipe]}", flush=True)

    if server.behind:
        (other,) = (each for each in SERVERS if each.name == server.behind)
        with running(other, others[other.name], folder, port + 1, _environment(other, folder)):
            fill()
    else:
        fill()
    return row


def _kept(server: Server, folder: Path) -> Path:
    """Where the last outcome of a server is kept, so that they can be run one at a time."""
    return folder / f"{server.name.replace(' ', '-')}.json"


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """The rows as a table with a column for each server."""
    heads = [f"{row['server']} {row['version']}" for row in rows]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(rows) + 1) + "|"]
    lines += [
        f"| {what} | " + " | ".join(row[what] for row in rows) + " |"
        for what in (*CHECKS, *RECIPES)
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--only", action="append", metavar="NAME", help="part of a server's name")
    parser.add_argument("--llama-server", default="llama-server", metavar="PATH")
    parser.add_argument("--port", type=int, default=8_371, help="this one and the next are used")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for server in SERVERS if options.install else ():
        if server.requires and place_of(server, folder, "") is None:
            install(server, folder)
    found = {server.name: place_of(server, folder, options.llama_server) for server in SERVERS}
    there = {name: place for name, place in found.items() if place is not None}
    maker = there.get("transformers serve")
    if maker is None:
        raise SystemExit("transformers makes the model: run with --install")
    line = [str(maker / "bin" / "python"), str(ROOT / "benchmarks" / "tiny_model.py")]
    if not (folder / "model" / "tiny.gguf").exists():
        subprocess.run([*line, str(folder / "model")], check=True, stderr=subprocess.DEVNULL)
    if not (folder / "demo.sqlite").exists():
        write_business(folder / "demo.sqlite")
    for server in SERVERS:
        if options.only and not any(part in server.name for part in options.only):
            continue
        if server.name not in there or (server.behind and server.behind not in there):
            print(f"{server.name}: not installed, left out")
            continue
        row = measure(server, there[server.name], folder, there, options.port)
        _kept(server, folder).write_text(json.dumps(row), "utf-8")
    kept = [_kept(server, folder) for server in SERVERS]
    made = table([json.loads(path.read_text("utf-8")) for path in kept if path.exists()])
    print(made)
    if options.write:
        write_between(PAGE, BEGINS, ENDS, made)


if __name__ == "__main__":
    main()
