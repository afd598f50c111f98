"""Make a virtual environment, or say the one command that helps when that can't be done.

Runs on the system's Python before anything is installed: standard library only.
"""

import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)


def main(folder):
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        return (
            f"sqlwright needs Python {OLDEST[0]}.{OLDEST[1]} or later; this is {found}.\n"
            "Name a newer one: make demo PYTHON=python3.12"
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return (
            "This Python can't make virtual environments (its venv module is missing).\n"
            f"On Debian or Ubuntu: sudo apt-get install python{version}-venv"
        )
    made = subprocess.run([sys.executable, "-m", "venv", folder], check=False)
    if made.returncode or not (Path(folder) / "bin" / "python").exists():
        return f"{sys.executable} -m venv {folder} failed; its message is above."
    return None


if __name__ == "__main__":
    problem = main(sys.argv[1])
    if problem:
        sys.stderr.write(problem + "\n")
        sys.exit(1)
