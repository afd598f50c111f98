"""Limits of replies: text as the step wants it, reasoning on top, within the context.

Reasoning is known by the model and its effort at first, and by what it really took once replies are
there: a model that nobody knew to reason wouldn't otherwise get enough until its second request.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlwright.llm.endpoint import USUAL_REASONING, Call
from sqlwright.llm.metering import prompt_tokens
from sqlwright.messages import Capabilities, Effort, Reply, Request, Verbosity

REASONING: Mapping[Effort, int] = {
    "none": 0,
    "minimal": 1_024,
    "low": 4_096,
    "medium": USUAL_REASONING,
    "high": 24_576,
    "xhigh": 49_152,
    "max": 65_536,
}
"""Tokens for reasoning by effort. Chosen; a reply that needs more is asked for again."""
USUAL: Effort = "medium"
"""The effort that vendors take where none is named."""
SPARE = 1.25
"""Factor on what reasoning took so far: the next may take more."""
FEWEST = 256
"""Tokens of reply that are always asked for: a prompt without room for them is the server's to
refuse."""


@dataclass
class ReplyLimits:
    """One model's settings about replies, and what its reasoning took. Safe to use from any
    thread."""

    reasoning: Effort | None = None
    """Effort where a request names none."""
    reasoning_tokens: int | None = None
    """Tokens for reasoning; None goes by the effort."""
    verbosity: Verbosity | None = None
    _taken: int = 0
    """Tokens that replies had beyond those of their text's limit, at most so far."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def effort(self, request: Request) -> Effort | None:
        """The effort to ask for; None leaves it to the vendor."""
        return request.reasoning or self.reasoning

    def limited(self, call: Call, can: Capabilities) -> Call:
        """The call with the tokens it may spend on reasoning and those that there is room for."""
        context = max(can.context_tokens - prompt_tokens(call), FEWEST)
        room = min(context, can.reply_tokens) if can.reply_tokens else context
        return replace(call, reasoning_tokens=self._allowance(call.reasoning, can), room=room)

    def note(self, call: Call, reply: Reply) -> None:
        """Learn from a reply what reasoning takes; `call` is the one that it was first asked by."""
        beyond = reply.reply_tokens - call.max_tokens
        with self._lock:
            self._taken = max(self._taken, beyond)

    def _allowance(self, effort: Effort | None, can: Capabilities) -> int:
        if self.reasoning_tokens is not None:
            usual = self.reasoning_tokens
        elif effort is not None:
            usual = REASONING[effort]
        else:
            usual = REASONING[USUAL] if can.reasoning else 0
        return max(usual, int(SPARE * self._taken))
