"""Small networks and calibration lines in numpy: a few thousand rows need no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlwright.local.critic.critic import Network
from sqlwright.local.critic.features import Order

BATCH = 256


@dataclass(frozen=True)
class NetSettings:
    """Size and training of one member of a network."""

    hidden: int
    decay: float
    epochs: int = 30


def fit_network(
    rows: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    order: Order,
    *,
    members: int,
    settings: NetSettings,
) -> Network:
    """`members` one-hidden-layer networks from different seeds, with binary cross-entropy."""
    mean = rows.mean(axis=0)
    scale = rows.std(axis=0) + 1e-2
    inputs = np.clip((rows - mean) / scale, -5.0, 5.0)
    layers = tuple(
        _member(inputs, labels, weights / weights.mean(), settings, seed) for seed in range(members)
    )
    return Network(order, mean.astype(np.float32), scale.astype(np.float32), layers)


def _member(
    inputs: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    settings: NetSettings,
    seed: int,
) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    draw = np.random.default_rng(seed)
    hidden, decay, epochs = settings.hidden, settings.decay, settings.epochs
    width = inputs.shape[1]
    parts = [
        draw.normal(0, (2.0 / width) ** 0.5 * 0.5, (width, hidden)),
        np.zeros(hidden),
        draw.normal(0, 0.1, (hidden, 1)),
        np.zeros(1),
    ]
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in parts]
    steps = 0
    total = epochs * (len(inputs) // BATCH + 1)
    for _ in range(epochs):
        for chosen in np.array_split(draw.permutation(len(inputs)), len(inputs) // BATCH + 1):
            steps += 1
            rate = 5e-3 * (1.0 - steps / (total + 1))
            keep = draw.random((len(chosen), hidden)) < 0.8
            gradients = _gradients(parts, inputs[chosen], labels[chosen], weights[chosen], keep)
            for index, gradient in enumerate(gradients):
                first, second = moments[index]
                first += 0.1 * (gradient - first)
                second += 0.01 * (gradient**2 - second)
                corrected = first / (1 - 0.9**steps)
                step = corrected / (np.sqrt(second / (1 - 0.99**steps)) + 1e-8)
                if parts[index].ndim == 2:
                    step = step + decay / 5e-3 * parts[index]
                parts[index] -= rate * step
    return ((parts[0], parts[1]), (parts[2], parts[3]))


def _gradients(
    parts: list[np.ndarray],
    inputs: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    keep: np.ndarray,
) -> list[np.ndarray]:
    raw = inputs @ parts[0] + parts[1]
    states = np.maximum(raw, 0.0) * keep / 0.8
    logits = (states @ parts[2] + parts[3])[:, 0]
    error = ((1 / (1 + np.exp(-np.clip(logits, -30, 30))) - labels) * weights / len(labels))[
        :, None
    ]
    back = (error @ parts[2].T) * (raw > 0) * keep / 0.8
    return [inputs.T @ back, back.sum(axis=0), states.T @ error, error.sum(axis=0)]


def fit_ranking(
    groups: Sequence[np.ndarray],
    labels: Sequence[np.ndarray],
    weights: Sequence[float],
    order: Order,
    *,
    decay: float,
) -> Network:
    """One linear layer under which right candidates outweigh wrong ones of the same question.

    Maximises the softmax mass of the right candidates, each question with its weight; those whose
    candidates are all right or all wrong teach nothing.
    """
    rows = np.concatenate(groups)
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-2
    useful = [index for index, good in enumerate(labels) if 0 < good.sum() < len(good)]
    most = max(len(labels[index]) for index in useful)
    inputs = np.zeros((len(useful), most, rows.shape[1]), dtype=np.float32)
    right, real = np.zeros((len(useful), most)), np.zeros((len(useful), most), dtype=bool)
    for row, index in enumerate(useful):
        count = len(labels[index])
        inputs[row, :count] = np.clip((groups[index] - mean) / scale, -5.0, 5.0)
        right[row, :count], real[row, :count] = labels[index], True
    flat = inputs.reshape(-1, rows.shape[1])
    shares = np.array([weights[index] for index in useful])
    shares = (shares / shares.sum())[:, None]
    fitted = np.zeros(rows.shape[1])
    first, second = np.zeros_like(fitted), np.zeros_like(fitted)
    steps = 200
    for step in range(1, steps + 1):
        logits = np.where(real, (flat @ fitted.astype(np.float32)).reshape(real.shape), -1e9)
        mass = np.exp(logits - logits.max(axis=1, keepdims=True))
        mass /= mass.sum(axis=1, keepdims=True)
        target = mass * right
        target /= target.sum(axis=1, keepdims=True) + 1e-12
        error = ((mass - target) * shares).astype(np.float32).ravel()
        gradient = flat.T @ error + decay * fitted
        first += 0.1 * (gradient - first)
        second += 0.01 * (gradient**2 - second)
        corrected = first / (1 - 0.9**step)
        fitted -= (
            0.05 * (1 - step / steps) * corrected / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        )
    layers = ((fitted[:, None].astype(np.float32), np.zeros(1, dtype=np.float32)),)
    return Network(order, mean.astype(np.float32), scale.astype(np.float32), (layers,))


def fit_line(logits: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Platt's slope and offset by Newton steps; the slope stays positive."""
    slope, offset = 1.0, 0.0
    for _ in range(50):
        sure = 1 / (1 + np.exp(-np.clip(slope * logits + offset, -30, 30)))
        error, spread = (sure - labels) * weights, np.maximum(sure * (1 - sure), 1e-6) * weights
        gradient = np.array([(error * logits).sum(), error.sum()])
        crossed = (spread * logits).sum()
        matrix = np.array([[(spread * logits**2).sum(), crossed], [crossed, spread.sum()]])
        step = np.linalg.solve(matrix + 1e-6 * np.eye(2), gradient)
        slope, offset = slope - float(step[0]), offset - float(step[1])
        if abs(step).max() < 1e-6:
            break
    return max(slope, 0.05), offset
