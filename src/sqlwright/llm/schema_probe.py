"""A request by whose reply a server is seen to hold replies to a JSON schema, or not to."""

from __future__ import annotations

import json

from sqlwright.messages import Message, Reply, Request, Sample, Span, Text

WORD = "q7-violet-anvil"
"""A reply that nothing but the schema leads to."""
REQUEST = Request(
    (Message("user", Text((Span("Which colour is the sky at noon? One word.", "template"),))),),
    max_tokens=64,
    reply_schema={
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": [WORD]}},
        "required": ["colour"],
        "additionalProperties": False,
    },
)


def is_held(sample: Sample) -> bool | None:
    """True for a reply as the schema has it; None where there is no reply to go by."""
    if not isinstance(sample, Reply):
        return None
    try:
        return bool(json.loads(sample.text) == {"colour": WORD})
    except (ValueError, RecursionError):
        return False
