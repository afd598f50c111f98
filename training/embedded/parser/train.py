"""Train the embedded parser on one CPU core, or on a GPU, within a wall-clock budget.

The learning rate follows the clock, not the step count: linear warm-up, then linear decay to zero
at the end of the budget, whatever else the machine does; with --worked it follows the processor's
time, so that a run at the lowest priority may wait. A checkpoint every few minutes holds
everything needed to resume. Training can also go on from exported weights, for which it wants a
lower rate and passes that those weights haven't seen:

    python -m training.embedded.parser.train PASSES OUT --minutes 70
    python -m training.embedded.parser.train PASSES OUT --weights WEIGHTS --first 14 --scale 0.6
    python -m training.embedded.parser.train PASSES OUT --device cuda --pieces 8192 --loaders 4
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from training.embedded.minilm import bundled_minilm, load_minilm
from training.embedded.parser.exchange import Exchange, trainable
from training.embedded.parser.model import Batch, ParserModel, Sizes
from training.embedded.parser.packing import Packed, batches, collate
from training.embedded.parser.restore import restore
from training.embedded.precision import autocast, compute_dtype
from training.embedded.split import SEED

from sqlwright.local.parser.nodes import FEATURES, RELATIONS
from sqlwright.local.parser.pointers import FIRST_NODE

ROUNDS = 20
"""How often all passes are gone through at most, where they are planned."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training run; kept in its checkpoints."""

    minutes: float = 70.0
    seed: int = SEED
    rate: float = 6e-4
    encoder_rate: float = 1.5e-4
    warmup: float = 0.06
    """Part of the budget."""
    dropout: float = 0.12
    frozen: int = 1
    """Lowest MiniLM layers that aren't trained."""
    link_weight: float = 0.5
    mask_rate: float = 0.04
    average: float = 0.998
    """Decay of the running average of the weights, a step."""
    pieces: int = 3072
    """Padded pieces of a batch."""
    weight_decay: float = 0.01
    clip: float = 1.0
    save_minutes: float = 5.0
    report_steps: int = 25
    device: str = "cpu"


def make_model(settings: TrainingSettings) -> ParserModel:
    """A fresh model on the published MiniLM."""
    torch.manual_seed(settings.seed)
    pretrained = load_minilm(bundled_minilm())
    sizes = Sizes(len(FEATURES), len(RELATIONS), FIRST_NODE)
    words = pretrained.words.to(torch.bfloat16)
    return ParserModel(sizes, pretrained.encoder, words, settings.dropout, settings.frozen)


def mark_frozen(model: ParserModel, settings: TrainingSettings) -> None:
    """Take the lowest MiniLM layers, and what lies under them, out of training."""
    names = [f"encoder.minilm.layers.{index}." for index in range(settings.frozen)]
    if settings.frozen:
        names += ["encoder.minilm.positions", "encoder.minilm.input_norm"]
    for name, value in model.named_parameters():
        if name.startswith(tuple(names)):
            value.requires_grad_(requires_grad=False)


def pass_path(folder: Path, number: int) -> Path:
    """The pass to read: the one asked for, else the newest of the earlier ones."""
    for candidate in range(number, -1, -1):
        path = folder / f"pass_{candidate:02d}.npz"
        if path.exists():
            return path
    raise FileNotFoundError(f"{folder} has no pass yet")


def stream(
    folder: Path, settings: TrainingSettings, first: int, *, after: int = 0, order: int = 0
) -> Iterator[tuple[int, Batch]]:
    """Batches of pass after pass, without end, those `after` so many of the first pass; another
    `order` shuffles them differently."""
    number, begin = first, after
    while True:
        packed = Packed.load(pass_path(folder, number))
        shuffled = batches(packed, settings.seed + number + 7919 * order, pieces=settings.pieces)
        for index, rows in islice(enumerate(shuffled), begin, None):
            seed = settings.seed * 1000 + number * 100_000 + index + 53 * order
            yield number, collate(packed, rows.tolist(), mask_rate=settings.mask_rate, seed=seed)
        number, begin = number + 1, 0


class Planned(Dataset[tuple[int, Batch]]):
    """The batches of `stream` by number, made by processes of their own beside a GPU, which is
    faster than one process makes them. All passes ROUNDS times, each time in another order."""

    def __init__(self, folder: Path, settings: TrainingSettings, first: int) -> None:
        last = max(int(path.stem.removeprefix("pass_")) for path in folder.glob("pass_??.npz"))
        self.settings = settings
        self.packed = {n: Packed.load(pass_path(folder, n)) for n in range(first, last + 1)}
        self.plan = [
            (number, order, index, rows)
            for order in range(ROUNDS)
            for number, packed in self.packed.items()
            for index, rows in enumerate(
                batches(packed, settings.seed + number + 7919 * order, pieces=settings.pieces)
            )
        ]

    def __len__(self) -> int:
        return len(self.plan)

    def __getitem__(self, place: int) -> tuple[int, Batch]:
        number, order, index, rows = self.plan[place]
        seed = self.settings.seed * 1000 + number * 100_000 + index + 53 * order
        rate = self.settings.mask_rate
        return number, collate(self.packed[number], rows.tolist(), mask_rate=rate, seed=seed)


def loaded(
    folder: Path, settings: TrainingSettings, first: int, loaders: int, *, after: int = 0
) -> Iterator[tuple[int, Batch]]:
    """The batches of `Planned`, those `after` so many, made by `loaders` processes. All passes
    have to be there before."""
    planned = Planned(folder, settings, first)
    yield from DataLoader(
        planned,
        batch_size=None,
        sampler=range(after, len(planned)),
        num_workers=loaders,
        prefetch_factor=8,
        pin_memory=settings.device == "cuda",
    )


class Trainer:
    """Model, optimizer, running average and the clock."""

    def __init__(
        self,
        settings: TrainingSettings,
        out: Path,
        *,
        weights: Path | None = None,
        first: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`weights` is a folder of exported weights to begin with, `first` the first pass; `clock`
        gives the seconds that the budget is counted in."""
        self.clock = clock
        self.device = torch.device(settings.device)
        self.dtype = compute_dtype(self.device)
        self.settings = settings
        self.out = out
        self.model = make_model(settings).to(self.device)
        if weights is not None:
            mark_frozen(self.model, settings)
            restore(self.model, weights)
        self.optimizer = torch.optim.AdamW(self._groups(), fused=True, betas=(0.9, 0.98))
        beside = self.device.type == "cpu"
        self.exchange = Exchange(out, trainable(self.model)) if beside else None
        self.average = {
            name: value.detach().clone() for name, value in self.model.named_parameters()
        }
        self.spent = 0.0
        """Seconds of training before this process."""
        self.started = clock()
        self.step = 0
        self.number = first
        self.position = 0
        """Batches of the pass that are done."""
        self.seen = 0

    def _groups(self) -> list[dict[str, Any]]:
        mark_frozen(self.model, self.settings)
        groups: dict[tuple[float, float], list[Tensor]] = {}
        for name, value in self.model.named_parameters():
            if not value.requires_grad:
                continue
            pretrained = name.startswith("encoder.minilm.")
            rate = self.settings.encoder_rate if pretrained else self.settings.rate
            decay = self.settings.weight_decay if value.dim() > 1 else 0.0
            groups.setdefault((rate, decay), []).append(value)
        return [
            {"params": values, "lr": rate, "full": rate, "weight_decay": decay}
            for (rate, decay), values in groups.items()
        ]

    @property
    def progress(self) -> float:
        """Part of the budget that is spent, from 0 to 1."""
        spent = self.spent + self.clock() - self.started
        return min(1.0, spent / (self.settings.minutes * 60))

    def schedule(self) -> float:
        progress, warmup = self.progress, self.settings.warmup
        return progress / warmup if progress < warmup else (1 - progress) / (1 - warmup)

    def train_step(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Train on a batch; its losses, on the device that they were computed on."""
        factor = max(self.schedule(), 1e-3)
        for group in self.optimizer.param_groups:
            group["lr"] = group["full"] * factor
        count = len(batch.examples)
        batch = Batch(*(part.to(self.device, non_blocking=True) for part in batch))
        with autocast(self.dtype, self.device.type):
            loss, link = self.model(batch, self.dtype)
        (loss + self.settings.link_weight * link).backward()
        weights = trainable(self.model)
        if self.exchange is not None:
            self.seen += self.exchange.add_gradients(weights, count)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if self.exchange is not None:
            self.exchange.hand_out(weights)
        self.step += 1
        self.seen += count
        decay = min(self.settings.average, (1 + self.step) / (10 + self.step))
        kept = [
            self.average[name]
            for name, value in self.model.named_parameters()
            if value.requires_grad
        ]
        with torch.no_grad():
            torch._foreach_lerp_(kept, weights, 1 - decay)
        return loss.detach(), link.detach()

    def save(self) -> None:
        """Write the checkpoint aside, then rename."""
        state = {
            "sizes": self.model.sizes.to_dict(),
            "settings": vars(self.settings),
            "model": self.model.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "spent": self.spent + self.clock() - self.started,
            "step": self.step,
            "number": self.number,
            "place": self.position,
            "seen": self.seen,
        }
        aside = self.out / "checkpoint.part"
        torch.save(state, aside)
        aside.rename(self.out / "checkpoint.pt")

    def resume(self) -> None:
        """Go on from the checkpoint, where there is one."""
        path = self.out / "checkpoint.pt"
        if not path.exists():
            return
        state = torch.load(path, weights_only=True, map_location=self.device)
        self.model.load_state_dict(state["model"])
        self.average = state["average"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.spent, self.step = state["spent"], state["step"]
        self.number, self.position, self.seen = state["number"], state["place"], state["seen"]

    def leave_text(self) -> None:
        """Stop training MiniLM and the features that go into it: what is left costs half as much
        and is where a query's shape is made. Call it when the run is resumed."""
        for part in (self.model.encoder.minilm, self.model.encoder.features):
            part.requires_grad_(requires_grad=False)
        # The average stands still with it, at weights that the rest is trained beside.
        for name, value in self.model.named_parameters():
            if not value.requires_grad:
                self.average[name].copy_(value.detach())

    def source(self, passes: Path, loaders: int) -> Iterator[tuple[int, Batch]]:
        """The batches that are left, made by `loaders` processes or here where there are none."""
        if loaders:
            yield from loaded(passes, self.settings, self.number, loaders, after=self.position)
        else:
            yield from stream(passes, self.settings, self.number, after=self.position)

    def run(self, passes: Path, *, minutes: float = math.inf, loaders: int = 0) -> None:
        """Train until the budget is spent, or for so many minutes of it; the last thing done is to
        save. A file `done` tells that nothing is left."""
        self.model.train()
        settings, begun = self.settings, time.monotonic()
        saved = reported = begun
        losses, seen = torch.zeros(2, device=self.device), self.seen
        for number, batch in self.source(passes, loaders):
            if loaders:  # which are planned from the first pass on
                self.position += 1
            else:
                self.position = self.position + 1 if number == self.number else 1
                self.number = number
            losses += torch.stack(self.train_step(batch))
            now = time.monotonic()
            if self.step % settings.report_steps == 0:
                loss, link = (losses / settings.report_steps).tolist()
                row = {
                    "step": self.step,
                    "pass": number,
                    "seen": self.seen,
                    "loss": round(loss, 4),
                    "link": round(link, 4),
                    "rate": round((self.seen - seen) / (now - reported), 2),
                    "progress": round(self.progress, 4),
                }
                print(json.dumps(row), flush=True)
                losses.zero_()
                seen, reported = self.seen, now
            done = self.progress >= 1.0
            leave = done or now - begun > minutes * 60
            if leave or now - saved > settings.save_minutes * 60:
                self.save()
                saved = time.monotonic()
            if done:
                (self.out / "done").touch()
            if leave:
                return


def main(arguments: Iterable[str] | None = None) -> None:
    """Train, or go on training."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passes", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=70.0)
    parser.add_argument("--seed", type=int, default=SEED, help="of first weights and of the order")
    parser.add_argument("--slice", type=float, default=math.inf, help="minutes before a pause")
    parser.add_argument(
        "--worked",
        action="store_true",
        help="count the processor's time for this run, not the clock's: the rate then doesn't fall "
        "while the machine is busy with other work",
    )
    parser.add_argument("--still", action="store_true", help="leave the text encoder as it is")
    parser.add_argument("--frozen", type=int, default=TrainingSettings.frozen)
    parser.add_argument("--report", type=int, default=TrainingSettings.report_steps)
    parser.add_argument("--weights", type=Path, help="exported weights to go on from")
    parser.add_argument("--first", type=int, default=0, help="number of the first pass")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of both learning rates")
    parser.add_argument("--device", default=TrainingSettings.device, help="cpu or cuda")
    parser.add_argument("--pieces", type=int, default=TrainingSettings.pieces, help="of a batch")
    parser.add_argument("--dropout", type=float, default=TrainingSettings.dropout)
    parser.add_argument("--loaders", type=int, default=0, help="processes that make batches")
    options = parser.parse_args(None if arguments is None else list(arguments))
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    settings = TrainingSettings(
        minutes=options.minutes,
        seed=options.seed,
        rate=TrainingSettings.rate * options.scale,
        encoder_rate=TrainingSettings.encoder_rate * options.scale,
        frozen=options.frozen,
        report_steps=options.report,
        device=options.device,
        pieces=options.pieces,
        dropout=options.dropout,
    )
    trainer = Trainer(
        settings,
        options.out,
        weights=options.weights,
        first=options.first,
        clock=time.process_time if options.worked else time.monotonic,
    )
    trainer.resume()
    if options.still:
        trainer.leave_text()
    trainer.run(options.passes, minutes=options.slice, loaders=options.loaders)


if __name__ == "__main__":
    main()
