"""Descriptions of columns, shortened to what helps to write a query."""

from __future__ import annotations

import re

from sqlwright.prompts.cells import flat, shortened

WHOLE = 200
"""Characters of a description that is shown as it is."""
LONGEST = 400
"""Characters that are shown of a longer one."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\s*\n\s*")
_VALUES = re.compile(
    r"\b(?:null|none|n/?a|nan|missing|unknown|empty|blank|stands? for|means?)\b|[=:]", re.IGNORECASE
)
"""Marks of a sentence that says what a value stands for, a missing one included."""


def essential(text: str) -> str:
    """A description on one line: a short one whole, of a longer one the first sentence and those
    that say what a value stands for."""
    whole = flat(text)
    if len(whole) <= WHOLE:
        return whole
    first, *more = filter(None, map(str.strip, _SENTENCE.split(text.strip())))
    kept = [first, *(sentence for sentence in more if _VALUES.search(sentence))]
    return shortened(flat(" ".join(kept)), LONGEST)
