"""Checkpoints that are whole or aren't there: the libraries write them aside, then they get their
name. Only the last one is kept.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

NAME = re.compile(r"checkpoint-(\d+)")
ASIDE = "being-written"
ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "chat_template.jinja", "tokenizer.model", "vocab.json", "merges.txt",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A whole checkpoint."""

    path: Path
    step: int

    @property
    def steps(self) -> int:
        """Steps of the whole training."""
        told = json.loads((self.path / "trainer_state.json").read_text("utf-8"))
        return int(told["max_steps"])


def clear_aside(folder: Path) -> None:
    """Empty the folder in which checkpoints are written: a kill may have left a part of one."""
    shutil.rmtree(folder / ASIDE, ignore_errors=True)
    (folder / ASIDE).mkdir(parents=True)


def finish(folder: Path, step: int) -> Checkpoint:
    """Give the checkpoint that was written aside its name, and drop the one before."""
    written, path = folder / ASIDE / f"checkpoint-{step}", folder / f"checkpoint-{step}"
    for file in sorted(written.rglob("*")):
        if file.is_file():
            _to_disk(file)
    shutil.rmtree(path, ignore_errors=True)
    written.rename(path)
    _to_disk(folder)
    for one in _all(folder):
        if one.path != path:
            shutil.rmtree(one.path, ignore_errors=True)
    return Checkpoint(path, step)


def newest(folder: Path) -> Checkpoint | None:
    """The last whole checkpoint; None where there is none."""
    return max(_all(folder), key=lambda one: one.step, default=None)


def take_adapter(checkpoint: Checkpoint, folder: Path) -> None:
    """Copy the adapter and the tokenizer of a checkpoint to a folder, which is whole or isn't
    there."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    for name in (*ADAPTER_FILES, *TOKENIZER_FILES):
        if (checkpoint.path / name).exists():
            shutil.copyfile(checkpoint.path / name, part / name)
            _to_disk(part / name)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def _all(folder: Path) -> list[Checkpoint]:
    found = (
        [] if not folder.is_dir() else [(one, NAME.fullmatch(one.name)) for one in folder.iterdir()]
    )
    return [Checkpoint(path, int(name[1])) for path, name in found if name and path.is_dir()]


def _to_disk(path: Path) -> None:
    """Have the system write a file or a folder's entries."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
