"""Opens, asks and prepares hostile and damaged files, and says whether any did harm.

    python -m benchmarks.hostile_files [COUNT] [SEED]

makes COUNT damaged files (300) besides those of every kind that is made by SQL or lies beside a
sound file, visits them all in one process, and fails where one crashes that process, changes a byte
of its folder, or takes more time or memory than is allowed.
"""

import sys
import tempfile
from pathlib import Path

from tests.database.hostile import hostile_files
from tests.database.test_hostile_files import regular_state, visited

SECONDS = 2 + 10 + 10
"""To open and ask, to read the schema for `prepare`, and to prepare; the rest is `_SPARE`."""
_SPARE = 8
MEBIBYTES = 200
SHOWN = 12


def main() -> int:
    """Visit the files; 1 when one did harm."""
    given = [int(word) for word in sys.argv[1:]]
    count, seed = (*given, *(300, 7)[len(given) :])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "files"
        folder.mkdir()
        files = list(hostile_files(folder, count, seed))
        before = {path: regular_state(path.parent) for _, path in files}
        results = visited(files, Path(name) / "home", "prepare")
        changed = [kind for kind, path in files if regular_state(path.parent) != before[path]]
    rows = sorted(
        (
            (seconds, grown, kind, said)
            for (kind, _), (said, seconds, grown) in zip(files, results, strict=True)
        ),
        reverse=True,
    )
    for seconds, grown, kind, said in rows[:SHOWN]:
        print(f"{seconds:6.1f} s {grown:5} MiB  {kind}: {said[:100]}")
    late = [row for row in rows if row[0] > SECONDS + _SPARE]
    large = [row for row in rows if row[1] > MEBIBYTES]
    opened = sum(said.startswith("opened") for _, _, _, said in rows)
    print(f"{len(rows)} files, {opened} opened, {len(changed)} changed, {len(late)} too slow, "
          f"{len(large)} too large; at most {rows[0][0]:.1f} s and "
          f"{max(row[1] for row in rows)} MiB more")  # fmt: skip
    return 1 if changed or late or large else 0


if __name__ == "__main__":
    raise SystemExit(main())
