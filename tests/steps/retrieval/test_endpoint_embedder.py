"""Steps of retrieval with an embedder behind an endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import build_database
from tests.llm.gates import Events, a_run
from tests.llm.server import Asked, ModelServer, always, well
from tests.scripted import ScriptedEmbedder, scripted_models
from tests.steps.retrieval.test_context import SCHEMA as DESCRIBED
from tests.steps.retrieval.test_entities import CITY, SCHEMA, STORED, values

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.events import TextsEmbedded
from sqlwright.indexes.descriptions import StoredVectors, documents_digest, documents_of
from sqlwright.indexes.values.index import ColumnValues, memory_value_index
from sqlwright.llm.connection import Connection
from sqlwright.llm.embedding import GatedEmbedder
from sqlwright.llm.endpoint import EndpointError
from sqlwright.llm.keeping.cache import ReplyCache
from sqlwright.llm.scripted import Script, ScriptedEmbeddings, ScriptedModel
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.vendors.connecting import Service, connect_embeddings
from sqlwright.llm.vendors.providers import PROVIDERS
from sqlwright.prepare import prepare, purge
from sqlwright.prepare.storage.paths import written_paths
from sqlwright.protocols import Context, Run, Workspace, embedder_role
from sqlwright.recipes.loading import load_recipe
from sqlwright.running.trace import find_trace, read_trace
from sqlwright.schema import Schema, SchemaView
from sqlwright.spending import Budget
from sqlwright.steps.retrieval.context import RetrieveContext
from sqlwright.steps.retrieval.entities import RetrieveEntities
from sqlwright.types import Answer, Question, State

NAME = "scripted/vectors"


def by_letters(text: str) -> list[float]:
    return [float(number) for number in ScriptedEmbedder().embed([text])[0]]


def down(text: str) -> list[float]:
    raise EndpointError("it is down")


@dataclass
class Asking:
    """Runs a step with an endpoint for an embedder, through the real gate and engine."""

    engine: Engine
    endpoint: ScriptedEmbeddings = field(default_factory=lambda: ScriptedEmbeddings(by_letters))
    options: Mapping[str, Any] = field(default_factory=dict)
    stored: StoredVectors | None = None
    schema: Schema = DESCRIBED
    embedded: ScriptedEmbedder = field(default_factory=ScriptedEmbedder)

    def __post_init__(self) -> None:
        line = Connection(lambda: self.endpoint, self.engine)
        self.gate = GatedEmbedder(NAME, line, **self.options)

    def __call__(
        self, step: Any, text: str, keywords: Sequence[str], run: Run | None = None
    ) -> State:
        database: Any = None
        index = memory_value_index(
            [ColumnValues(ref, [(value, 2) for value in some]) for ref, some in STORED.items()]
        )
        workspace = Workspace(database, self.schema, index, None, descriptions=self.stored)
        models = {"embedder": self.embedded, embedder_role(NAME): self.gate}
        state = State(Question(text), SchemaView(self.schema), keywords=tuple(keywords))
        return step(state, Context(workspace, run or a_run(), models))  # type: ignore[no-any-return]


@pytest.fixture
def asking() -> Iterator[Callable[..., Asking]]:
    engine = Engine()
    yield lambda **options: Asking(engine, **options)
    engine.close()


def context(**options: Any) -> RetrieveContext:
    """A new one: steps remember vectors."""
    return RetrieveContext(embedder=NAME, top_k=1, whole=False, **options)


ENTITIES = RetrieveEntities(embedder=NAME, least_meaning=0.3)
PUPILS = ("How many pupils are enrolled?", ("pupils enrolled",))
FRESNO = ("Who is from Fresnolike?", ("fresnolike",))


def test_an_endpoint_finds_what_the_same_vectors_on_this_machine_find(
    asking: Callable[..., Asking],
) -> None:
    for step, schema, question in ((context(), DESCRIBED, PUPILS), (ENTITIES, SCHEMA, FRESNO)):
        ask = asking(schema=schema)
        here = type(step)(**{**vars_of(step), "embedder": ""})
        remote, local = ask(step, *question), ask(here, *question)
        assert values(remote) == values(local)
        assert [match.column for match in remote.descriptions] == [
            match.column for match in local.descriptions
        ]
        assert remote.values or remote.descriptions
        assert remote.warnings == ()
        assert ask.endpoint.calls


def vars_of(step: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(step).items() if not name.startswith("_")}


def test_values_stay_here_under_schema_only_and_that_is_told(asking: Callable[..., Asking]) -> None:
    ask = asking(schema=SCHEMA)
    state = ask(ENTITIES, *FRESNO, a_run(privacy="schema-only"))
    assert (CITY, "Fresno") in values(state)
    assert ask.endpoint.calls == []
    assert ask.embedded.embedded
    (warning,) = state.warnings
    assert "with the embedded model" in warning.text
    assert "schema-only" in warning.text


def test_descriptions_may_leave_under_schema_only(asking: Callable[..., Asking]) -> None:
    ask = asking()
    state = ask(context(), *PUPILS, a_run(privacy="schema-only"))
    assert state.descriptions
    assert state.warnings == ()
    assert "number of pupils enrolled" in ask.endpoint.texts
    of_values = {d.text for d in documents_of(DESCRIBED) if d.part == "value_description"}
    assert of_values
    assert of_values.isdisjoint(ask.endpoint.texts)


def test_keywords_of_a_model_that_saw_values_stay_here(asking: Callable[..., Asking]) -> None:
    ask = asking()
    run = a_run(privacy="schema-only")
    run.local_model_saw_values.set()
    state = ask(context(), *PUPILS, run)
    assert state.descriptions
    assert ask.endpoint.calls == []
    assert len(state.warnings) == 1


@pytest.mark.parametrize("step", [context(), ENTITIES], ids=["context", "entities"])
@pytest.mark.parametrize("trouble", ["down", "no budget"])
def test_what_an_endpoint_fails_at_is_done_here(
    asking: Callable[..., Asking], step: Any, trouble: str
) -> None:
    schema, question = (DESCRIBED, PUPILS) if step is not ENTITIES else (SCHEMA, FRESNO)
    vector = down if trouble == "down" else by_letters
    ask = asking(schema=schema, endpoint=ScriptedEmbeddings(vector))
    state = ask(step, *question, a_run(None if trouble == "down" else Budget(calls=1)))
    assert state.values or state.descriptions
    (warning,) = state.warnings
    assert trouble.rsplit(maxsplit=1)[-1] in warning.text
    assert ask.embedded.embedded


def test_descriptions_are_sent_once_a_session(asking: Callable[..., Asking]) -> None:
    ask, step = asking(), RetrieveContext(embedder=NAME)
    ask(step, *PUPILS)
    documents = {document.text for document in documents_of(DESCRIBED)}
    assert documents < set(ask.endpoint.texts)
    before = len(ask.endpoint.texts)
    ask(step, "another question", ("another",))
    assert ask.endpoint.texts[before:] == ["another question another"]


def test_of_questions_at_once_one_sends_the_descriptions(asking: Callable[..., Asking]) -> None:
    ask = asking(endpoint=ScriptedEmbeddings(by_letters, seconds=0.1))
    step = context()
    with ThreadPoolExecutor(6) as pool:
        states = list(pool.map(lambda n: ask(step, f"pupils {n}", ("pupils",)), range(6)))
    assert all(state.descriptions and not state.warnings for state in states)
    documents = [document.text for document in documents_of(DESCRIBED)]
    assert sorted(text for text in ask.endpoint.texts if text in documents) == sorted(documents)


def test_of_too_many_those_nearest_to_the_question_are_sent(asking: Callable[..., Asking]) -> None:
    ask = asking()
    state = ask(RetrieveContext(embedder=NAME, sent=2, whole=False), *PUPILS)
    assert len(state.descriptions) == 2
    assert len(ask.endpoint.texts) == 3


@pytest.fixture
def beside(tmp_path: Path) -> StoredVectors:
    """Where what is prepared lies; the embedded model's own vectors aren't there."""
    folder = tmp_path / "prepared"
    folder.mkdir(mode=0o700)
    digest = documents_digest(documents_of(DESCRIBED))
    return StoredVectors(folder / f"descriptions-{digest[:24]}", digest)


def test_they_are_kept_beside_what_is_prepared_and_never_mixed(
    asking: Callable[..., Asking], beside: StoredVectors, tmp_path: Path
) -> None:
    folder = beside.path.parent

    def asked(size: int, replies: str, revision: str = "") -> tuple[State, ScriptedEmbeddings]:
        endpoint = ScriptedEmbeddings(lambda text: by_letters(text)[:size], revision=revision)
        options = {"cache": ReplyCache(tmp_path / replies)}
        ask = asking(endpoint=endpoint, stored=beside, options=options)
        return ask(RetrieveContext(embedder=NAME), *PUPILS), endpoint

    first, endpoint = asked(256, "a")
    (file,) = folder.iterdir()
    assert written_paths(folder) == [file]
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(endpoint.texts) == 6
    again, endpoint = asked(256, "b")  # a new session without the replies, with the file
    assert endpoint.texts == ["How many pupils are enrolled? pupils enrolled"]
    assert again.descriptions == first.descriptions
    for size, revision in ((250, ""), (256, "2")):
        _, endpoint = asked(size, f"c{size}", revision)
        assert len(endpoint.texts) == 6
    assert len(list(folder.iterdir())) == 3
    file.write_bytes(file.read_bytes()[:-5])
    mended, endpoint = asked(256, "d")
    assert mended.descriptions == first.descriptions
    assert len(endpoint.texts) == 6


def test_without_a_cache_nothing_is_written(
    asking: Callable[..., Asking], beside: StoredVectors
) -> None:
    assert asking(stored=beside)(RetrieveContext(embedder=NAME), *PUPILS).descriptions
    assert list(beside.path.parent.iterdir()) == []


def test_the_endpoint_s_vectors_outlive_a_preparation_and_go_with_a_purge(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "prepared"
    shop = str(database_files["shop"])
    prepare(shop, folder=folder)
    file = folder / f"endpoint-{'a' * 32}.vectors"
    file.write_bytes(b"x")
    for path in folder.glob("catalog-*"):
        path.unlink()  # so that it is prepared again
    prepare(shop, folder=folder)
    assert file.exists()
    assert purge(shop, folder=folder)
    assert not folder.exists()


CANARY = "Canaria Quetzalcoatl"
SCRIPT = f"""
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
INSERT INTO customers VALUES (1, 'Ada', '{CANARY}'), (2, 'Bob', 'Bonn'), (3, 'Cyd', 'Bonnevile');
"""
RECIPE = """
name: embedding
steps:
  - retrieval.question_words
  - retrieval.entities: {embedder: openai-compatible/x, least_meaning: 0.2}
  - retrieval.context: {embedder: openai-compatible/x}
  - tests.llm.asking:AskPlainly
  - repair.execution_guided
  - selection.first_valid
"""
QUESTION = "How many customers live in Canaria Quetzal or Bonnevil?"


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Answer]:
    """Asks the same of a small database with descriptions."""
    script, recipe = tmp_path / "customers.sql", tmp_path / "embedding.yaml"
    script.write_text(SCRIPT)
    recipe.write_text(RECIPE)
    database = build_database(script, tmp_path / "customers.sqlite")
    described = tmp_path / "database_description"
    described.mkdir()
    header = "original_column_name,column_name,column_description\n"
    (described / "customers.csv").write_text(f"{header}city,home town,where they live\n")

    def asked(**options: Any) -> Answer:
        llm = ScriptedModel(Script(otherwise="SELECT count(*) FROM customers"))
        models = scripted_models(llm=llm) | options.pop("models", {})
        options = {"recipe": str(recipe), "home": tmp_path / "home", "environ": {}} | options
        with api.open(database, allow_code=True, models=models, **options) as session:
            return session.ask(QUESTION)

    return asked


def sent(server: ModelServer) -> list[str]:
    return [text for asked in server.seen for text in asked.texts]


def test_a_question_with_an_endpoint_over_http(ask: Callable[..., Answer], tmp_path: Path) -> None:
    with ModelServer(vector=by_letters) as server:
        answer = ask(base_url=server.url)
        again = ask(base_url=server.url)
        texts = sent(server)
    assert answer.status == again.status == "answered"
    assert {CANARY, "home town", "where they live"} <= set(texts)
    assert len(texts) == len(set(texts))  # the second time all was at hand
    assert set(answer.usage_by_step) == {"retrieval.entities", "retrieval.context"}
    assert (again.usage.calls, again.usage.cached) == (0, 3)
    trace = read_trace(find_trace(tmp_path / "home" / "traces", answer.trace_id))
    events = [event for event in trace.events if event["kind"] == "embedding"]
    assert [event["step"] for event in events] == ["retrieval.entities"] + 2 * ["retrieval.context"]
    assert all(event["model"] == "openai-compatible/x" for event in events)
    assert events[0]["embedded"] > 0
    assert CANARY not in json.dumps(events)


def test_no_stored_value_is_in_any_request_that_leaves_under_schema_only(
    ask: Callable[..., Answer],
) -> None:
    with ModelServer(vector=by_letters) as server:
        # Not taken for an address on this machine, which is the only untrue thing here.
        service = Service(PROVIDERS["openai-compatible"], "x", base_url=server.url)
        engine = Engine()
        line = Connection(lambda: connect_embeddings(service), engine)
        models = {"openai-compatible/x": GatedEmbedder("openai-compatible/x", line, remote=True)}
        answer = ask(models=models, privacy="schema-only")
        kept = sent(server)
        ask(models=models)
        engine.close()
        assert CANARY in sent(server)  # which is what the test would have missed
    assert answer.status == "answered"
    assert "where they live" in kept
    assert not any(CANARY in text or "Bonnevile" in text for text in kept)
    assert any("schema-only" in warning.text for warning in answer.warnings)


@pytest.mark.parametrize("fault", ["unauthorized", "not_found", "no_credit", "bad_request"])
def test_an_endpoint_that_refuses_costs_no_question(ask: Callable[..., Answer], fault: str) -> None:
    with ModelServer(vector=by_letters, faults=always(fault)) as server:
        answer = ask(base_url=server.url)
    assert answer.status == "answered"
    assert sum("with the embedded model" in warning.text for warning in answer.warnings) == 1


def test_replies_bad_at_first_change_nothing(ask: Callable[..., Answer]) -> None:
    def first_bad(asked: Asked) -> str:
        return "server_error" if asked.repeat == 0 else well(asked)

    with ModelServer(vector=by_letters, faults=first_bad) as server:
        disturbed = ask(base_url=server.url, cache=False)
    with ModelServer(vector=by_letters) as server:
        assert ask(base_url=server.url, cache=False).values == disturbed.values
    assert not any("embedded model" in warning.text for warning in disturbed.warnings)


def test_a_provider_without_embeddings_is_told_before_the_first_question(
    ask: Callable[..., Answer],
) -> None:
    overrides = ["retrieval.entities.embedder=anthropic/claude-opus-5"]
    with pytest.raises(ConfigError, match="can't be the embedder"):
        ask(overrides=overrides, environ={"ANTHROPIC_API_KEY": "x"})


@pytest.mark.parametrize("recipe", ["chess-ir-cg-ut", "chess-ir-ss-cg"])
def test_the_paper_s_embedder_is_an_override_of_its_recipes(recipe: str) -> None:
    paper = "openai/text-embedding-3-small"
    steps = ("retrieval.entities", "retrieval.context")
    loaded = load_recipe(recipe, [f"{step}.embedder={paper}" for step in steps])
    assert embedder_role(paper) in loaded.asks
    assert embedder_role(paper) not in load_recipe(recipe).asks


def test_events_of_a_failure_say_why(asking: Callable[..., Asking]) -> None:
    events = Events()
    ask = asking(endpoint=ScriptedEmbeddings(down))
    ask(context(), *PUPILS, a_run(events=events))
    (event,) = events.kept
    assert isinstance(event, TextsEmbedded)
    assert event.embedded == 0
    assert "down" in event.problem
