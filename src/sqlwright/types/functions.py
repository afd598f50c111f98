"""Functions that a database itself defines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnFunction:
    """A function of the database's own that queries may call because somebody named it; one of
    several by that name, where they differ in their arguments."""

    name: str
    """As stored, without the namespace."""
    namespace: str = ""
    """The namespace that a call has to begin with; empty where the name alone is enough."""
    arguments: str = ""
    """Names and types with commas between, as the engine writes them."""
    result: str = ""
    """The type of what it gives; empty where nobody says."""
    description: str = ""
    cautions: tuple[str, ...] = ()
    """The rest of what naming it allows, in words."""

    @property
    def shown(self) -> str:
        """The name in messages."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name
