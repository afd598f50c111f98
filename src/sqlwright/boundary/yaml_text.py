"""YAML read safely, and written: no aliases, no duplicate keys, no types but the plain ones."""

from __future__ import annotations

from typing import Any

import yaml

from sqlwright.errors import ConfigError

_LONGEST_NUMBER = 30
"""Digits of a whole number at most: reading a longer one takes the square of its length."""


class _Loader(yaml.SafeLoader):
    """The safe loader without aliases, which can grow without bound, and duplicate keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.event_mark()
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def event_mark(self) -> Any:
        """Mark of the next event's start; the library's own method has no types."""
        peek: Any = self.peek_event
        return peek().start_mark

    def construct_yaml_int(self, node: Any) -> Any:
        if len(node.value) > _LONGEST_NUMBER:
            raise yaml.MarkedYAMLError(
                problem=f"a whole number has more than {_LONGEST_NUMBER} digits",
                problem_mark=node.start_mark,
            )
        return super().construct_yaml_int(node)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = next((key for index, key in enumerate(keys) if key in keys[:index]), None)
        if twice is not None:
            raise yaml.MarkedYAMLError(
                problem=f"the key {twice!r} comes twice", problem_mark=node.start_mark
            )
        return super().construct_mapping(node, deep)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def read_yaml(text: str, origin: str) -> Any:
    """The YAML text as plain types. Raises ConfigError with the line."""
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader, made stricter
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{origin}{line}: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, TypeError, ValueError) as error:
        raise ConfigError(f"{origin}: not readable as YAML ({error})") from None


class _Dumper(yaml.SafeDumper):
    """The safe dumper without aliases; lines of a text stay lines, short lists stay in one."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True

    def represent_text(self, text: str) -> Any:
        style = "|" if "\n" in text else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    def represent_items(self, items: list[Any]) -> Any:
        flat = not any(isinstance(item, list | dict) for item in items)
        return self.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=flat)


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(list, _Dumper.represent_items)


def write_yaml(data: Any) -> str:
    """Plain types as YAML text that `read_yaml` reads as the same."""
    text: str = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100,
        default_flow_style=False,
    )  # fmt: skip
    return text
