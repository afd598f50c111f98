"""A second process that adds its gradients to the training run's, when it has a core to spare.

The trainer never waits: at each step it takes the companion's gradient if one is ready (it was
computed on weights one or two steps old) and hands out fresh weights in return. So an idle core
adds examples to the batches, and a busy or dead companion costs nothing.

    python -m training.embedded.parser.companion PASSES OUT
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

import torch
from training.embedded.parser.exchange import JOINING, Exchange, trainable
from training.embedded.parser.train import TrainingSettings, make_model, mark_frozen, stream
from training.embedded.precision import autocast, cpu_dtype


def main(arguments: Iterable[str] | None = None) -> None:
    """Compute gradients until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passes", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", type=int, default=0, help="pass to begin with")
    options = parser.parse_args(None if arguments is None else list(arguments))
    torch.set_num_threads(1)
    settings = TrainingSettings()
    model = make_model(settings)
    mark_frozen(model, settings)
    model.train()
    dtype = cpu_dtype()
    # Another order of the same passes, and other dropout, than the trainer's.
    torch.manual_seed(time.time_ns() % 2**31)
    weights = trainable(model)
    exchange = Exchange(options.out, weights)
    exchange.state = JOINING
    for _, batch in stream(options.passes, settings, options.first, order=1):
        exchange.wait_for_weights(weights)
        with autocast(dtype):
            loss, link = model(batch, dtype)
        (loss + settings.link_weight * link).backward()
        exchange.offer_gradients(weights, len(batch.examples))
        model.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
