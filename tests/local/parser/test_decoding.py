"""Weights that know fewer keywords than there are: the newer ones are barred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlwright.local.form.sequence.symbols import BY_NAME, KEYWORDS
from sqlwright.local.models import WEIGHTS
from sqlwright.local.parser.parser import Decoder, Memory
from sqlwright.local.parser.pointers import BEGIN, FIRST_NODE
from sqlwright.local.runtime import open_session

OLD = KEYWORDS.index("spare_9") + 1
"""Keywords of the first generation."""


@dataclass
class Given:
    name: str
    shape: list[Any]


@dataclass
class Session:
    """Stands for an exported decoder that knows some keywords: each logit is its own number."""

    known: int
    seen: list[list[int]] = field(default_factory=list)

    def get_inputs(self) -> Sequence[Given]:
        shapes = {"inputs": 8, "keys": 8, "memory": 16}
        found = [Given(name, [1, "nodes", size]) for name, size in shapes.items()]
        return [*found, Given("past", [2, "live", 2, "steps", 4])]

    def run(self, names: Sequence[str], feeds: Mapping[str, Any]) -> list[Any]:
        assert names == ["logits", "present"]
        self.seen.append(feeds["tokens"].tolist())
        count, nodes = len(feeds["tokens"]), feeds["inputs"].shape[1]
        logits = np.tile(np.arange(self.known + 1 + nodes, dtype=np.float32), (count, 1))
        return [logits, np.zeros((2, count, 2, 1, 4), dtype=np.float32)]


def memory(nodes: int) -> Memory:
    sizes = (8, 8, 16)
    return Memory(*(np.zeros((1, nodes, size), dtype=np.float32) for size in sizes))


def test_newer_keywords_are_barred_and_nodes_moved() -> None:
    session = Session(OLD)
    decoder = Decoder(session)  # type: ignore[arg-type]
    assert decoder.known == OLD
    logits = decoder.search(memory(3))([BEGIN], [0])
    assert logits.shape == (1, FIRST_NODE + 3)
    assert logits[0, :OLD].tolist() == list(range(OLD))
    assert (logits[0, OLD:BEGIN] == -np.inf).all()
    assert logits[0, BEGIN:].tolist() == [OLD, OLD + 1, OLD + 2, OLD + 3]
    decoder.search(memory(3))([BY_NAME["select"].position, FIRST_NODE + 2], [0, 0])
    assert session.seen[1:] == [[OLD], [BY_NAME["select"].position, OLD + 3]]


def test_weights_that_know_all_keywords_are_taken_as_they_are() -> None:
    session = Session(len(KEYWORDS))
    decoder = Decoder(session)  # type: ignore[arg-type]
    logits = decoder.search(memory(2))([BEGIN], [0])
    assert logits[0].tolist() == list(range(FIRST_NODE + 2))
    assert session.seen[-1] == [BEGIN]


def test_weights_of_a_later_form_are_refused() -> None:
    with pytest.raises(ValueError, match="keywords"):
        Decoder(Session(len(KEYWORDS) + 1))  # type: ignore[arg-type]


def test_the_shipped_weights_tell_what_they_know() -> None:
    path = Path(WEIGHTS) / "parser_decoder.onnx"
    if not path.exists():
        pytest.skip("the weights aren't there")
    assert OLD <= Decoder(open_session(path)).known <= len(KEYWORDS)
