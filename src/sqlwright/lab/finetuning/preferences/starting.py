"""The adapter that a training on preferences begins with: that of a run on the right replies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.reading import file_digest
from sqlwright.lab.evaluation.files import read_object
from sqlwright.llm.vendors.adapter_folder import CONFIG, WEIGHTS


@dataclass(frozen=True, slots=True)
class StartingAdapter:
    """An adapter on disk."""

    path: Path
    digest: str
    """Of its weights and its configuration."""
    base: str
    """Digest of the base model that it was trained on; empty where no run tells it."""

    @staticmethod
    def open(path: Path) -> StartingAdapter:
        """The adapter of a run's folder, or one in peft's form. Raises ConfigError and
        DatasetError."""
        record = read_object(path / "run.json")
        if record and not record.get("ended"):
            raise ConfigError(
                f"the run in {path} hasn't ended, so there is no adapter to begin with",
                hint="Run its command again, it goes on.",
            )
        folder = path / "adapter" if record else path
        missing = [name for name in (CONFIG, WEIGHTS) if not (folder / name).is_file()]
        if missing:
            raise ConfigError(
                f"{path} holds no adapter to begin with: it has no {missing[0]}",
                hint="Name a run's folder, or an adapter that peft has saved.",
            )
        digests = [file_digest(folder / name) for name in (CONFIG, WEIGHTS)]
        return StartingAdapter(folder, "-".join(digests), _base(record))

    def check_base(self, digest: str, model: Path) -> None:
        """Raise ConfigError where the adapter belongs to another base model."""
        if self.base and self.base != digest:
            raise ConfigError(
                f"the adapter in {self.path} was trained on another base model than {model}",
                hint="Name the base model of its run, which run.json has as base_folder.",
            )


def _base(record: dict[str, object]) -> str:
    base = record.get("base")
    return str(base.get("digest", "")) if isinstance(base, dict) else ""
