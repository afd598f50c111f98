"""Files beside a golden set, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from sqlwright.errors import DatasetError


def write_whole(path: Path, text: str) -> None:
    """Write a file aside, then rename it; one that is replaced hands on its mode. Raises
    DatasetError."""
    place = path.resolve()  # a link stays one
    aside = place.with_name(place.name + ".part")
    try:
        aside.write_text(text, encoding="utf-8", newline="")
        if place.is_file():
            aside.chmod(place.stat().st_mode & 0o777)
        aside.replace(place)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise DatasetError(f"{path} can't be written: {error.strerror}") from None
