"""Make the README's picture: what `sqlwright ask` prints on a terminal, as SVG.

python scripts/picture.py docs/ask.svg DATABASE "question"
"""

import os
import pty
import subprocess
import sys

from rich.console import Console
from rich.text import Text

WIDTH = 92


def terminal_output(arguments: list[str]) -> str:
    """What a command prints when it writes to a terminal of our width."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(WIDTH), "LINES": "60", "TERM": "xterm-256color"}
    environment["COLORTERM"] = "truecolor"
    process = subprocess.Popen(
        arguments, stdout=follower, stderr=subprocess.DEVNULL, env=environment
    )
    os.close(follower)
    chunks = []
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    process.wait()
    return b"".join(chunks).decode().replace("\r\n", "\n")


def main() -> None:
    target, database, question = sys.argv[1:4]
    printed = terminal_output(["sqlwright", "ask", database, question])
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(Text(f'$ sqlwright ask business.sqlite "{question}"', style="bold"))
    console.print()
    console.print(Text.from_ansi(printed))
    console.save_svg(target, title="sqlwright")


if __name__ == "__main__":
    main()
