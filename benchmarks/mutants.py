"""How many small faults in form/, english/, indexes/ and local/ the tests notice.

    python -m benchmarks.mutants --seed 1 --count 200 [--folders form local] [--again]

Draws `--count` lines of the folders' modules by `--seed`, one mutation of each (`mutations.py`),
and runs the tests that reach the changed function, the quickest first, until one fails. A longer
sample by one seed begins with the shorter one. A mutant that takes too long counts as noticed.
Prints each survivor's change, and the share noticed in each folder with a 95 % interval (Wilson).

The work tree is only read: mutants are written into copies of it under `--home`, and what came of
each into a file there, so a run that was ended goes on where it was. `--again` runs the survivors
of an earlier run once more, after tests were added. Needs os.fork.

Which tests reach a function is noted by one run of `TESTS`. Tests that share a cache (`lru_cache`)
hide each other's calls, so for modules with one all tests of each file that reaches the module are
run, and for what a module does when it is imported all tests of its folder.

Maintained libraries don't do this: mutmut 3 changes nothing outside functions nor in decorated ones
(most of english/ and much of form/ are tables), and neither it nor cosmic-ray draws a sample by
seed; cosmic-ray starts Python anew for each mutant, which costs more than most tests here.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.mutations import Mutation, compiles, mutations_of
from benchmarks.reached import Reached, Recorder

ROOT = Path(__file__).parents[1]
FOLDERS = ("form", "english", "indexes", "local")
TESTS: dict[str, tuple[str, ...]] = {
    "form": ("tests/form", "tests/local"),
    "english": ("tests/english", "tests/local", "tests/steps/retrieval", "tests/catalog"),
    "indexes": ("tests/indexes", "tests/local", "tests/steps/retrieval"),
    "local": ("tests/local",),
}
"""Where the tests of each folder are looked for."""
LARGE = 1 << 20
"""Bytes from which a file is linked to, not copied."""
KEPT = ".kept"
CACHED = ("@lru_cache", "@cache", "cached_property")


def main() -> int:
    given = _arguments()
    os.environ.update(CI="1", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")
    sources = _sources()
    trees = [_copied(given.home / f"tree{number}") for number in range(given.jobs)]
    tests = _reached(trees[0], given)
    chosen = list(_drawn(given, sources))
    kept = given.home / f"results-{given.seed}-{'-'.join(given.folders)}-{_digest('src')}.jsonl"
    known = _earlier(kept, again=given.again)
    waiting = [mutation for mutation in chosen if mutation.key not in known]
    for tree in trees:
        _check_harness(tree, tests)
    print(f"{len(chosen)} mutants, {len(waiting)} of them to run", flush=True)
    with kept.open("a", encoding="utf-8") as out:
        for mutation, outcome, by in _outcomes(waiting, trees, sources, tests, given.limit):
            known[mutation.key] = outcome
            record = {**asdict(mutation), "key": mutation.key, "outcome": outcome, "by": by}
            out.write(json.dumps(record) + "\n")
            out.flush()
            print(f"{outcome:9} {mutation.path}:{mutation.line} {mutation.kind} {by}", flush=True)
    _report(chosen, sources, known)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folders", nargs="+", choices=FOLDERS, default=list(FOLDERS))
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds beside four times the tests' own"
    )
    parser.add_argument("--again", action="store_true", help="run earlier survivors once more")
    parser.add_argument(
        "--home", type=Path, default=Path(tempfile.gettempdir()) / "sqlwright-mutants"
    )
    given = parser.parse_args()
    given.home.mkdir(parents=True, exist_ok=True)
    return given


def _sources() -> dict[str, bytes]:
    """Every module by its path, as it is now: the work tree may change meanwhile."""
    root = ROOT / "src" / "sqlwright"
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def _drawn(given: argparse.Namespace, sources: dict[str, bytes]) -> Iterator[Mutation]:
    """One mutation of each of so many lines."""
    lines: dict[tuple[str, int], list[Mutation]] = defaultdict(list)
    for path, source in sources.items():
        if path.split("/")[0] in given.folders:
            for mutation in mutations_of(path, source):
                lines[mutation.path, mutation.line].append(mutation)
    chance = random.Random(given.seed)
    order = sorted(lines)
    chance.shuffle(order)
    found = 0
    for line in order:
        mutation = chance.choice(lines[line])
        if found < given.count and compiles(mutation, sources[mutation.path]):
            found += 1
            yield mutation


# ---- copies


def _copied(tree: Path) -> Path:
    """A copy of what the tests need; large files and other folders are links."""
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    for path in ROOT.iterdir():
        if path.name in {"src", "tests"}:
            skip = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, tree / path.name, copy_function=_copy, ignore=skip)
        elif path.name not in {".git", ".venv", ".hypothesis"} and "cache" not in path.name:
            (tree / path.name).symlink_to(path)
    return tree


def _copy(source: str, target: str) -> None:
    if Path(source).stat().st_size >= LARGE:
        Path(target).symlink_to(source)
    else:
        shutil.copy2(source, target)


def _digest(*folders: str) -> str:
    content = hashlib.sha256()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".yaml", ".sql", ".txt", ".json"}:
                content.update(path.as_posix().encode() + path.read_bytes())
    return content.hexdigest()[:12]


# ---- which tests reach which function


def _reached(tree: Path, given: argparse.Namespace) -> dict[str, Reached]:
    """Every test by its name; noted once for each state of code and tests."""
    places = sorted({place for folder in given.folders for place in TESTS[folder]})
    kept = given.home / f"tests-{'-'.join(given.folders)}-{_digest('src', 'tests')}.json"
    if not kept.exists():
        started = time.monotonic()
        noted = kept.with_suffix(".new")
        pid = os.fork()
        if not pid:
            os._exit(_run_tests(tree, places, Recorder(tree, noted), "--maxfail=1000"))
        os.waitpid(pid, 0)
        noted.rename(kept)
        print(f"noted what tests reach in {time.monotonic() - started:.0f} s", flush=True)
    found = json.loads(kept.read_text())
    for name in found["modules"]:
        try:
            __import__(name)
        except ImportError:
            continue
    for name in found["failed"]:
        print(f"left out, for it fails without any mutation: {name}", flush=True)
    sound = {name: own for name, own in found["tests"].items() if name not in found["failed"]}
    return {name: Reached(**own) for name, own in sound.items()}


def _belonging(mutation: Mutation, tests: dict[str, Reached], source: str) -> list[str]:
    """The tests of a mutation, the quickest first."""
    wanted, module = f"{mutation.path}:{mutation.function}", f"{mutation.path}:"
    whole = not mutation.function or any(word in source for word in CACHED)
    chosen, files = set(), set()
    for name, test in tests.items():
        if wanted in test.functions:
            chosen.add(name)
        if wanted in test.shared:
            files.add(name.split("::")[0])
        if whole and any(one.startswith(module) for one in (*test.functions, *test.shared)):
            files.add(name.split("::")[0])
    if not (chosen or files) or not mutation.function:
        places = tuple(f"{place}/" for place in TESTS[mutation.path.split("/")[0]])
        files |= {name.split("::")[0] for name in tests if name.startswith(places)}
    direct = sorted(chosen, key=lambda name: tests[name].seconds)
    others = [name for name in tests if name.split("::")[0] in files and name not in chosen]
    return direct + sorted(others, key=lambda name: tests[name].seconds)


# ---- running


class _Only:
    """Runs certain tests in a certain order; notes the first that fails."""

    def __init__(self, names: Sequence[str], note: Path) -> None:
        self._order = {name: place for place, name in enumerate(names)}
        self._note = note

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid in self._order]
        items.sort(key=lambda item: self._order[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._note.write_text(report.nodeid)


def _run_tests(tree: Path, places: Sequence[str], plugin: object, stop: str = "-x") -> int:
    """pytest in this process, over a copy; never comes back to the caller's modules."""
    import pytest

    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(tree / "src")
    sys.path[:0] = [str(tree), str(tree / "src")]
    options = [stop, "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # imported before the forks
    return int(pytest.main([*options, *places], plugins=[plugin]))


def _check_harness(tree: Path, tests: dict[str, Reached]) -> None:
    """Raise unless tests pass in a fork where nothing was changed, one of each file. What is
    compiled on the way is kept for the mutants."""
    first = {name.split("::")[0]: name for name in sorted(tests, key=lambda n: -tests[n].seconds)}
    status = os.waitpid(_forked(tree, list(first.values()), keep=True), 0)[1]
    if status:
        raise SystemExit(f"tests fail without any mutation: {(tree / 'log').read_text()[-2000:]}")


def _start(mutation: Mutation, source: bytes, tree: Path, names: Sequence[str]) -> int:
    target = tree / "src" / "sqlwright" / mutation.path
    for kept in _compiled(target):
        kept.rename(kept.with_name(kept.name + KEPT))
    target.write_bytes(mutation.applied(source))
    return _forked(tree, names)


def _compiled(target: Path) -> list[Path]:
    """A module and what was compiled of it, which may be as old and as long as a mutant."""
    return [target, *(target.parent / "__pycache__").glob(f"{target.stem}.*.pyc")]


def _put_back(target: Path) -> None:
    for folder in (target.parent, target.parent / "__pycache__"):
        for kept in folder.glob(f"{target.stem}.*{KEPT}"):
            kept.rename(kept.with_name(kept.name.removesuffix(KEPT)))


def _forked(tree: Path, names: Sequence[str], *, keep: bool = False) -> int:
    """The number of a process that runs these tests."""
    note = tree / "failed"
    note.unlink(missing_ok=True)
    pid = os.fork()
    if pid:
        return pid
    os.setpgid(0, 0)
    if not keep:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    log = os.open(tree / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    files = list(dict.fromkeys(name.split("::")[0] for name in names))
    code = 3
    try:
        code = _run_tests(tree, files, _Only(names, note)) if names else 5
    finally:
        os._exit(code)


def _outcomes(
    waiting: Sequence[Mutation],
    trees: Sequence[Path],
    sources: dict[str, bytes],
    tests: dict[str, Reached],
    limit: float,
) -> Iterator[tuple[Mutation, str, str]]:
    rest = list(reversed(waiting))
    free = list(trees)
    running: dict[int, tuple[Mutation, Path, float]] = {}
    while rest or running:
        while rest and free:
            mutation, tree = rest.pop(), free.pop()
            source = sources[mutation.path]
            names = _belonging(mutation, tests, source.decode())
            until = time.monotonic() + limit + 4 * sum(tests[name].seconds for name in names)
            running[_start(mutation, source, tree, names)] = (mutation, tree, until)
        time.sleep(0.02)
        for pid, (mutation, tree, until) in list(running.items()):
            late = time.monotonic() > until
            if late:
                os.killpg(pid, signal.SIGKILL)
            done, status = os.waitpid(pid, 0 if late else os.WNOHANG)
            if not done:
                continue
            del running[pid]
            _put_back(tree / "src" / "sqlwright" / mutation.path)
            free.append(tree)
            yield mutation, *_outcome(status, tree, late=late)


def _outcome(status: int, tree: Path, *, late: bool) -> tuple[str, str]:
    if late:
        return "killed", "too slow"
    code = os.waitstatus_to_exitcode(status)
    if code in {0, 5}:
        return "survived", "" if code == 0 else "no test reaches it"
    note = tree / "failed"
    return "killed", note.read_text() if note.exists() else "import"


def _earlier(kept: Path, *, again: bool) -> dict[str, str]:
    if not kept.exists():
        return {}
    records = map(json.loads, kept.read_text("utf-8").splitlines())
    known = {record["key"]: record["outcome"] for record in records}
    return {key: outcome for key, outcome in known.items() if not again or outcome == "killed"}


def _report(chosen: Sequence[Mutation], sources: dict[str, bytes], known: dict[str, str]) -> None:
    from sqlwright.lab.evaluation.intervals import Share

    for mutation in chosen:
        if known[mutation.key] == "survived":
            print(f"\n{mutation.path}:{mutation.line} {mutation.kind}")
            source = sources[mutation.path]
            pair = (source, mutation.applied(source))
            before, after = (text.decode().splitlines() for text in pair)
            lines = list(difflib.unified_diff(before, after, n=1, lineterm=""))
            print("\n".join(line[:200] for line in lines[3:]))
    print()
    for folder in (*FOLDERS, ""):
        outcomes = [known[one.key] for one in chosen if one.path.startswith(folder)]
        if outcomes:
            share = Share(outcomes.count("killed"), len(outcomes))
            print(f"{folder or 'all':8} {share}")


if __name__ == "__main__":
    raise SystemExit(main())
