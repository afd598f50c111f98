"""The part of a page that a script writes, between two marks."""

from pathlib import Path


def write_between(page: Path, begins: str, ends: str, text: str) -> None:
    """Put a text between the marks, in lines of its own; all else stays."""
    head, _, rest = page.read_text("utf-8").partition(begins)
    _, _, tail = rest.partition(ends)
    page.write_text(f"{head}{begins}\n{text.rstrip()}\n{ends}{tail}", "utf-8")
