"""The table of providers, where keys may go, and what is refused before anything is sent."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sqlwright.errors import ConfigError
from sqlwright.llm.sending.transport import is_loopback
from sqlwright.llm.vendors.connecting import Service, connect
from sqlwright.llm.vendors.providers import PROVIDERS, key_belongs


@pytest.mark.parametrize(
    ("provider", "url", "bound", "belongs"),
    [
        ("openai", "https://api.openai.com/v1", (), True),
        ("openai", "https://eu.api.openai.com/v1", (), True),
        ("openai", "http://api.openai.com/v1", (), False),
        ("openai", "https://api.openai.com.evil.example/v1", (), False),
        ("openai", "https://evilapi.openai.com.example/v1", (), False),
        ("openai", "https://api.openai.com@evil.example/v1", (), False),
        ("openai", "https://proxy.example/v1", (), False),
        ("openai", "https://proxy.example/v1", ("proxy.example",), True),
        ("openai", "https://PROXY.example/v1", ("proxy.example",), True),
        ("openai", "http://127.0.0.1:9000/v1", (), False),
        ("azure", "https://mine.openai.azure.com", (), True),
        ("azure", "https://openai.azure.com.evil.example", (), False),
        ("anthropic", "https://api.anthropic.com", (), True),
        ("anthropic", "https://api.openai.com", (), False),
        ("google", "https://generativelanguage.googleapis.com", (), True),
        ("vllm", "http://localhost:8000/v1", (), True),
        ("vllm", "http://gpu.example:8000/v1", (), False),
        ("vllm", "http://gpu.example:8000/v1", ("gpu.example",), True),
    ],
)
def test_where_a_key_may_go(provider: str, url: str, bound: tuple[str, ...], belongs: bool) -> None:
    assert key_belongs(PROVIDERS[provider], url, bound) == belongs
    service = Service(PROVIDERS[provider], "m", base_url=url, key="k", key_hosts=bound)
    if "@" not in url:
        assert (service.sendable_key is not None) == belongs


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:1", True),
        ("http://LOCALHOST:1", True),
        ("http://127.0.0.1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:80/v1", True),
        ("http://a.localhost", True),
        ("http://localhost.example", False),
        ("http://192.168.0.7", False),
        ("http://0.0.0.0", False),
        ("https://api.openai.com", False),
        ("", False),
    ],
)
def test_what_stays_on_this_machine(url: str, loopback: bool) -> None:
    assert is_loopback(url) == loopback


def test_nobody_can_declare_a_remote_server_local() -> None:
    service = Service(
        PROVIDERS["vllm"],
        "m",
        base_url="http://gpu.example/v1",
        capabilities=(("remote", False), ("n", False)),
    )
    assert service.can.remote
    assert not service.can.n


@pytest.mark.parametrize(
    ("model", "temperature"),
    [("gpt-4o-mini", True), ("o3", False), ("o4-mini", False), ("gpt-5.5", False)],
)
def test_reasoning_models_take_no_temperature(model: str, temperature: bool) -> None:
    assert Service(PROVIDERS["openai"], model).can.temperature == temperature


@pytest.mark.parametrize(
    ("service", "says"),
    [
        (Service(PROVIDERS["azure"], "m", key="k"), "base URL"),
        (Service(PROVIDERS["openai-compatible"], "m"), "base URL"),
        (Service(PROVIDERS["vllm"], "m", base_url="file:///etc/passwd"), "http"),
        (Service(PROVIDERS["vllm"], "m", base_url="http://"), "http"),
        (Service(PROVIDERS["vllm"], "m", base_url="http://user:canary@x.example"), "password"),
        (Service(PROVIDERS["openai"], "m"), "key"),
        (Service(PROVIDERS["vllm"], "m", capabilities=(("magic", True),)), "capability"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_work_is_told_at_once(service: Service, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        connect(service)
    assert "canary" not in f"{caught.value} {caught.value.hint}"


def test_the_host_of_ollama_needs_no_scheme() -> None:
    service = Service(PROVIDERS["ollama"], "m", base_url="127.0.0.1:11434")
    assert service.address == "http://127.0.0.1:11434/v1"


def test_no_key_in_a_representation() -> None:
    service = Service(PROVIDERS["openai"], "m", key="sk-canary")
    assert "canary" not in repr(service)


def test_vendors_packages_are_loaded_when_they_are_used() -> None:
    code = (
        "import sys, sqlwright, sqlwright.llm.vendors.providers, sqlwright.llm.sending.engine;"
        "import sqlwright.cli.main;"
        "loaded = {'openai', 'anthropic', 'google.genai', 'httpx2'} & set(sys.modules);"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
