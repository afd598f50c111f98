"""Probabilities of a few short answers, from the log probabilities of a reply's tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sqlwright.messages import Reply

MARKS = " \t\n\"'`*([{:.,)]}"
"""Marks around an answer that aren't part of it, some of which share its token."""


def choice_probabilities(reply: Reply, choices: Sequence[str]) -> Mapping[str, float] | None:
    """The probability of each choice at the first place where the reply says one of them.

    Choices are answers of one token, such as `A` and `B`; spellings with another case or with marks
    around them are the same answer. What none of the likeliest tokens says has 0, and all sum up to
    1 at most: the rest is for what is no choice. None without log probabilities, or if the reply
    says no choice. To be asked for with `Request.logprobs` of more than the number of choices."""
    known = {choice.strip(MARKS).casefold(): choice for choice in choices}
    for place in reply.logprobs:
        if _bare(place.token) not in known:
            continue
        found = dict.fromkeys(choices, 0.0)
        tokens = dict(place.likeliest) | {place.token: place.logprob}
        for token, logprob in tokens.items():
            if (choice := known.get(_bare(token))) is not None:
                found[choice] += math.exp(logprob)
        over = max(sum(found.values()), 1.0)  # rounding of what the server sends
        return {choice: probability / over for choice, probability in found.items()}
    return None


def _bare(token: str) -> str:
    return token.strip(MARKS).casefold()
