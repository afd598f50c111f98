"""A calibration that a user fitted to questions of their own: to one database, recipe and model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sqlwright.confidence.calibration import Calibration
from sqlwright.errors import WorkspaceError

KIND = "sqlwright calibration"
VERSION = 1
"""Version of the file; grows when older readers can't read it."""

Kind = tuple[str, bool]
"""A recipe, and whether its embedded models alone judged the answers. A file has one of each."""


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """The grounds of a user's calibration, and by how much it is off."""

    recipe: str
    embedded: bool
    """True if it judges queries of embedded models, false for those of a language model."""
    model: str
    """The language model, or a digest of the embedded ones: of any other it knows nothing."""
    questions: int
    """Those that were answered."""
    right: int
    before: tuple[float, float, float] | None
    """Calibration error without it, and the ends of its 95 % interval; None where nothing gave a
    probability before."""
    after: tuple[float, float, float]
    """The same with it, of questions that it wasn't fitted to."""
    created: str
    """UTC, ISO 8601."""

    @property
    def words(self) -> str:
        """The questions that it was fitted to."""
        return f"{self.questions} of your own questions ({self.right} answered right)"


@dataclass(frozen=True)
class OwnCalibration:
    """A calibration with what it was fitted to."""

    report: CalibrationReport
    calibration: Calibration


def figure_words(figure: tuple[float, float, float]) -> str:
    """A figure with its interval."""
    value, low, high = figure
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def to_json(known: Mapping[Kind, OwnCalibration]) -> str:
    """Calibrations as a file's text."""
    listed = [
        {**asdict(one.report), "calibration": one.calibration.to_data()} for one in known.values()
    ]
    return json.dumps({"kind": KIND, "version": VERSION, "calibrations": listed}, indent=1)


def read_own(path: Path) -> dict[Kind, OwnCalibration]:
    """The calibrations of a file by kind; none where there is no file. Raises `WorkspaceError`
    when it is damaged or of another version."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["kind"] != KIND or data["version"] != VERSION:
            raise ValueError(f"it is {data['kind']!r} of version {data['version']!r}")
        found = [_one(each) for each in data["calibrations"]]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise WorkspaceError(
            f"the calibration in {path} can't be used: {error}",
            hint="Fit it again with 'sqlwright lab calibrate', or remove it with its --reset.",
        ) from error
    return {(one.report.recipe, one.report.embedded): one for one in found}


def _one(data: Mapping[str, Any]) -> OwnCalibration:
    told = {field.name: data[field.name] for field in fields(CalibrationReport)}
    for name in ("before", "after"):
        if told[name] is not None:
            value, low, high = map(float, told[name])
            told[name] = (value, low, high)
    return OwnCalibration(CalibrationReport(**told), Calibration.from_data(data["calibration"]))
