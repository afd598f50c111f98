"""The models that come with the package, by role.

`EmbeddedModels` loads each when it is first asked for and keeps it; `load` reads and checks one.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from sqlwright.errors import ModelUnavailable
from sqlwright.local.digests import DIGESTS
from sqlwright.protocols import Model

if TYPE_CHECKING:
    from sqlwright.confidence.calibration import Calibration
    from sqlwright.local.critic.critic import Critic
    from sqlwright.local.embedder.onnx import OnnxEmbedder
    from sqlwright.local.linker.linker import Linker
    from sqlwright.local.parser.parser import Parser
    from sqlwright.local.question.schema import SchemaCache

WEIGHTS = Path(__file__).parent / "weights"

_WORDS = ("tokenizer.json", "word_embeddings.npy", "word_scales.npy")
_SHARED = ("minilm_lower.onnx", *_WORDS)
FILES: Mapping[str, tuple[str, ...]] = {
    "parser": ("parser_encoder.onnx", "parser_decoder.onnx", *_SHARED),
    "linker": ("linker.npz", "embedder.onnx", *_SHARED),
    "critic": ("critic.json", "embedder.onnx", *_SHARED),
    "embedder": ("embedder.onnx", *_SHARED),
    "calibration": ("confidence.json",),
}
"""The files of weights that each role reads."""
ON_EMBEDDER = frozenset({"linker", "critic", "parser"})
"""Roles that read texts: they can share a loaded embedder, or its first layers."""


Loaded: TypeAlias = "Parser | Linker | Critic | OnnxEmbedder | Calibration"


class EmbeddedModels(Mapping[str, Model]):
    """The models that ship with the package, loaded when first asked for and then kept.

    May be shared between sessions and threads. A model that can't be loaded raises
    ModelUnavailable, the same each time.
    """

    ROLES = ("linker", "parser", "critic", "embedder", "calibration")

    def __init__(self) -> None:
        self._locks = {role: threading.Lock() for role in self.ROLES}
        self._loaded: dict[str, Loaded] = {}
        self._failed: dict[str, ModelUnavailable] = {}
        self._sharing = threading.Lock()
        self._cache: SchemaCache | None = None

    def __getitem__(self, role: str) -> Loaded:
        if role not in self._locks:
            raise ModelUnavailable(f"no embedded model has the role {role!r}")
        with self._locks[role]:
            if role in self._failed:
                raise self._failed[role]
            if role not in self._loaded:
                try:
                    if role in ON_EMBEDDER:
                        self._loaded[role] = load(role, embedder=self.embedder, cache=self._shared)
                    else:
                        self._loaded[role] = load(role)
                except ModelUnavailable as error:
                    self._failed[role] = error
                    raise
            return self._loaded[role]

    def load_ahead(self) -> None:
        """Load all of them in the background from now on. Who needs one that fails is told then."""

        def load_each() -> None:
            for role in self.ROLES:
                with suppress(ModelUnavailable):
                    self[role]

        threading.Thread(target=load_each, name="sqlwright-models-ahead", daemon=True).start()

    @property
    def embedder(self) -> OnnxEmbedder:
        """The one that the others build on. Raises ModelUnavailable."""
        return cast("OnnxEmbedder", self["embedder"])

    @property
    def critic(self) -> Critic:
        """The critic. Raises ModelUnavailable."""
        return cast("Critic", self["critic"])

    @property
    def _shared(self) -> SchemaCache:
        """One cache of schemas for all models."""
        with self._sharing:
            if self._cache is None:
                self._cache = cache_on(self.embedder)
            return self._cache

    def __iter__(self) -> Iterator[str]:
        return iter(self.ROLES)

    def __len__(self) -> int:
        return len(self.ROLES)


def load(
    role: str,
    *,
    folder: Path = WEIGHTS,
    embedder: OnnxEmbedder | None = None,
    cache: SchemaCache | None = None,
) -> Loaded:
    """The model of a role: 'parser', 'linker', 'critic', 'embedder' or 'calibration'.

    Raises ModelUnavailable when the role is unknown, or when a file is missing, damaged or not
    the one this code was released with.
    Roles in ON_EMBEDDER share `embedder`, loaded from the same folder, where it is given; those
    that read whole schemas share `cache`.
    """
    if role not in FILES:
        known = ", ".join(sorted(FILES))
        raise ModelUnavailable(f"no embedded model has the role {role!r}; there are {known}")
    checked = FILES["embedder"] if embedder is not None else ()
    for name in FILES[role]:
        if name not in checked:
            check_file(folder / name, DIGESTS.get(name) if folder == WEIGHTS else None)
    if role == "linker":
        return _linker(folder, embedder, cache)
    if role == "critic":
        return _critic(folder, embedder, cache)
    if role == "calibration":
        return _calibration(folder, "embedded")
    return _parser(folder, embedder) if role == "parser" else _embedder(folder)


def cache_on(embedder: OnnxEmbedder) -> SchemaCache:
    """A cache of schemas that models on this embedder may share."""
    from sqlwright.local.embedder.static import StaticEmbedder
    from sqlwright.local.question.schema import SchemaCache

    static = StaticEmbedder(embedder.front.tokenizer, embedder.front.words)
    return SchemaCache(static, embedder)


def weights_digest(role: str) -> str:
    """A digest of all the weights that the shipped model of a role reads, as hexadecimal digits."""
    listed = "\n".join(f"{name} {DIGESTS[name]}" for name in FILES[role])
    return hashlib.sha256(listed.encode()).hexdigest()


def embedded_digest() -> str:
    """A digest of the embedded models that how sure an answer is depends on."""
    listed = "\n".join(weights_digest(role) for role in ("parser", "linker", "critic"))
    return hashlib.sha256(listed.encode()).hexdigest()[:16]


def first_calibration(*, embedded: bool, folder: Path = WEIGHTS) -> Calibration:
    """The calibration that ships, of answers of embedded or of language models; the latter is only
    there to be fitted further. Raises ModelUnavailable."""
    name = FILES["calibration"][0]
    check_file(folder / name, DIGESTS.get(name) if folder == WEIGHTS else None)
    return _calibration(folder, "embedded" if embedded else "written")


def check_file(path: Path, digest: str | None) -> None:
    """Raise ModelUnavailable when a file is missing or, given its digest, another one."""
    hint = "Reinstall sqlwright; its package brings the weights along."
    try:
        found = _digest(path) if digest else ""
        missing = not path.is_file()
    except OSError as error:
        raise ModelUnavailable(f"{path} can't be read: {error}", hint=hint) from error
    if missing:
        raise ModelUnavailable(f"{path} is missing", hint=hint)
    if digest and found != digest:
        raise ModelUnavailable(f"{path} isn't the file this version was released with", hint=hint)


def _digest(path: Path) -> str:
    """A file's SHA-256, read piece by piece: whole it would be held in memory beside the model."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _parser(folder: Path, embedder: OnnxEmbedder | None) -> Parser:
    from sqlwright.local.parser.parser import Parser

    return Parser.load(folder, front=embedder.front if embedder else None)


def _linker(folder: Path, embedder: OnnxEmbedder | None, cache: SchemaCache | None) -> Linker:
    from sqlwright.local.linker.linker import Linker

    return Linker.load(folder, embedder=embedder, cache=cache)


def _critic(folder: Path, embedder: OnnxEmbedder | None, cache: SchemaCache | None) -> Critic:
    from sqlwright.local.critic.critic import Critic

    weights = DIGESTS if folder == WEIGHTS else None
    return Critic.load(folder, embedder=embedder, weights=weights, cache=cache)


def _embedder(folder: Path) -> OnnxEmbedder:
    from sqlwright.local.embedder.onnx import OnnxEmbedder

    return OnnxEmbedder.load(folder)


def _calibration(folder: Path, whose: str) -> Calibration:
    from sqlwright.confidence.calibration import Calibration

    path = folder / FILES["calibration"][0]
    try:
        return Calibration.from_data(json.loads(path.read_text(encoding="utf-8"))[whose])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelUnavailable(
            f"{path} can't be read: {error}",
            hint="Reinstall sqlwright; its package brings the weights along.",
        ) from error
