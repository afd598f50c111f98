"""Calls of tools in replies, brought to the form in which other models write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlwright.messages import Capabilities, Reply, Tool


def said(reply: Reply) -> str:
    """The text of a reply; of one that calls a tool, the first call as a JSON object."""
    if not reply.tool_calls:
        return reply.text
    call = reply.tool_calls[0]
    return json.dumps({"tool": call.name, "arguments": call.arguments}, ensure_ascii=False)


def held_to(
    schema: dict[str, Any] | None, tools: Sequence[Tool], capabilities: Capabilities
) -> dict[str, Any] | None:
    """The schema that a reply is held to, by a model that can be: none where it may call tools."""
    return None if tools and capabilities.tools else schema
