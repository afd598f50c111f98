"""Takes rights from a worker process once it is loaded, so that it can do nothing but read.

Even if both layers before it failed: no network, no other process, no file written or removed, and
where Landlock is there (Linux 5.13 and later) no file opened outside of the database's folder.
Nothing here is needed for a query to be answered, so what a platform lacks is left out; `confine`
says what holds.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from collections.abc import Collection, Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

_MOST_ARENAS = -8
"""M_ARENA_MAX of glibc's malloc.h."""
FILES_OPEN = 64
"""File descriptors of a worker at most (RLIMIT_NOFILE); SQLite needs about ten."""
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ_FILE, _READ_FOLDER, _REMOVE_FOLDER, _ALL = 1 << 2, 1 << 3, 1 << 4, -1
_RIGHTS_BY_VERSION = (0, 13, 14, 15, 15, 16)
"""Number of rights on files that each version of Landlock knows; later ones know as many as the
last."""
_NETWORK, _SCOPES = 0b11, 0b11
"""Binding and connecting (version 4); abstract sockets and signals (version 6)."""

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""A machine's name for the filter, and the column of its numbers below."""
_FORBIDDEN: dict[str, tuple[int, int]] = {
    # network
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200),
    # other processes
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, -1), "vfork": (58, -1),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kill": (62, 129), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    # files and folders, other than by opening
    "unlink": (87, -1), "unlinkat": (263, 35), "rename": (82, -1), "renameat": (264, 38),
    "renameat2": (316, 276), "mkdir": (83, -1), "mkdirat": (258, 34), "rmdir": (84, -1),
    "link": (86, -1), "linkat": (265, 37), "symlink": (88, -1), "symlinkat": (266, 36),
    "mknod": (133, -1), "mknodat": (259, 33), "creat": (85, -1), "truncate": (76, 45),
    "ftruncate": (77, 46), "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "chown": (92, -1), "fchown": (93, 55), "lchown": (94, -1),
    "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "open_by_handle_at": (304, 265), "openat2": (437, 437),
    # the system
    "mount": (165, 40), "umount2": (166, 39), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "bpf": (321, 280), "perf_event_open": (298, 241), "keyctl": (250, 219),
    "io_uring_setup": (425, 425), "userfaultfd": (323, 282), "memfd_create": (319, 279),
}  # fmt: skip
_CLIENT_CALLS = frozenset({"socket", "connect", "bind"})
"""A client connects; the C library binds a socket of its own to see which networks there are."""
_OPEN, _OPENAT, _CLONE, _CLONE3 = (2, -1), (257, 56), (56, 220), (435, 435)
_WRITES = 0o3 | 0o100 | 0o1000
"""Flags of opening: to write, to create, to cut short."""
_THREAD = 0x10000
"""CLONE_THREAD of Linux's sched.h."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_EACCES, _ENOSYS = 13, 38
_FOREIGN_CALLS = 0x40000000
"""Numbers from here on are those of another calling convention of x86_64."""


def confine(folder: str, also: Collection[str] = ()) -> list[str]:
    """Give up what reading below `folder` doesn't need, for good; the names of what holds now.
    What `also` names, of the system's own, may be read, too, where it is there.

    Threads that were started before keep some of it, so there should be none.
    """
    for place in also if sys.platform == "linux" else ():
        # Left open: the system makes files of /proc anew when nobody holds them, and what was
        # allowed would be another file.
        with contextlib.suppress(OSError):
            os.open(place, os.O_PATH | os.O_CLOEXEC)
    there = [folder, *filter(os.path.exists, also)]
    return _confined(dict.fromkeys(there, _READ_FILE))


def confine_client() -> list[str]:
    """Give up what asking a server doesn't need, for good: only the network and reading of files
    (certificates, names of hosts, time zones) are left. The names of what holds now."""
    return _confined({"/": _READ_FILE | _READ_FOLDER}, client=True)


def _confined(folders: dict[str, int], *, client: bool = False) -> list[str]:
    """Give up all but these rights on what is below some folders, and for a client the network."""
    holds = ["limits"] if _lower_limits() else []
    if sys.platform != "linux":
        return holds
    # Both restrictions want this first: nothing that is run later can undo them.
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        system = ctypes.CDLL(None, use_errno=True)
        if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            return holds
        holds.append("no_new_privs")
        if _landlock(system, folders, network=client):
            holds.append("landlock")
        if _seccomp(system, allowed=_CLIENT_CALLS if client else ()):
            holds.append("seccomp")
    return holds


def confine_copier(source: str, copy: str, temporary: str) -> None:
    """Give up all but reading in one folder, anything in that of the copy, and removing that."""
    lower("RLIMIT_CORE", 0, for_good=True)
    if sys.platform != "linux":
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        system = ctypes.CDLL(None, use_errno=True)
        if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0:
            _landlock(system, {source: _READ_FILE, copy: _ALL, temporary: _REMOVE_FOLDER})


def share_one_arena() -> None:
    """Have all threads allocate from one arena of glibc's. Each thread's own reserves memory that
    counts towards the limit although hardly any of it is used."""
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):  # another C library
            import ctypes

            ctypes.CDLL(None).mallopt(_MOST_ARENAS, 1)


def no_more_threads() -> None:
    """Neither this process nor its user's limits allow it another thread; root is exempt."""
    if resource is not None:
        lower("RLIMIT_NPROC", 0, for_good=True)


def lower(name: str, value: int, *, for_good: bool = False) -> bool:
    """Set one of the system's limits, where it knows it; `for_good`: it can't be raised again."""
    which = getattr(resource, name, None)
    if which is None:
        return False
    hard = resource.getrlimit(which)[1]
    soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        resource.setrlimit(which, (soft, soft if for_good else hard))
    except (OSError, ValueError):  # a platform that knows the name alone
        return False
    return True


def _lower_limits() -> bool:
    limits = {"RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": FILES_OPEN}
    return resource is not None and all(
        lower(name, most, for_good=True) for name, most in limits.items()
    )


def _landlock(system: ctypes.CDLL, folders: dict[str, int], *, network: bool = False) -> bool:
    """Allow the rights named for what lies below some folders, and no others, nor the network
    unless it is asked for."""
    version = system.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << _RIGHTS_BY_VERSION[min(version, len(_RIGHTS_BY_VERSION) - 1)]) - 1
    handled = struct.pack("=Q", rights)
    if version >= 4:
        handled += struct.pack("=Q", 0 if network else _NETWORK)
    if version >= 6:
        handled += struct.pack("=Q", 0 if network else _SCOPES)
    rules = system.syscall(_LANDLOCK_CREATE, handled, len(handled), 0)
    if rules < 0:
        return False
    try:
        for folder, allowed in folders.items():
            below = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = struct.pack("=Qi", allowed & rights, below)
                if system.syscall(_LANDLOCK_ADD, rules, 1, rule, 0) != 0:
                    return False
            finally:
                os.close(below)
        return bool(system.syscall(_LANDLOCK_RESTRICT, rules, 0) == 0)
    finally:
        os.close(rules)


def _seccomp(system: ctypes.CDLL, *, allowed: Container[str] = ()) -> bool:
    """Have the system refuse the calls that reading doesn't need, but for those allowed."""
    import ctypes

    machine = _MACHINES.get(os.uname().machine)
    if machine is None or struct.calcsize("P") != 8:
        return False
    program = _program(*machine, allowed)
    code = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    return bool(system.prctl(_SET_SECCOMP, _FILTER, head, 0, 0) == 0)


def _program(machine: int, column: int, allowed: Container[str] = ()) -> bytes:
    """The filter: instructions of the classic Berkeley packet filter over a call's number, machine
    and arguments."""
    load, equal, at_least, any_of, give = 0x20, 0x15, 0x35, 0x45, 0x06

    def instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("=HBBI", code, yes, no, value)

    def argument(number: int) -> bytes:
        return instruction(load, 16 + 8 * number)

    refuse = instruction(give, _REFUSE | _EACCES)
    steps = [instruction(load, 4), instruction(equal, machine, 1), refuse, instruction(load, 0)]
    steps += [instruction(at_least, _FOREIGN_CALLS, 0, 1), refuse]
    for name, numbers in _FORBIDDEN.items():
        if numbers[column] >= 0 and name not in allowed:
            steps += [instruction(equal, numbers[column], 0, 1), refuse]
    # Without it, the C library starts threads by the older call, whose flags can be looked at.
    steps += [instruction(equal, _CLONE3[column], 0, 1), instruction(give, _REFUSE | _ENOSYS)]
    steps += [
        instruction(equal, _CLONE[column], 0, 3),
        argument(0),
        instruction(any_of, _THREAD, 1),
        refuse,
    ]
    for call, flags in ((_OPEN, 1), (_OPENAT, 2)):
        if call[column] >= 0:
            steps += [instruction(load, 0), instruction(equal, call[column], 0, 3), argument(flags)]
            steps += [instruction(any_of, _WRITES, 0, 1), refuse]
    return b"".join([*steps, instruction(give, _ALLOW)])
