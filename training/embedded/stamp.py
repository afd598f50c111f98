"""Write the digests of the shipped weights into the code that checks them.

python -m training.embedded.stamp src/sqlwright/local
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable
from pathlib import Path

MAX_FILE = 15 * 1024 * 1024
MAX_ALL = 45 * 1024 * 1024
LEFT_OUT = frozenset({"MODEL_CARD.md"})

TEMPLATE = '''"""SHA-256 of every file of weights this code was released with.

Written by `python -m training.embedded.stamp`; never edited by hand.
"""

from __future__ import annotations

DIGESTS: dict[str, str] = {{
{lines}}}
'''


def digests(folder: Path) -> dict[str, str]:
    """Digest by name of every file in a folder of weights. Raises ValueError when they are too
    large to be shipped."""
    files = [path for path in sorted(folder.iterdir()) if path.name not in LEFT_OUT]
    for path in files:
        if path.stat().st_size > MAX_FILE:
            raise ValueError(f"{path.name} has {path.stat().st_size} bytes, more than {MAX_FILE}")
    total = sum(path.stat().st_size for path in files)
    if total > MAX_ALL:
        raise ValueError(f"the weights have {total} bytes, more than {MAX_ALL}")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main(arguments: Iterable[str] | None = None) -> None:
    """Rewrite `digests.py` beside the `weights` folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the package's `local` folder")
    options = parser.parse_args(None if arguments is None else list(arguments))
    found = digests(options.folder / "weights")
    lines = "".join(f'    "{name}": "{digest}",\n' for name, digest in found.items())
    (options.folder / "digests.py").write_text(TEMPLATE.format(lines=lines), encoding="utf-8")
    print(f"stamped {len(found)} files")


if __name__ == "__main__":
    main()
