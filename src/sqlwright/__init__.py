"""Ask a database questions in plain language; get a query to trust, its rows and the evidence.

    import sqlwright

    with sqlwright.open("shop.sqlite") as shop:
        answer = shop.ask("How many support tickets are still open?")

Meant for import: the names below, which `open` takes and gives and a step of one's own needs, the
modules `sqlwright.candidates`, `sqlwright.errors`, `sqlwright.events` and `sqlwright.messages`, and
what a package's docstring calls public. All else is internal and may change without notice.
docs/python.md lists the names, docs/extend.md shows the rest at work.

Nothing else is imported before a name below is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlwright.api import open as open  # noqa: A004
    from sqlwright.confidence.own import CalibrationReport as CalibrationReport
    from sqlwright.errors import ConfigError as ConfigError
    from sqlwright.errors import DatabaseUnavailable as DatabaseUnavailable
    from sqlwright.errors import ModelUnavailable as ModelUnavailable
    from sqlwright.errors import SqlwrightError as SqlwrightError
    from sqlwright.errors import UserError as UserError
    from sqlwright.errors import WorkspaceError as WorkspaceError
    from sqlwright.events import Event as Event
    from sqlwright.events import EventSink as EventSink
    from sqlwright.lab.calibrating import GoldenQuestion as GoldenQuestion
    from sqlwright.lab.calibrating import calibrate as calibrate
    from sqlwright.lab.comparison.asking import compare as compare
    from sqlwright.lab.comparison.records import ComparedRecipe as ComparedRecipe
    from sqlwright.lab.comparison.records import Comparison as Comparison
    from sqlwright.lab.comparison.records import QueryDifference as QueryDifference
    from sqlwright.lab.comparison.records import StageCost as StageCost
    from sqlwright.llm.options import LlmOptions as LlmOptions
    from sqlwright.llm.options import ModelOptions as ModelOptions
    from sqlwright.local.models import EmbeddedModels as EmbeddedModels
    from sqlwright.protocols import Context as Context
    from sqlwright.protocols import Database as Database
    from sqlwright.protocols import LanguageModel as LanguageModel
    from sqlwright.protocols import Limits as Limits
    from sqlwright.protocols import Run as Run
    from sqlwright.protocols import Step as Step
    from sqlwright.protocols import Workspace as Workspace
    from sqlwright.schema import Column as Column
    from sqlwright.schema import ColumnRef as ColumnRef
    from sqlwright.schema import Detail as Detail
    from sqlwright.schema import ForeignKey as ForeignKey
    from sqlwright.schema import Schema as Schema
    from sqlwright.schema import SchemaView as SchemaView
    from sqlwright.schema import Table as Table
    from sqlwright.session import Session as Session
    from sqlwright.spending import Budget as Budget
    from sqlwright.types import Account as Account
    from sqlwright.types import Answer as Answer
    from sqlwright.types import AskedPhrase as AskedPhrase
    from sqlwright.types import Basis as Basis
    from sqlwright.types import Candidate as Candidate
    from sqlwright.types import Choice as Choice
    from sqlwright.types import ColumnExamples as ColumnExamples
    from sqlwright.types import ColumnLink as ColumnLink
    from sqlwright.types import Demonstration as Demonstration
    from sqlwright.types import DescriptionMatch as DescriptionMatch
    from sqlwright.types import Entity as Entity
    from sqlwright.types import ExecutionError as ExecutionError
    from sqlwright.types import ExecutionResult as ExecutionResult
    from sqlwright.types import Judgement as Judgement
    from sqlwright.types import Note as Note
    from sqlwright.types import QueryCondition as QueryCondition
    from sqlwright.types import QueryCost as QueryCost
    from sqlwright.types import QueryPart as QueryPart
    from sqlwright.types import Question as Question
    from sqlwright.types import QuestionBack as QuestionBack
    from sqlwright.types import Refusal as Refusal
    from sqlwright.types import Sign as Sign
    from sqlwright.types import State as State
    from sqlwright.types import StepTime as StepTime
    from sqlwright.types import SubQuestion as SubQuestion
    from sqlwright.types import TableLink as TableLink
    from sqlwright.types import TableSummary as TableSummary
    from sqlwright.types import TierRecord as TierRecord
    from sqlwright.types import Turn as Turn
    from sqlwright.types import UnitTest as UnitTest
    from sqlwright.types import Usage as Usage
    from sqlwright.types import ValueMatch as ValueMatch
    from sqlwright.types import Veto as Veto

__version__ = "0.1.0"

_PLACES = {
    "Account": "sqlwright.types",
    "Answer": "sqlwright.types",
    "AskedPhrase": "sqlwright.types",
    "Basis": "sqlwright.types",
    "Budget": "sqlwright.spending",
    "calibrate": "sqlwright.lab.calibrating",
    "CalibrationReport": "sqlwright.confidence.own",
    "Candidate": "sqlwright.types",
    "Choice": "sqlwright.types",
    "Column": "sqlwright.schema",
    "ColumnExamples": "sqlwright.types",
    "ColumnLink": "sqlwright.types",
    "ColumnRef": "sqlwright.schema",
    "compare": "sqlwright.lab.comparison.asking",
    "ComparedRecipe": "sqlwright.lab.comparison.records",
    "Comparison": "sqlwright.lab.comparison.records",
    "ConfigError": "sqlwright.errors",
    "Context": "sqlwright.protocols",
    "Database": "sqlwright.protocols",
    "DatabaseUnavailable": "sqlwright.errors",
    "Demonstration": "sqlwright.types",
    "DescriptionMatch": "sqlwright.types",
    "Detail": "sqlwright.schema",
    "EmbeddedModels": "sqlwright.local.models",
    "Entity": "sqlwright.types",
    "Event": "sqlwright.events",
    "EventSink": "sqlwright.events",
    "ExecutionError": "sqlwright.types",
    "ExecutionResult": "sqlwright.types",
    "ForeignKey": "sqlwright.schema",
    "GoldenQuestion": "sqlwright.lab.calibrating",
    "Judgement": "sqlwright.types",
    "LanguageModel": "sqlwright.protocols",
    "Limits": "sqlwright.protocols",
    "LlmOptions": "sqlwright.llm.options",
    "ModelOptions": "sqlwright.llm.options",
    "ModelUnavailable": "sqlwright.errors",
    "Note": "sqlwright.types",
    "open": "sqlwright.api",
    "QueryCondition": "sqlwright.types",
    "QueryCost": "sqlwright.types",
    "QueryDifference": "sqlwright.lab.comparison.records",
    "QueryPart": "sqlwright.types",
    "Question": "sqlwright.types",
    "QuestionBack": "sqlwright.types",
    "Refusal": "sqlwright.types",
    "Run": "sqlwright.protocols",
    "Schema": "sqlwright.schema",
    "SchemaView": "sqlwright.schema",
    "Session": "sqlwright.session",
    "Sign": "sqlwright.types",
    "SqlwrightError": "sqlwright.errors",
    "StageCost": "sqlwright.lab.comparison.records",
    "State": "sqlwright.types",
    "Step": "sqlwright.protocols",
    "StepTime": "sqlwright.types",
    "SubQuestion": "sqlwright.types",
    "Table": "sqlwright.schema",
    "TableLink": "sqlwright.types",
    "TableSummary": "sqlwright.types",
    "TierRecord": "sqlwright.types",
    "Turn": "sqlwright.types",
    "UnitTest": "sqlwright.types",
    "Usage": "sqlwright.types",
    "UserError": "sqlwright.errors",
    "ValueMatch": "sqlwright.types",
    "Veto": "sqlwright.types",
    "Workspace": "sqlwright.protocols",
    "WorkspaceError": "sqlwright.errors",
}

__all__ = [  # noqa: PLE0604 - the names are the keys above
    "__version__",
    *_PLACES,
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'sqlwright' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
