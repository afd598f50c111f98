"""Fits the calibrations that ship, and judges them on families that they weren't fitted to.

    python -m training.embedded.confidence.fit --data DATA --answers FOLDER/answers.jsonl

Writes `confidence.json` among the weights and prints the table of the left-out families. That of
language models is fitted to simulated authors (`simulated.py`): it is only where a user's own
calibration starts from.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from training.embedded.confidence.measures import EMBEDDED, WRITTEN
from training.embedded.confidence.recorded import write_recorded
from training.embedded.confidence.simulated import simulated
from training.embedded.critic.train import write
from training.embedded.pairs import load_pairs
from training.embedded.split import load_split
from training.embedded.stamp import digests

from sqlwright.confidence.calibration import Calibration, Numbers, log_odds
from sqlwright.confidence.figures import Figure, auroc, calibration_error, with_interval
from sqlwright.confidence.fitting import Sample, fit, offset_of, with_spread
from sqlwright.confidence.measures import SCORE
from sqlwright.confidence.wording import FAR, Wording
from sqlwright.local.critic.critic import JUDGED
from sqlwright.local.models import FILES, WEIGHTS

IN_VAIN = "in vain"
VAIN_WEIGHT = 0.05
"""Weight of the family that can't be answered: few of all requests are, and most of those are
refused; chosen."""
SURE = 0.8


def read_samples(lines: Iterable[Mapping[str, Any]]) -> list[Sample]:
    """The answered questions of what `collect` wrote."""
    return [
        Sample(
            {**line["measures"], SCORE: log_odds(line["raw"])},
            bool(line["right"]),
            line["family"],
            line["template"] or line["database"],
            line["question"],
            VAIN_WEIGHT if line["family"] == IN_VAIN else 1.0,
        )
        for line in lines
        if line["family"] and line["status"] == "answered" and line["raw"] is not None
    ]


def training_wording(data: Path) -> Wording:
    """The wording of the questions that the embedded models learnt from."""
    pairs = load_pairs(data, load_split(data))
    return Wording.of((p.question.text, p.database) for p in pairs if p.source != "archer")


@dataclass(frozen=True, slots=True)
class Judged:
    """The answers of a family as a calibration that was fitted without it shows them."""

    family: str
    before: Numbers
    sure: Numbers
    good: Numbers
    low: Numbers
    high: Numbers
    clusters: tuple[str, ...]
    offset: tuple[float, float]
    far: float

    @property
    def error(self) -> Figure:
        """Calibration error, with its interval by database or template."""
        return with_interval(calibration_error, self.sure, self.good, clusters=self.clusters)

    @property
    def error_before(self) -> Figure:
        """The same of the critic's own probability."""
        return with_interval(calibration_error, self.before, self.good, clusters=self.clusters)

    def shown(self, sure: Numbers) -> tuple[int, int]:
        """The right ones of those shown as SURE, and the number of these."""
        kept = sure >= SURE
        return int(self.good[kept].sum()), int(kept.sum())


def left_out(
    samples: Sequence[Sample], names: Mapping[str, int], wording: Wording | None
) -> list[Judged]:
    """Every family, judged by what was fitted to all others, their spread included."""
    parts: dict[str, tuple[list[Sample], Calibration]] = {}
    for family in sorted({sample.family for sample in samples}):
        inside = [sample for sample in samples if sample.family == family]
        rest = [sample for sample in samples if sample.family != family]
        parts[family] = inside, fit(rest, names, wording=wording)
    known = {family: _judged(*part) for family, part in parts.items()}
    return [
        _judged(inside, with_spread(by, offsets(known[name] for name in parts if name != family)))
        for family, (inside, by) in parts.items()
    ]


def offsets(judged: Iterable[Judged]) -> list[tuple[float, float, float]]:
    """By how much families that weren't fitted to are off, as `with_spread` takes it."""
    return [(*one.offset, one.far) for one in judged if one.family != IN_VAIN]


def _judged(inside: Sequence[Sample], by: Calibration) -> Judged:
    shown = [by.judge(s.measures, s.question) for s in inside]
    before = np.array([s.measures.get(SCORE, 0.0) for s in inside])
    far = [by.whole(s.measures, s.question).get(FAR, 0.0) for s in inside]
    return Judged(
        inside[0].family,
        np.asarray(1.0 / (1.0 + np.exp(-before)), dtype=np.float64),
        np.array([one.value for one in shown]),
        np.array([float(s.right) for s in inside]),
        np.array([one.low for one in shown]),
        np.array([one.high for one in shown]),
        tuple(s.cluster for s in inside),
        offset_of(by, inside),
        float(np.mean(far)),
    )


def fitted(samples: Sequence[Sample], wording: Wording) -> tuple[Calibration, list[Judged]]:
    """The calibration of the embedded models, with its spread as the left-out families show it."""
    judged = left_out(samples, EMBEDDED, wording)
    return with_spread(fit(samples, EMBEDDED, wording=wording), offsets(judged)), judged


def table(judged: Sequence[Judged]) -> str:
    """The left-out families, before and after."""
    head = (
        "| family | answered | right | error before | error | AUROC before | AUROC "
        "| shown at 80 % before | shown at 80 % |\n|---|---|---|---|---|---|---|---|---|"
    )
    lines = []
    for one in judged:
        cells = [
            one.family, str(len(one.good)), f"{one.good.mean():.3f}",
            str(one.error_before), str(one.error),
            f"{auroc(one.before, one.good):.3f}", f"{auroc(one.sure, one.good):.3f}",
            "{} of {}".format(*one.shown(one.before)), "{} of {}".format(*one.shown(one.sure)),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([head, *lines])


def written_calibration(seed: int = 1) -> Calibration:
    """The start of any calibration of a language model's answers."""
    samples = simulated(seed)
    return with_spread(fit(samples, WRITTEN), offsets(left_out(samples, WRITTEN, None)))


def note_weights(folder: Path) -> None:
    """Note in `critic.json` which linker and parser its judgement goes with. The critic's networks
    may be older than those: what they say was calibrated to these weights just now."""
    path = folder / "critic.json"
    found = digests(folder)
    data = json.loads(path.read_text("utf-8"))
    write(path, data | {"fitted_to": {name: found[name] for name in JUDGED}})


def main() -> None:
    """Fit, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True, help="what collect wrote")
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--record", type=Path, help="keep the answers as a table of numbers, too")
    options = parser.parse_args()
    lines = map(json.loads, options.answers.read_text("utf-8").splitlines())
    samples, wording = read_samples(lines), training_wording(options.data)
    calibration, judged = fitted(samples, wording)
    if options.record:
        write_recorded(samples, wording, options.record)
    data = {
        "embedded": calibration.to_data(),
        "written": written_calibration().to_data(),
    }
    path = options.weights / FILES["calibration"][0]
    write(path, data)
    note_weights(options.weights)
    print(table(judged))
    print(dict(zip(("constant", *calibration.names), calibration.weights.round(3), strict=True)))
    print(f"spread {calibration.spread:.2f}, of being far {calibration.strangeness:.2f}")


if __name__ == "__main__":
    main()
