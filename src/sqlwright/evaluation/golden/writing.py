"""Files beside a golden set, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from sqlwright.errors import DatasetError


def write_whole(path: Path, text: str) -> None:
    """Write a file aside, then rename it. Raises DatasetError."""
    aside = path.with_name(path.name + ".part")
    try:
        aside.write_text(text, encoding="utf-8", newline="")
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise DatasetError(f"{path} can't be written: {error.strerror}") from None
