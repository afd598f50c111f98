"""Prompts: a template file beside its step, rendered as messages. The doorway to jinja2.

A template is Jinja in a sandbox with strict variables, in three sections that begin with a line
`<<system>>`, `<<user>>` or `<<assistant>>`. What never changes comes first (instructions, then
demonstrations, then the schema, then the question), so that an endpoint's prefix cache works.
Every value put into it must be a `Text`, which says where it came from, or a whole number: a plain
string is refused. Stored text therefore can't open a section, and can't pass as anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from sqlwright.errors import ConfigError
from sqlwright.messages import Message, Span, Text

if TYPE_CHECKING:
    from jinja2.runtime import Context as TemplateContext
    from jinja2.sandbox import SandboxedEnvironment

_SECTION = re.compile(r"^<<(system|user|assistant)>>\n", re.MULTILINE)
_SLOT = re.compile("\0([0-9]+)\0")
_WRONG = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""Errors that computing in a template may raise: `range(10**9)`, `1 / 0`."""
_MARKS = re.compile("<<|\0")
"""Marks at which a template's text is cut."""
_SLOTS = "_slots"


def schema_text(text: str) -> Text:
    """Text from the schema: names, types, descriptions."""
    return Text.of(text, "schema")


def value_text(text: str) -> Text:
    """Text from the stored data: values, results, messages that may quote them."""
    return Text.of(text, "value")


def question_text(text: str) -> Text:
    """Text that the user typed."""
    return Text.of(text, "question")


def model_text(text: str) -> Text:
    """Text that a model wrote."""
    return Text.of(text, "model")


def plain_text(text: str) -> Text:
    """Text of our own, as if it stood in the template."""
    return Text.of(text, "template")


def render(template: str, **values: Any) -> tuple[Message, ...]:
    """The messages of a template with these values.

    `template` is a name like `generation/direct` (`steps/generation/direct.jinja`), or the path of
    a file of the user's own that ends in `.jinja`. Raises ConfigError for a file that can't be
    read or isn't a template, and for a variable or a plain string in it that has no origin.
    """
    from jinja2 import TemplateError

    slots: list[Text] = []
    try:
        text = _environment().get_template(template).render({**values, _SLOTS: slots})
    except (TemplateError, *_WRONG) as error:
        raise ConfigError(f"the prompt {template} can't be rendered: {error}") from error
    return tuple(_messages(text, slots))


def _messages(text: str, slots: Sequence[Text]) -> Iterator[Message]:
    """Sections, opened by the template's own text only, as messages."""
    role: str = "user"
    spans: list[Span] = []
    for piece in _pieces(text, slots):
        if isinstance(piece, Text):
            spans += piece.spans
            continue
        if "<<" not in piece:
            spans.append(Span(piece, "template"))
            continue
        rest = 0
        for opening in _SECTION.finditer(piece):
            spans.append(Span(piece[rest : opening.start()], "template"))
            yield from _message(role, spans)
            role, spans, rest = opening[1], [], opening.end()
        spans.append(Span(piece[rest:], "template"))
    yield from _message(role, spans)


def _message(role: str, spans: Sequence[Span]) -> Iterator[Message]:
    kept = [span for span in spans if span.text]
    if kept and kept[0].origin == "template":
        kept[0] = Span(kept[0].text.lstrip(), "template")
    if kept and kept[-1].origin == "template":
        kept[-1] = Span(kept[-1].text.rstrip(), "template")
    text = Text(tuple(span for span in kept if span.text))
    if text:
        yield Message(cast('Literal["system", "user", "assistant"]', role), text)


def _pieces(text: str, slots: Sequence[Text]) -> Iterator[str | Text]:
    end = 0
    for slot in _SLOT.finditer(text):
        if slot.start() > end:
            yield text[end : slot.start()]
        yield slots[int(slot[1])]
        end = slot.end()
    if end < len(text):
        yield text[end:]


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import FunctionLoader, StrictUndefined, pass_context
    from jinja2.sandbox import SandboxedEnvironment

    @pass_context
    def slotted(context: TemplateContext, value: Any) -> str:
        """The mark for a value in the rendered text, until the sections are cut."""
        if isinstance(value, int) and not isinstance(value, bool):
            value = plain_text(str(value))
        if isinstance(value, StrictUndefined):
            return str(value)  # raises, naming the variable
        if not isinstance(value, Text):
            raise TypeError(f"a value of type {type(value).__name__} has no origin: {value!r:.60}")
        if value.own and not _MARKS.search(whole := str(value)):
            return whole  # it needn't be told apart from the template around it
        slots: list[Text] = context[_SLOTS]
        slots.append(value)
        return f"\0{len(slots) - 1}\0"

    environment = SandboxedEnvironment(
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        finalize=slotted,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["joined"] = lambda parts, between: Text.join(between, parts)
    return environment


def _source(name: str) -> str:
    """A template's text, by its name under `steps/` or its path."""
    try:
        if name.endswith(".jinja"):
            return Path(name).read_text(encoding="utf-8").replace("\0", "")
        resource = files("sqlwright").joinpath("steps", *f"{name}.jinja".split("/"))
        return resource.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"the prompt {name} can't be read: {problem}") from None
