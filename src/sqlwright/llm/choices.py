"""Probabilities of a few short answers, from the log probabilities of a reply's tokens."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlwright.messages import Reply, TokenLogprob

MARKS = " \t\n\"'`*([{:.,)]}▁ĠĊ"
"""Marks around an answer that aren't part of it, some of which share its token; the last three are
blanks and line feeds of servers that send tokens as their vocabulary has them."""


def choice_probabilities(reply: Reply, choices: Sequence[str]) -> Mapping[str, float] | None:
    """The probability of each choice at the first place where the reply says one of them.

    Choices are answers of one token, such as `A` and `B`, or numbers; spellings with another case
    or with marks around them are the same answer. What none of the likeliest tokens says has 0, and
    all sum up to 1 at most: the rest is for what is no choice. Where a number may go on (1, if
    there is a 10), the next place tells how, and, for a beginning that the reply doesn't have, all
    numbers that begin so share its probability alike. None without log probabilities, or if the
    reply says no choice. To be asked for with `Request.logprobs` of more than the number of
    choices."""
    known = {choice.strip(MARKS).casefold(): choice for choice in choices}
    places = reply.logprobs
    for start, end in _words(places):
        if "".join(_bare(place.token) for place in places[start:end]) not in known:
            continue
        found = dict.fromkeys(choices, 0.0)
        for answer, probability in _shares(places[start:], "", known):
            found[known[answer]] += probability
        over = max(sum(found.values()), 1.0)  # rounding of what the server sends
        return {choice: probability / over for choice, probability in found.items()}
    return None


def _words(places: Sequence[TokenLogprob]) -> Iterator[tuple[int, int]]:
    """The first place of each word of a reply, and that after it."""
    start = 0
    for place in range(1, len(places) + 1):
        if place == len(places) or not (
            _in_word(places[place - 1].token[-1:]) and _in_word(places[place].token[:1])
        ):
            yield start, place
            start = place


def _shares(
    places: Sequence[TokenLogprob], said: str, known: Collection[str]
) -> Iterator[tuple[str, float]]:
    """Answers that begin with what was `said`, with their probabilities: of the tokens at the first
    place, and of those after it where the reply goes on with one of them."""
    place, *later = places
    tokens = dict(place.likeliest) | {place.token: place.logprob}
    for token, logprob in tokens.items():
        probability = math.exp(logprob)
        text = said + _bare(token) if not said or _in_word(token[:1]) else said
        longer = [each for each in known if each.startswith(text) and each != text] if text else []
        if longer and token == place.token and text != said and later:
            yield from ((each, probability * share) for each, share in _shares(later, text, known))
        elif longer and token != place.token and text != said and text.isdigit():
            numbers = [*longer, *({text} & set(known))]
            yield from ((each, probability / len(numbers)) for each in numbers)
        elif text in known:
            yield text, probability


def _in_word(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


def _bare(token: str) -> str:
    return token.strip(MARKS).casefold()
