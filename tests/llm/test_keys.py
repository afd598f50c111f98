"""Keys of models: sent, never told again, and never taken for letters of a reply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlwright import api
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.sending.failures import error_without_key, looks_secret
from sqlwright.types import Answer
from tests.llm.asking import RECIPE
from tests.llm.server import Asked, Fault, ModelServer, always, well
from tests.llm.test_vendors import VENDORS, Vendor, installed

DUMMIES = ("x", "EMPTY", "none", "ollama", "sk-test")
REAL = "q9ZtL2vB7mK4xW8sR1nY"
BROKEN = "SELECT max(idx) AS next FROM customers"
SQL = "SELECT max(id) AS x, 'EMPTY none ollama sk-test' AS next FROM customers"
WIRES = [
    vendor for vendor in VENDORS if vendor.name in {"openai-compatible", "anthropic", "google"}
]
TWICE = RECIPE.replace("AskPlainly\n", "AskPlainly\n  - repair.revise\n")


def ask(
    vendor: Vendor, server: ModelServer, key: str, folder: Path, database: Path
) -> tuple[Answer, str]:
    """The answer, and all that was written meanwhile."""
    package = {"anthropic": "anthropic", "google": "google.genai"}.get(vendor.name)
    if package is not None and not installed(package):
        pytest.skip(f"{package} isn't installed")
    recipe = folder / "twice.yaml"
    recipe.write_text(TWICE)
    with api.open(
        database,
        allow_code=True,
        recipe=str(recipe),
        llm=LlmOptions(
            model=f"{vendor.name}/m",
            base_url=server.url if vendor.name == "openai-compatible" else server.origin,
            record=folder / "calls.jsonl",
        ),
        environ={"SQLWRIGHT_KEYS": f"127.0.0.1={key}"},
        home=folder / "home",
    ) as session:
        answer = session.ask("How many customers are there?")
    kept = [path for path in folder.rglob("*") if path.suffix in {".json", ".jsonl"}]
    assert len(kept) >= 2
    return answer, "".join(path.read_text("utf-8") for path in kept)


@pytest.mark.parametrize("vendor", WIRES, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize("key", DUMMIES)
def test_a_reply_keeps_the_letters_of_a_dummy_key(
    vendor: Vendor, key: str, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    def write(asked: Asked) -> str:
        return SQL if BROKEN in asked.prompt else BROKEN

    with ModelServer(answer=write) as server:
        answer, kept = ask(vendor, server, key, tmp_path, database_files["shop"])
        assert all(key in asked.headers[vendor.key_header] for asked in server.seen)
        prompts = [json.dumps(asked.body) for asked in server.seen]
    assert answer.sql == SQL
    assert answer.columns == ("x", "next")
    assert SQL in kept
    assert BROKEN in "".join(prompts)
    assert "***" not in "".join([kept, *prompts])


@pytest.mark.parametrize("vendor", WIRES, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(
    "faults", [well, always("bad_request"), always("raw:{'error': 'key=" + REAL + "'}")]
)
def test_a_real_key_is_nowhere_afterwards(
    vendor: Vendor, faults: Fault, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    def told(asked: Asked) -> str:
        return f"SELECT max(id) AS x, '{REAL}' AS told, 'Bearer {REAL}' AS how FROM customers"

    with ModelServer(answer=told, faults=faults) as server:
        answer, kept = ask(vendor, server, REAL, tmp_path, database_files["shop"])
        assert all(REAL in asked.headers[vendor.key_header] for asked in server.seen)
        assert not any(REAL in json.dumps(asked.body) for asked in server.seen)
    assert REAL not in kept
    assert REAL not in answer.to_json()


@pytest.mark.parametrize("key", DUMMIES)
def test_an_error_is_told_without_its_key_and_otherwise_whole(key: str) -> None:
    ours = "openai-compatible/max: nothing answers at http://exone.example:8000/ollama/x; is it up?"
    assert error_without_key(ours, key) == ours
    for echoed in (f"key={key}&y", f"Authorization: Bearer {key}", f"your key '{key}' is wrong",
                   f"wrong key: {key}."):  # fmt: skip
        assert error_without_key(echoed, key) == echoed.replace(key, "***")


@pytest.mark.parametrize("key", DUMMIES)
def test_an_endpoint_that_refuses_is_named_whole(
    key: str, tmp_path: Path, database_files: dict[str, Path]
) -> None:
    with ModelServer(faults=always("unauthorized")) as server:
        answer, kept = ask(WIRES[0], server, key, tmp_path, database_files["shop"])
    assert "openai-compatible/m: the key wasn't accepted" in answer.message
    assert "***" not in answer.message + kept


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        (REAL, True),
        ("sk-proj-0123456789abcdef", True),
        ("0f8e2c4a6b1d3957e2c4a6b1d3957aaa", True),
        ("x", False),
        ("EMPTY", False),
        ("sk-test", False),
        ("not-needed-here-at-all", False),
        ("0000000000000000000", False),
    ],
)
def test_a_key_that_can_be_a_word_is_told_from_a_secret(key: str, secret: bool) -> None:
    assert looks_secret(key) == secret
