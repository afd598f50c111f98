"""Values of settings, and which of them apply to which database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlwright.boundary.home import home, own_home
from sqlwright.database.address import parse_address
from sqlwright.llm.options import LlmOptions
from sqlwright.protocols import Limits
from sqlwright.types.plans import ScanLimit


@dataclass(frozen=True, slots=True)
class Allowed:
    """Tables and functions that queries may use, of each database."""

    tables: tuple[str, ...] | None = None
    """The only tables that may be known of and read; None for all."""
    functions: tuple[str, ...] = ()
    """Functions of the database's own that may be called."""
    tables_of: str = field(default="", repr=False)
    """The only database whose tables these are, which may hold a password; empty for any."""
    functions_of: str = field(default="", repr=False)
    """The same for the functions."""

    def tables_for(self, database: str) -> tuple[str, ...] | None:
        """The only tables of a database that may be read, however it is named."""
        return self.tables if _is(database, self.tables_of) else None

    def functions_for(self, database: str) -> tuple[str, ...]:
        """The functions of a database that may be called, however it is named."""
        return self.functions if _is(database, self.functions_of) else ()


def _is(database: str, only: str) -> bool:
    return not only or parse_address(database).identity == parse_address(only).identity


@dataclass(frozen=True)
class Settings:
    """Values for arguments that a caller leaves out, and the origin of each."""

    database: str | None = field(default=None, repr=False)
    """It may hold a password."""
    recipe: str = "local"
    overrides: tuple[str, ...] = ()
    descriptions: Path | None = None
    tables: tuple[str, ...] | None = None
    """The only tables that may be known of and read; None for all."""
    functions: tuple[str, ...] = ()
    """Functions of the database's own that queries may call."""
    home: Path | None = None
    calibration: Path | None = None
    """The file with the user's own calibrations; None for the one beside what is prepared."""
    prepare: bool = True
    """True if a small database is prepared without being asked."""
    seconds: float | None = None
    max_scan: ScanLimit | None = None
    """The most that one query may read, by the engine's estimate; `limits` has it, too."""
    limits: Limits = field(default_factory=Limits)
    llm: LlmOptions = field(default_factory=LlmOptions)
    file: Path | None = None
    """The project file that was read."""
    notes: tuple[str, ...] = ()
    """Sentences on project files that were left alone, with the reason."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Name of a setting to 'flag', the environment variable's name or the project file's path."""

    @property
    def home_folder(self) -> Path:
        """The folder that holds everything sqlwright keeps. Raises ConfigError."""
        return home() if self.home is None else own_home(self.home)

    @property
    def chat_history(self) -> Path:
        """The file with the lines typed in chats."""
        return self.home_folder / "chat_history"

    def descriptions_for(self, database: str) -> Path | None:
        """The folder of description files; the project file's belongs to its own database."""
        given = self.origins.get("descriptions") != str(self.file)
        return self.descriptions if given or database == self.database else None

    def tables_for(self, database: str) -> tuple[str, ...] | None:
        """The only tables that may be read; the project file's belong to its own database, however
        that is named."""
        return self.allowed.tables_for(database)

    def functions_for(self, database: str) -> tuple[str, ...]:
        """The functions that may be called; the project file's belong to its own database, too."""
        return self.allowed.functions_for(database)

    @property
    def allowed(self) -> Allowed:
        """Tables and functions by database: the project file's belong to its own."""
        return Allowed(self.tables, self.functions, self._only("tables"), self._only("functions"))

    def _only(self, name: str) -> str:
        """The database that a setting of the project file is for; empty for any."""
        return (self.database or "") if self.origins.get(name) == str(self.file) else ""

    def prepared_folder(self, database: str) -> Path:
        """The folder of a database's prepared indexes and profiles."""
        from sqlwright.prepare.storage.paths import prepared_folder

        folder = prepared_folder(database)
        return folder if self.home is None else self.home_folder / "databases" / folder.name

    def replies_folder(self, database: str) -> Path:
        """The folder of language models' replies about a database."""
        return self.home_folder / "replies" / self.prepared_folder(database).name
