"""Every request that is sent is on an account: reserved before, settled after.

What counts: a call is one HTTP request, whatever comes of it, so a budget of so many calls is also
the most requests that are sent. An attempt that failed counts as a call without tokens: vendors
don't charge for answers with an error status, and what they charge for one that broke off they
don't tell. A request dropped in flight counts as a call with the tokens its prompt probably had.

Where an endpoint reports no tokens, or so many that it can't be meant, they are estimated from the
text, rather too many than too few.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage
from sqlwright.messages import Capabilities, Missing, Reply, Took
from sqlwright.spending import Reservation, Spending
from sqlwright.types import Usage

if TYPE_CHECKING:
    from sqlwright.llm.prices import Price

BYTES_PER_TOKEN = 3
"""UTF-8 bytes for each token. Chosen: tokenizers of the big models make 3.5 to 5 of English and
SQL. What they cut finer is counted apart."""
_FINER = (
    (b"0123456789", 1.2),  # singly, as some tokenizers do, and what stands between them
    (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0.7),  # names in capitals are no words
    (b"!#$%&*+-./:;<=>?@[\\]^_`{|}~", 0.5),
    (bytes(range(128, 256)), 0.5),  # other scripts: a token for two to six bytes
)
"""Bytes, and tokens for each of them. Measured with the tokenizer of Qwen: over the prompts of the
recipes the estimate is 1.3 to 1.6 times the number, over names without vowels and Greek 1.0 to
1.1 times. Keys drawn at random and long runs of different marks take more than it says."""
FAR = 10
"""Factor over our estimate beyond which no reported number is believed."""
UNSEEN = 20_000
"""Tokens of a prompt that a server may add, and of reasoning that it may not show."""
PER_MESSAGE = 8
"""Tokens for the frame of a message."""
SHORTEST_REPLY = 1_024
"""Reply tokens at least where the context is small; a query with its reasons takes 300 to 900."""


def estimated_tokens(texts: Sequence[str]) -> int:
    """About how many tokens texts have, rather too many than too few."""
    total = 0.0
    for text in texts:
        rest = text.encode("utf-8", "replace")
        for finer, tokens in _FINER:
            before, rest = len(rest), rest.translate(None, finer)
            total += tokens * (before - len(rest))
        total += len(rest) / BYTES_PER_TOKEN
    return math.ceil(total)


def prompt_tokens(call: Call) -> int:
    """About how many tokens the prompt of a call has, tools and schema included."""
    texts = [text for message in call.messages for text in _texts(message)]
    for tool in call.tools:
        texts += [tool.name, tool.description, json.dumps(dict(tool.parameters))]
    if call.reply_schema is not None:
        texts.append(json.dumps(dict(call.reply_schema)))
    return estimated_tokens(texts) + PER_MESSAGE * len(call.messages)


def least_reply(wanted: int, context: int, *, reasoning: bool = False) -> int:
    """The shortest limit that a reply is given where a prompt leaves it less than `wanted`: an
    eighth of the context, half of it for a model that reasons first, 1,024 tokens at least."""
    return min(wanted, max(SHORTEST_REPLY, context // (2 if reasoning else 8)))


def too_long(name: str, call: Call, context: int, can: Capabilities) -> Missing | None:
    """The reason not to send a call that leaves too little of the context for its reply: a server
    may cut a prompt without a word. None where it fits, if with a shorter reply."""
    prompt = prompt_tokens(call)
    least = least_reply(call.max_tokens, context, reasoning=can.reasoning)
    if prompt + least <= context:
        return None
    return Missing(
        "rejected",
        f"{name}: the prompt was not sent: by an upper estimate it has {prompt:,} tokens and its "
        f"reply needs {least:,}, together more than the model's context of {context:,}. A context "
        f"of {prompt + least:,} would do (context_tokens, and the server's own setting), or fewer "
        "tables (--tables)",
    )


def largest_cost(call: Call, price: Price | None) -> Reservation:
    """The most that one request for this call can cost."""
    prompt, replies = prompt_tokens(call), call.n * call.limit
    cost = None if price is None else price.highest(prompt, replies)
    return Reservation(1, prompt + replies, cost, replies)


@dataclass
class SpendingMeter:
    """One step's requests to one model, on the account of its question.

    Used on the engine's thread; read once the calls are settled.
    """

    spending: Spending
    step: str
    price: Price | None
    costs: dict[int, float | None] = field(default_factory=dict)
    """US dollars for each call, by the identity of its messages; None is unknown."""
    _reserved: dict[int, Reservation] = field(default_factory=dict)

    def reserve(self, call: Call) -> bool:
        """True if the budget has room for the most this request can cost; the room is then
        reserved."""
        most = largest_cost(call, self.price) if self.spending.limited else Reservation()
        if not self.spending.reserve(most):
            return False
        self._reserved[id(call)] = most
        return True

    def settle(self, call: Call, outcome: Completion | EndpointError | None) -> Usage:
        """Put what it came to in place of what was reserved."""
        used = self._used(call, outcome)
        key = id(call.messages)
        before = self.costs.get(key, 0.0)
        known = before is not None and used.cost is not None
        self.costs[key] = (before or 0.0) + (used.cost or 0.0) if known else None
        self.spending.settle(self.step, self._reserved.pop(id(call)), used)
        return used

    def _used(self, call: Call, outcome: Completion | EndpointError | None) -> Usage:
        if isinstance(outcome, EndpointError):
            return Usage(calls=1, unanswered=1)
        if outcome is None:
            prompt = prompt_tokens(call)
            cost = None if self.price is None else self.price.cost(prompt, 0)
            return Usage(1, prompt, 0, cost, unanswered=1)
        prompt, replies = completion_tokens(call, outcome)
        read = min(outcome.cached_prompt_tokens, prompt)
        written = min(outcome.written_prompt_tokens, prompt - read)
        cost = outcome.cost
        if cost is None and self.price is not None:
            cost = self.price.cost(prompt, replies, read, written)
        return Usage(
            1,
            prompt,
            replies,
            cost,
            reasoning_tokens=min(outcome.reasoning_tokens, replies),
            cached_prompt_tokens=read,
            written_prompt_tokens=written,
        )


def completion_tokens(call: Call, completion: Completion) -> tuple[int, int]:
    """Tokens of the prompt and of all replies, estimated where the endpoint says none or what can't
    be. Nothing is what an endpoint says that counts nothing; a prompt has some, a reply may."""
    estimated = prompt_tokens(call)
    written = sum(estimated_tokens(_reply_texts(reply)) for reply in completion.replies)
    longest = max(written, call.n * call.limit)
    prompt = _plausible(completion.prompt_tokens, estimated, most=estimated)
    if not call.max_tokens:
        return prompt, 0  # vectors, which aren't paid by their length
    return prompt, _plausible(completion.reply_tokens, written, most=longest)


def took_when_made(reply: Reply, call: Call, price: Price | None, *, first: bool) -> Took:
    """The cost of a reply that was kept without it, as one request: the tokens that its endpoint
    told, else estimated by the texts; those of the prompt for the `first` of a request alone."""
    prompt = reply.prompt_tokens or (prompt_tokens(call) if first else 0)
    written = reply.reply_tokens or estimated_tokens(_reply_texts(reply))
    cost = None if price is None else price.cost(prompt, written)
    return Took(int(first or reply.prompt_tokens > 0), prompt, written, cost)


def _plausible(reported: int | None, estimated: int, *, most: int) -> int:
    """The number reported where it can be; `most` is what it might be by our own account."""
    if not reported or not 0 < reported <= FAR * most + UNSEEN:
        return estimated
    return reported


def _texts(message: PlainMessage) -> list[str]:
    return [message.text, *(call.name + call.arguments for call in message.tool_calls)]


def _reply_texts(reply: Reply) -> list[str]:
    return [reply.text, *(call.name + call.arguments for call in reply.tool_calls)]
