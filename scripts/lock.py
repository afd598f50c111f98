"""Write requirements-dev.lock: every package of the development environment, for all platforms and
Pythons that are supported, in one version and with the hashes of its files.

Without arguments the versions are the newest that pyproject.toml allows. `--check` says whether the
file still fits pyproject.toml, and changes nothing.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements-dev.lock"
HEADER = "# Made by `make lock` from pyproject.toml; `make test` installs from it.\n"


def compiled(*options):
    """The text of the lock file. `options` say which versions are preferred."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lock"
        if "--check" in options and LOCK.exists():
            file.write_text(LOCK.read_text("utf-8"), "utf-8")  # what it says is kept where it fits
        command = [
            sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-header",
            "--generate-hashes", "--universal", "--python-version", "3.11", "--extra", "dev",
            "--output-file", str(file), "pyproject.toml",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, check=False)
        if done.returncode:
            raise SystemExit(done.returncode)
        return HEADER + file.read_text("utf-8")


def main(arguments):
    """Write the file, or compare it."""
    text = compiled(*arguments)
    if "--check" not in arguments:
        LOCK.write_text(text, "utf-8")
    elif text != LOCK.read_text("utf-8"):
        raise SystemExit("requirements-dev.lock doesn't fit pyproject.toml: run make lock")


if __name__ == "__main__":
    main(sys.argv[1:])
