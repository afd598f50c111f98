"""Fit the critic on the parser's beams and write `critic.json`.

    python -m training.embedded.critic.train --data DATA --weights WEIGHTS --beams beams.jsonl \
        --rebuild --crossed fold0.jsonl --crossed fold1.jsonl

Which candidate is best is learnt by cross-fitting: from beams over the databases of `fit` by
parsers that were trained without them (`data --without`, `critic_data --within`), and from the
parser's own beams on the twenty databases of `valid` and `calib`, which it never saw. How probable
it is that the best one is right, and whether there is an answer, is learnt from the latter alone,
as ranked by what was learnt without their database, and calibrated on what networks fitted without
a database say of it. All figures are cross-validated by database. Numpy only.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from training.embedded.critic.data import Beam, build, describe, read_beams
from training.embedded.critic.perceptron import NetSettings, fit_line, fit_network, fit_ranking
from training.embedded.stamp import digests

from sqlwright.confidence.figures import auroc, calibration_error
from sqlwright.local.critic.critic import (
    JUDGED,
    Critic,
    Network,
    Networks,
    best_ranked,
    lenient,
    with_right,
)
from sqlwright.local.critic.features import MISSING, QUESTION, Features, Order, add_ranking
from sqlwright.local.embedder.onnx import OnnxEmbedder
from sqlwright.local.embedder.static import StaticEmbedder

MEMBERS = 5
FOLDS = 5
RANK_DECAY = 0.01
OWN = 2.0
"""Weight of a question of the parser in use in the ranking, beside one of the crossed."""
OF_BEAM = frozenset({"behind", "first", "rank", "share", "agreeing", "most agreed"})
"""Features that say of a candidate what its score and the agreement with others say, too."""
DECIDING = (
    "rank share", "rank logit", "rank behind", "rank mass", "rank mass logit", "score", "share",
    "agreement", "no rows", "only null", "zero", "repaired", "warned", "words left", "words used",
    "link least", "link missed", "table least", "table missed", "hits left", "items too few",
    "numbers lost", "literals unasked", "selects", "tables", "q unexplained", "q worst", "q column",
    "sense used", "sense left", "sense most left", "q sense mean", "q sense worst",
    "q top score", "q top share", "q entropy", "q agreement", "q groups", "q strict mean",
)  # fmt: skip
"""Features that the probability of being right depends on: the ranking and little more, so that few
databases are enough to learn it."""
IN_VAIN = 0.1
"""Share of requests that can't be answered, for which refusing is worth the most."""
MOST_REFUSED = 0.1
"""Share of answerable questions that may at most be refused."""


class Beams:
    """Beams with their features, and selections of them."""

    def __init__(self, beams: Sequence[Beam], features: Sequence[list[Features]]) -> None:
        kept = [(b, f) for b, f in zip(beams, features, strict=True)]
        self.beams = [b for b, _ in kept]
        self.features = [f for _, f in kept]

    def where(self, **wanted: Any) -> Beams:
        """Those beams whose fields have the given values."""
        kept = [
            (b, f)
            for b, f in zip(self.beams, self.features, strict=True)
            if all(getattr(b, name) == value for name, value in wanted.items())
        ]
        return Beams([b for b, _ in kept], [f for _, f in kept])

    def split(self, databases: set[str]) -> tuple[Beams, Beams]:
        """Outside and inside a set of databases."""
        pairs = list(zip(self.beams, self.features, strict=True))
        out = [(b, f) for b, f in pairs if b.database not in databases]
        into = [(b, f) for b, f in pairs if b.database in databases]
        return (
            Beams([b for b, _ in out], [f for _, f in out]),
            Beams([b for b, _ in into], [f for _, f in into]),
        )


def rows_right(data: Beams, order: Order) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and weights of all candidates; a question of many weighs little more."""
    rows, labels, weights = [], [], []
    for beam, features in zip(data.beams, data.features, strict=True):
        for one, right in zip(features, beam.right, strict=True):
            rows.append(order.row(one))
            labels.append(float(right))
            weights.append(1.0 / len(features) ** 0.5)
    return np.stack(rows), np.array(labels), np.array(weights)


def rows_answerable(
    data: Beams, order: Order, right: Network
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One row per question: its best candidate's features; both classes weigh the same."""
    rows, labels = [], []
    for beam, features in zip(data.beams, data.features, strict=True):
        if features:
            rows.append(order.row(with_right(features, right.probabilities(features))))
            labels.append(float(beam.answerable))
    wanted = np.array(labels)
    weights = np.where(
        wanted > 0, 0.5 / max(wanted.mean(), 1e-6), 0.5 / max(1 - wanted.mean(), 1e-6)
    )
    return np.stack(rows), wanted, weights


def fold_databases(data: Beams, folds: int = 4) -> list[set[str]]:
    """Databases in groups of about the same size."""
    names = sorted({beam.database for beam in data.beams})
    return [set(names[index::folds]) for index in range(folds)]


def fit_rank(crossed: Beams, own: Beams) -> Network:
    """The network that ranks a question's candidates, from answerable questions only; those of the
    parser in use count OWN times."""
    names = tuple(next(f for f in crossed.features if f)[0])
    order = Order(tuple(n for n in names if n not in OF_BEAM and not n.startswith(QUESTION)))
    groups, labels, weights = [], [], []
    for data, weight in ((crossed, 1.0), (own, OWN)):
        answered = data.where(answerable=True)
        for beam, features in zip(answered.beams, answered.features, strict=True):
            if features:
                groups.append(np.stack([order.row(one) for one in features]))
                labels.append(np.array(beam.right, float))
                weights.append(weight)
    return fit_ranking(groups, labels, weights, order, decay=RANK_DECAY)


def rank(data: Beams, ranking: Network) -> Beams:
    """The same with the ranking's own features."""
    ranked = [
        add_ranking(features, ranking.logits(features), beam.state.candidates) if features else []
        for beam, features in zip(data.beams, data.features, strict=True)
    ]
    return Beams(data.beams, ranked)


def ranked_unseen(data: Beams, crossed: Beams) -> Beams:
    """Each database ranked by what was learnt from the others."""
    ranked = []
    for inside in fold_databases(data, FOLDS):
        rest, own = data.split(inside)
        ranked.append(rank(own, fit_rank(crossed, rest)))
    return Beams([b for r in ranked for b in r.beams], [f for r in ranked for f in r.features])


def fit_right(data: Beams) -> Network:
    """The network for a ranked candidate to be right, from answerable questions only."""
    order = Order(DECIDING)
    rows, labels, weights = rows_right(data.where(answerable=True), order)
    settings = NetSettings(hidden=12, decay=1e-2)
    return fit_network(rows, labels, weights, order, members=MEMBERS, settings=settings)


def fit_answerable(data: Beams, right: Network, order: Order) -> Network:
    """The network for the probability that the schema holds what is asked."""
    rows, labels, weights = rows_answerable(data, order, right)
    settings = NetSettings(hidden=16, decay=1e-2)
    return fit_network(rows, labels, weights, order, members=MEMBERS, settings=settings)


Scored = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Logits, labels and weights of rows."""


def logits_of(
    network: Network, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> Scored:
    """Logits, labels and weights of rows before calibration."""
    described = [dict(zip(network.order.names, row, strict=True)) for row in rows]
    return network.logits(described), labels, weights


def calibrate(network: Network, scored: Sequence[Scored]) -> Network:
    """A slope and an offset for the logits, fitted on databases that networks like it never saw."""
    logits, labels, weights = (np.concatenate(parts) for parts in zip(*scored, strict=True))
    slope, offset = fit_line(logits, labels, weights)
    return replace(network, slope=slope, offset=offset)


def selected(data: Beams, right: Network) -> list[tuple[float, bool]]:
    """Confidence and verdict of the chosen candidate of every question."""
    chosen = []
    for beam, features in zip(data.beams, data.features, strict=True):
        if not features:
            chosen.append((0.0, False))
            continue
        sure = right.probabilities(features)
        best = best_ranked(features)
        chosen.append((float(sure[best]), beam.right[best]))
    return chosen


def summary(data: Beams, chosen: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Figures of given choices."""
    sure = np.array([confidence for confidence, _ in chosen])
    good = np.array([verdict for _, verdict in chosen], dtype=float)
    half = np.argsort(-sure, kind="stable")[: len(sure) // 2]
    first = np.array([beam.first for beam in data.beams], dtype=float)
    oracle = np.array([any(beam.right) for beam in data.beams], dtype=float)
    agreed = np.array(voted(data), dtype=float)
    gap = max(float((oracle - first).mean()), 1e-9)
    return {
        "questions": len(chosen),
        "first": float(first.mean()),
        "selected": float(good.mean()),
        "voted": float(agreed.mean()),
        "oracle": float(oracle.mean()),
        "gap_closed": float((good - first).mean()) / gap,
        "gap_closed_voted": float((agreed - first).mean()) / gap,
        "gained": float((good > first).sum()),
        "lost": float((good < first).sum()),
        "most_confident_half": float(good[half].mean()),
        "ece": calibration_error(sure, good),
        "auroc": auroc(sure, good),
    }


def voted(data: Beams) -> list[bool]:
    """True for each beam if the result most candidates agree on is right (self-consistency: Wang et
    al. 2023); of as many, the earlier."""
    verdicts = []
    for beam, features in zip(data.beams, data.features, strict=True):
        most = [one["agreeing"] for one in features]
        verdicts.append(bool(most) and beam.right[int(np.argmax(most))])
    return verdicts


def answerable_scores(data: Beams, right: Network, network: Network) -> np.ndarray:
    """Per question, as the threshold is compared with; one without any candidate counts as
    unanswerable."""
    scores = [
        network.probabilities([with_right(f, right.probabilities(f))])[0] if f else 0.0
        for f in data.features
    ]
    missing = [bool(f and f[0][MISSING]) for f in data.features]
    return lenient(np.array(scores), np.array(missing))


def refuse_below(scores: np.ndarray, answerable: np.ndarray, right: np.ndarray) -> float:
    """The threshold of answerable scores that keeps most right answers and turns most requests
    made in vain down, where IN_VAIN of all requests are; both count the same."""
    shares = np.arange(0.005, MOST_REFUSED + 1e-9, 0.005)
    thresholds = np.quantile(scores[answerable], shares)
    lost = np.array([(right & answerable & (scores < one)).sum() for one in thresholds])
    through = np.array([(~answerable & (scores >= one)).sum() for one in thresholds])
    cost = lost / answerable.sum() * (1 - IN_VAIN) + through / (~answerable).sum() * IN_VAIN
    return float(thresholds[int(np.argmin(cost))])


def refusal_figures(data: Beams, scores: np.ndarray, below: float) -> dict[str, Any]:
    """Shares refused, by where the questions are from."""
    kinds: dict[str, list[bool]] = {}
    for beam, score in zip(data.beams, scores, strict=True):
        kinds.setdefault(beam.kind, []).append(bool(score < below))
    labels = np.array([beam.answerable for beam in data.beams], dtype=float)
    refused = scores < below
    return {
        "answerable_refused": float(refused[labels > 0.5].mean()),
        "unanswerable_refused": float(refused[labels < 0.5].mean()),
        "auroc": auroc(scores, labels),
        "by_kind": {kind: [float(np.mean(f)), len(f)] for kind, f in sorted(kinds.items())},
    }


def fit_both(ranked: Beams) -> tuple[Network, Network]:
    """Right and answerable, calibrated on what networks say of databases that they weren't fitted
    on."""
    names = tuple(next(f for f in ranked.features if f)[0])
    of_rank = {"rank mass", "rank share"}
    wider = Order((*(n for n in names if not n.startswith("rank ") or n in of_rank), "right"))
    answered = ranked.where(answerable=True)
    rights, answerables = [], []
    for inside in fold_databases(ranked):
        rest, own = ranked.split(inside)
        right = fit_right(rest)
        rights.append(logits_of(right, *rows_right(own.where(answerable=True), right.order)))
        answerable = fit_answerable(rest, right, wider)
        answerables.append(logits_of(answerable, *rows_answerable(own, wider, right)))
    right = calibrate(fit_right(answered), rights)
    return right, calibrate(fit_answerable(ranked, right, wider), answerables)


def fit(data: Beams, crossed: Beams) -> dict[str, Any]:
    """The models, the threshold and the figures, as `critic.json` holds them."""
    ranking = fit_rank(crossed, data)
    data = ranked_unseen(data, crossed)
    owned, chosen, scores = [], [], []
    for inside in fold_databases(data, FOLDS):
        rest, own = data.split(inside)
        right, refusing = fit_both(rest)
        owned.append(own)
        chosen += selected(own, right)
        scores += list(answerable_scores(own, right, refusing))
    judged = [(b, f) for own in owned for b, f in zip(own.beams, own.features, strict=True)]
    good = np.array([beam.answerable for beam, _ in judged])
    correct = np.array([verdict for _, verdict in chosen])
    below = refuse_below(np.array(scores), good, correct)
    right, answerable = fit_both(data)
    parts = {}
    for part in ("valid", "calib"):
        rows = [index for index, (beam, _) in enumerate(judged) if beam.part == part]
        own = Beams([judged[p][0] for p in rows], [judged[p][1] for p in rows])
        answered = [chosen[p] for p in rows if judged[p][0].answerable]
        parts[part] = summary(own.where(answerable=True), answered)
        parts[f"refusal_{part}"] = refusal_figures(own, np.array([scores[p] for p in rows]), below)
    return {
        "ranking": network_data(ranking),
        "right": network_data(right),
        "answerable": network_data(answerable),
        "refuse_below": below,
        "figures": parts,
    }


def network_data(network: Network) -> dict[str, Any]:
    """As `Network.from_data` reads it; five digits are plenty."""

    def plain(values: np.ndarray) -> Any:
        return json.loads(json.dumps(np.asarray(values, dtype=float).round(5).tolist()))

    return {
        "features": list(network.order.names),
        "mean": plain(network.mean),
        "scale": plain(network.scale),
        "members": [[[plain(w), plain(b)] for w, b in layers] for layers in network.members],
        "slope": network.slope,
        "offset": network.offset,
    }


def write(path: Path, data: Mapping[str, Any]) -> None:
    """Aside, then renamed."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(data), encoding="utf-8")
    partial.replace(path)


def main() -> None:
    """Build the beams where asked or missing, fit, write, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--beams", type=Path, required=True)
    parser.add_argument(
        "--crossed", type=Path, action="append", required=True, help="from critic_data --within"
    )
    parser.add_argument("--rebuild", action="store_true")
    parser.add_argument("--each", type=int, default=110, help="questions per database")
    options = parser.parse_args()
    if options.rebuild or not options.beams.exists():
        build(options.data, options.weights, options.beams, each=options.each, seed=1)
    empty = Network(Order(()), np.zeros(0, dtype=np.float32), np.ones(0, dtype=np.float32), ())
    static = StaticEmbedder.load(options.weights)
    embedder = OnnxEmbedder.load(options.weights)
    none = Networks(empty, empty, empty)
    describing = Critic(static, embedder, none, refuse_below=0.0)

    def read(paths: Sequence[Path]) -> Beams:
        beams = [beam for path in paths for beam in read_beams(path)]
        return Beams(beams, describe(beams, describing))

    result = fit(read([options.beams]), read(options.crossed))
    found = digests(options.weights)
    result["fitted_to"] = {name: found[name] for name in JUDGED}
    write(options.weights / "critic.json", result)
    print(json.dumps(result["figures"], indent=2))


if __name__ == "__main__":
    main()
