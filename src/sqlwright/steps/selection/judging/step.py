"""The parts that selectors with a judge share."""

from __future__ import annotations

from typing import ClassVar

from sqlwright.steps.showing import SchemaStep


class JudgingStep(SchemaStep):
    """A selector whose judge is the language model of `sampling`, or the embedded critic."""

    judge: str
    """`critic` is the embedded critic."""

    bounded: ClassVar[tuple[str, ...]] = ()
    """Options that must not be negative."""
    cheaper: ClassVar[str] = "selection.largest_cluster"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates", "selected", "confidence", "basis"})

    def __post_init__(self) -> None:
        for option in self.bounded:
            if getattr(self, option) < 0:
                raise ValueError(f"{option} must not be negative, not {getattr(self, option)}")

    @property
    def roles(self) -> tuple[str, ...]:
        """The embedded critic, where it judges."""
        return ("critic",) if self.judge == "critic" else ()

    @property
    def language_models(self) -> tuple[str, ...]:
        """The model of `sampling`, where one judges."""
        return () if self.judge == "critic" else super().language_models
