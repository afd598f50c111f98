"""What statuses and bodies of refusals mean. The cases are tests/cases/llm/refusals.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlwright.llm.sending.failures import Address, refused, unsupported

CASES = json.loads((Path(__file__).parents[1] / "cases/llm/refusals.json").read_text("utf-8"))
ADDRESS = Address(
    "provider/model", "https://user:canary@host.example/v1?key=canary", "KEY_VARIABLE"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['status']}-{case.get('says', '')}")
def test_refusals(case: dict[str, Any]) -> None:
    headers = case.get("headers", {})
    error = refused(ADDRESS, case["status"], headers, case["body"], now=0.0, sent="canary")
    assert error.retryable == case["retryable"]
    assert error.kind == ("unavailable" if case["retryable"] else "rejected")
    assert error.crowded == case.get("crowded", False)
    assert error.retry_after == case.get("retry_after")
    assert case.get("says", "") in error.message
    assert str(case["status"]) in error.message
    assert "canary" not in str(error)


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"error": {"param": "temperature", "message": "Unsupported value"}}, "temperature"),
        ({"error": {"message": "`temperature` is deprecated for this model."}}, "temperature"),
        ({"error": {"message": "Unknown parameter: 'n'"}}, "n"),
        ({"error": {"message": "not supported: multiple choices in one answer"}}, "n"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, "seed"),
        (
            {"error": {"message": "Use 'max_completion_tokens' instead, unsupported: max_tokens"}},
            "max_tokens",
        ),
        ({"error": {"message": "invalid value for temperature"}}, "temperature"),
        ({"error": {"message": "invalid value for the messages"}}, None),
        ({"error": {"message": "invalid value", "param": "messages[0].seed"}}, None),
        ("temperature not supported", "temperature"),
        (None, None),
        # transformers serve 5.23
        ({"detail": "Unexpected fields in the request: {'seed'}"}, "seed"),
        # a validation says where it failed: what else it quotes, such as the prompt, isn't meant
        ({"detail": [{"loc": ["body", "n"], "msg": "Input should be 1", "input": 2}]}, "n"),
        (
            {
                "detail": [
                    {"loc": ["body", "messages"], "msg": "unsupported", "input": "the 'seed' is"}
                ]
            },
            None,
        ),
    ],
)
def test_parameters_a_model_does_not_take(body: Any, parameter: str | None) -> None:
    sent = ["n", "seed", "temperature", "max_tokens"]
    assert unsupported(400, body, sent) == parameter
    assert unsupported(500, body, sent) is None


# llama-cpp-python 0.3.36 calls a request that it can't read an error of its own.
VALIDATION = (
    "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', '%s', 'type'), "
    "'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}"
)


@pytest.mark.parametrize(
    ("named", "parameter"), [("response_format", "response_format"), ("messages", None)]
)
def test_a_failed_validation_may_come_as_an_error_of_the_server(
    named: str, parameter: str | None
) -> None:
    body = {"error": {"message": VALIDATION % named, "type": "internal_server_error"}}
    assert unsupported(500, body, ["n", "response_format", "text"]) == parameter
