"""A calibration that a user fitted to questions of their own: to one database, recipe and model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sqlwright.confidence.calibration import Calibration
from sqlwright.confidence.figures import Figure
from sqlwright.errors import WorkspaceError

KIND = "sqlwright calibration"
VERSION = 1


@dataclass(frozen=True)
class OwnCalibration:
    """A calibration with what it was fitted to."""

    recipe: str
    embedded: bool
    """True if it judges queries of embedded models, false for those of a language model."""
    model: str
    """The language model, or a digest of the embedded ones: of any other it knows nothing."""
    calibration: Calibration
    questions: int
    right: int
    before: Figure | None
    """Calibration error without it; None where nothing gave a probability before."""
    after: Figure
    """The same with it, of questions that it wasn't fitted to."""
    created: str
    """UTC, ISO 8601."""

    @property
    def words(self) -> str:
        """What it was fitted to."""
        return (
            f"{self.questions} questions of this database with known answers ({self.right} right)"
        )


def to_json(known: Mapping[str, OwnCalibration]) -> str:
    """Calibrations by recipe as a file's text."""
    listed = [{**asdict(one), "calibration": one.calibration.to_data()} for one in known.values()]
    return json.dumps({"kind": KIND, "version": VERSION, "calibrations": listed}, indent=1)


def read_own(path: Path) -> dict[str, OwnCalibration]:
    """The calibrations of a file by recipe; none where there is no file. Raises `WorkspaceError`
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
            hint="Fit it again with 'sqlwright calibrate', or remove it with its --reset.",
        ) from error
    return {one.recipe: one for one in found}


def _one(data: Mapping[str, Any]) -> OwnCalibration:
    values = {field.name: data[field.name] for field in fields(OwnCalibration)}
    before = values["before"]
    return OwnCalibration(
        **{
            **values,
            "calibration": Calibration.from_data(values["calibration"]),
            "before": None if before is None else Figure(**before),
            "after": Figure(**values["after"]),
        }
    )
