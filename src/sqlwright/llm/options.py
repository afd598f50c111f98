"""What the user may say about language models, in a project file, the environment or a call."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlwright.llm.endpoint import Throttle
from sqlwright.messages import Privacy
from sqlwright.spending import Budget


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """Which model, where, at what price and under which limits."""

    model: str = ""
    """`provider/model`, used where a step names no other; empty is none."""
    base_url: str = ""
    """Another address for the provider of `model`; for `openai-compatible` without one."""
    budget: Budget = Budget()  # noqa: RUF009 - frozen
    """Of one question."""
    privacy: Privacy = "full"
    """What may leave this machine."""
    cache: bool = True
    """Whether replies are kept on disk and used again."""
    prices: Path | None = None
    """A TOML file with prices of the user's own."""
    revision: str = ""
    """The model's, for the cache: another one is another model. Many servers report theirs."""
    concurrency: int = Throttle().concurrency
    """Requests in flight at once to one model."""
    timeout: float = Throttle().seconds
    """Seconds one request may take; a large model on a small machine needs more."""
    retrying: float = Throttle().retrying
    """Seconds a reply may wait in all between attempts that failed, before it is given up."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    """Prompt and reply together."""
    capabilities: tuple[tuple[str, bool | int], ...] = ()
    """What the server of `model` can do, where that isn't known rightly: fields of
    `messages.Capabilities` by name."""
    record: Path | None = None
    """A file to put requests and replies on record in."""
    replay: Path | None = None
    """A recording to take replies from, with no model at all."""

    @property
    def throttle(self) -> Throttle:
        """How hard an endpoint may be worked."""
        return Throttle(
            concurrency=self.concurrency,
            seconds=self.timeout,
            retrying=self.retrying,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
        )
