"""How many options commands have, and what is said of those that are settings now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sqlwright.cli.help import RENAMED, SETTINGS, TRAINING
from sqlwright.cli.main import parser
from sqlwright.settings.loading import load_settings
from tests.cli.conftest import Outcome

MOST = 20


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


def test_a_command_has_few_options_of_its_own() -> None:
    """Beside those of groups that several commands share."""
    for name, command in commands(parser()):
        own = [one for one in command.params if not getattr(one, "rich_help_panel", None)]
        assert sum(one.param_type_name == "option" for one in own) <= MOST, name


@pytest.mark.parametrize("option", SETTINGS)
def test_an_option_that_is_a_setting_now_says_so(
    sqlwright: Callable[..., Outcome], option: str
) -> None:
    name, _ = SETTINGS[option]
    outcome = sqlwright("ask", "shop.sqlite", option, "q")
    assert outcome.code == 2
    assert f"{option} is no option; the setting {name} is in its place" in outcome.err
    variable = f"SQLWRIGHT_{name.replace('.', '_').upper()}"
    assert variable in outcome.err
    values = {"llm.reasoning": "low", "functions": "net"}
    load_settings(environ={variable: values.get(name, "true")})


@pytest.mark.parametrize("option", sorted(TRAINING))
def test_a_value_of_the_training_says_so(sqlwright: Callable[..., Outcome], option: str) -> None:
    outcome = sqlwright("lab", "finetune", "linker", "--out", "x", f"--{option}", "1")
    assert outcome.code == 2
    name = RENAMED.get(option, option.replace("-", "_"))
    assert f"Write --training {name}=VALUE." in outcome.err
