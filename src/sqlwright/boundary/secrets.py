"""Credentials in text that is kept: recognised by their form, and masked."""

from __future__ import annotations

import re

_SECRETS = re.compile(
    r"(?<=://)[^\s/@:]+:[^\s/]+(?=@)"  # user:password in a URL
    r"|(?<=[?&])(?:password|passwd|token|key|secret|api_key)=[^&\s]+"
    r"|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{16}\b"
    r"|\b(?:gsk_|xai-|hf_|AIza)[A-Za-z0-9_-]{16,}"
    r"|\bBearer\s+[A-Za-z0-9._~+/-]{12,}=*",
    re.IGNORECASE,
)


def mask(text: str) -> str:
    """The text without what looks like a credential."""
    return _SECRETS.sub("***", text)
