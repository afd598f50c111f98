"""Tokens of texts by a model's own tokenizer, read from `tokenizer.json` in its folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright.errors import ConfigError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FILE = "tokenizer.json"
BATCH = 256
"""Texts that are encoded at once."""


class TokenCounter:
    """Counts tokens as a model does; what a chat template adds isn't counted."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path) -> TokenCounter | None:
        """The tokenizer of a model's folder; None where it has no such file. Raises ConfigError for
        one that can't be read."""
        path = folder / FILE
        if not path.is_file():
            return None
        from tokenizers import Tokenizer

        try:
            return cls(Tokenizer.from_str(path.read_text("utf-8")))
        except Exception as error:  # noqa: BLE001 - the library raises bare Exception
            raise ConfigError(f"{path} can't be read: {error}") from None

    def counts(self, texts: Iterable[str]) -> Iterator[int]:
        """The number of tokens of each text, in order."""
        for part in _parts(texts):
            for one in self._tokenizer.encode_batch(part, add_special_tokens=False):
                yield len(one.ids)


def _parts(texts: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(texts)
    while part := list(islice(remaining, BATCH)):
        yield part
