"""A process under watch: the files it makes, the sockets it opens, the names it looks up.

It is watched from three sides. An audit hook within hears what Python asks of the socket module.
The system's tables of sockets, looked at all the time from outside, also show what libraries open
past Python. `strace`, where it is installed and allowed, misses nothing, however short-lived.
Answers of a name server play no part in any of them.

Run as a script this module is the watched process:

    python tests/watched.py REPORT SECONDS ask|chat|open|file WORD ...

SECONDS are how long it lives on after its work; what the audit hook heard goes to REPORT.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_SECONDS = 0.02
TABLES = ("tcp", "tcp6", "udp", "udp6", "udplite", "raw", "raw6", "icmp", "icmp6", "packet")
"""Of sockets that reach beyond the machine, or could."""
WITHIN = ("AF_UNIX", "AF_LOCAL")
_CREATED = re.compile(r'(?:openat|mkdirat|open|creat|mkdir)\((?:AT_FDCWD, )?"([^"]+)"(.*)')
_OPENED = re.compile(r"socket\((\w+)")


@dataclass(frozen=True)
class Watched:
    """What a process did."""

    code: int
    out: str
    errors: str
    files: tuple[str, ...]
    """What lies in its home, temporary and working folder afterwards, relative to their parent."""
    heard: tuple[str, ...]
    """Python's socket calls: those of this machine's own sockets left out."""
    sockets: tuple[str, ...]
    """Rows of the system's tables that were its own or its children's."""
    traced: tuple[str, ...] | None
    """System calls that open a socket other than this machine's own; None without strace."""
    created: tuple[Path, ...] | None
    """What system calls made, wherever it is, report and devices left out; None without strace."""
    folder: Path


def strace_problem() -> str:
    """Why system calls can't be traced here; empty when they can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(
        ["strace", "-f", "-o", os.devnull, "true"], capture_output=True, text=True, check=False
    )
    return "" if tried.returncode == 0 else f"strace doesn't work here: {tried.stderr.strip()}"


def watch(
    folder: Path, words: Sequence[str], *, seconds: float = 0.0, stdin: str = "", trace: bool = True
) -> Watched:
    """Run `sqlwright` or a Python file under watch, in empty folders under `folder`.

    `words` are those of the module's own command line from `ask` on. The environment is bare: no
    variable by which libraries recognise a test, CI, or another's choice of folders.
    """
    places = {name: folder / name for name in ("home", "tmp", "work")}
    for place in places.values():
        place.mkdir(parents=True)
    report, calls = folder / "report.json", folder / "calls"
    traced = trace and not strace_problem()
    kinds = "trace=network,openat,open,creat,mkdir,mkdirat"
    tracer = ["strace", "-f", "-qq", "-s", "200", "-e", kinds, "-o", str(calls)] if traced else []
    process = subprocess.Popen(
        [*tracer, sys.executable, "-B", str(Path(__file__)), str(report), str(seconds), *words],
        env={
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(places["home"]),
            "TMPDIR": str(places["tmp"]),
            "PYTHONIOENCODING": "utf-8",
        },
        cwd=places["work"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(stdin)
    process.stdin.close()
    process.stdin = None
    sockets: set[str] = set()
    while process.poll() is None:
        sockets.update(open_sockets(process.pid))
        time.sleep(LOOK_SECONDS)
    out, errors = process.communicate()
    lines = calls.read_text("utf-8", "replace").splitlines() if traced else []
    return Watched(
        process.returncode,
        out,
        errors,
        tuple(sorted(_files(folder, places.values()))),
        tuple(json.loads(report.read_text("utf-8"))) if report.exists() else ("no report",),
        tuple(sorted(sockets)),
        tuple(_opened(lines)) if traced else None,
        tuple(dict.fromkeys(_created(lines, places["work"], report))) if traced else None,
        folder,
    )


def _files(folder: Path, places: Iterable[Path]) -> Iterator[str]:
    for place in places:
        for path in place.rglob("*"):
            if not path.is_dir():
                yield path.relative_to(folder).as_posix()


def open_sockets(pid: int) -> Iterator[str]:
    """Rows of the tables of sockets, as `udp 0100007F:0035`, that a process or a descendant of it
    holds now. Nothing where the system has no such tables."""
    for one in _family(pid):
        held = set()
        with contextlib.suppress(OSError):
            for link in Path(f"/proc/{one}/fd").iterdir():
                with contextlib.suppress(OSError):
                    held.add(str(link.readlink()))
        inodes = {name[8:-1] for name in held if name.startswith("socket:[")}
        for table in TABLES if inodes else ():
            with contextlib.suppress(OSError):
                for row in Path(f"/proc/{one}/net/{table}").read_text().splitlines()[1:]:
                    if inodes & set(row.split()):
                        yield " ".join([table, *row.split()[1:3]])


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _opened(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        found = _OPENED.search(line)
        if found and found[1] not in WITHIN:
            yield line


def _created(lines: Sequence[str], work: Path, report: Path) -> Iterator[Path]:
    for line in lines:
        found = _CREATED.search(line)
        if found is None or " = -1 " in line:
            continue
        path = work / found[1]
        makes = "mkdir" in line or "creat(" in line or "O_CREAT" in found[2]
        if makes and path != report and not path.is_relative_to("/dev"):
            yield path


def main(report: Path, seconds: float, words: Sequence[str]) -> int:
    """Do what `words` say with an ear to the socket module."""
    heard: list[str] = []

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if not event.startswith("socket."):
            return
        family = str(getattr(arguments[0], "family", "")) if arguments else ""
        if event == "socket.__new__":
            family = str(arguments[1])
        if not family.endswith(WITHIN) and family != "1":
            heard.append(f"{event} {arguments[1:] if family else arguments!r}")

    sys.addaudithook(hear)
    try:
        return _work(words)
    finally:
        time.sleep(seconds)
        report.write_text(json.dumps(heard), "utf-8")


def _work(words: Sequence[str]) -> int:
    kind, *rest = words
    if kind == "file":
        import runpy

        runpy.run_path(rest[0])
        return 0
    if kind == "open":
        import sqlwright

        with sqlwright.open(rest[0]) as session:
            sys.stdout.write(session.ask(rest[1]).status)
        return 0
    from sqlwright.cli.main import main as command

    return command([kind, *rest])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
