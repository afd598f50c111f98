"""The user's own calibrations of a database, in a file beside what is prepared for it."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlwright.confidence.own import Kind, OwnCalibration, read_own, to_json
from sqlwright.prepare.storage.paths import (
    OWN_FILE,
    is_trustworthy,
    make_private,
    remove,
    write_private,
)

__all__ = ["OWN_FILE", "KeptCalibrations"]


class KeptCalibrations:
    """The calibrations of one file, read when first asked for. Safe to use from any thread."""

    def __init__(self, path: Path | None, *, given: bool = False) -> None:
        """With None there are none, and none can be kept. A `given` file is the user's word; in a
        folder of ours, into which others may write, none is read."""
        self.path = None if path is None else path.expanduser()
        self._given = given
        self._lock = threading.Lock()
        self._read: dict[Kind, OwnCalibration] | None = None

    def all(self) -> dict[Kind, OwnCalibration]:
        """Calibrations by kind. Raises `WorkspaceError` when the file is damaged."""
        with self._lock:
            if self._read is None:
                readable = self.path is not None and (
                    self._given or is_trustworthy(self.path.parent)
                )
                self._read = read_own(self.path) if self.path is not None and readable else {}
            return self._read

    def of(self, recipe: str, model: str, beside: str = "") -> tuple[OwnCalibration, ...]:
        """The calibration of a recipe as this model answers by it, and that of the same with a
        language model `beside` it. Raises `WorkspaceError`."""
        told = [one for (name, _), one in self.all().items() if name == recipe]
        found = tuple(one for one in told if one.report.model in {model, beside})
        return found if any(one.report.model == model for one in found) else ()

    def keep(self, one: OwnCalibration) -> None:
        """Write it beside those of other recipes, whole or not at all. Raises `WorkspaceError`."""
        if self.path is None:
            return
        known = {**self.all(), (one.report.recipe, one.report.embedded): one}
        if not self._given:
            make_private(self.path.parent)
        write_private(self.path, to_json(known).encode())
        with self._lock:
            self._read = known

    def forget(self, recipe: str = "") -> bool:
        """Remove that of a recipe, or all; whether there was any. Raises `WorkspaceError`, but not
        for a damaged file."""
        if self.path is None or not self.path.exists():
            return False
        with self._lock:
            self._read = None
        known = self.all() if recipe else {}
        left = {kind: one for kind, one in known.items() if kind[0] != recipe}
        if recipe and left == known:
            return False
        if left:
            write_private(self.path, to_json(left).encode())
        else:
            remove(self.path)
        with self._lock:
            self._read = left
        return True
