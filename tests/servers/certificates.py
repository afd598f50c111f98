"""Certificates made by the system's `openssl`, for servers that encrypt."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HOST = "localhost"
"""The only name that the server's certificate is for."""


@dataclass(frozen=True)
class Certificates:
    """Files of an authority, of another one that signed nothing, and of a server."""

    authority: Path
    other: Path
    server: Path
    key: Path


def missing() -> str:
    """The reason why none can be made here; empty where they can."""
    return "" if shutil.which("openssl") else "openssl isn't installed"


def make(folder: Path, user: int) -> Certificates:
    """New ones in a folder that a server of this user's reads."""
    folder.mkdir(mode=0o755)
    found = Certificates(*(folder / f"{name}.pem" for name in ("ca", "other", "server", "key")))
    for path in (found.authority, found.other):
        _run(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-out", str(path),
            "-keyout", f"{path}.key", "-subj", f"/CN=tests' {path.stem}",
        )  # fmt: skip
    request, names = folder / "request", folder / "names"
    names.write_text(f"subjectAltName=DNS:{HOST}\n")
    _run(
        "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", str(found.key),
        "-out", str(request), "-subj", f"/CN={HOST}",
    )  # fmt: skip
    _run(
        "x509", "-req", "-in", str(request), "-CA", str(found.authority), "-CAkey",
        f"{found.authority}.key", "-CAcreateserial", "-days", "2", "-out", str(found.server),
        "-extfile", str(names),
    )  # fmt: skip
    for path in folder.iterdir():
        path.chmod(0o600 if path == found.key or path.suffix == ".key" else 0o644)
    os.chown(found.key, user, -1)
    return found


def _run(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
