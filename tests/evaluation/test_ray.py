"""Questions asked by Ray's workers: the same records, whatever becomes of a worker or a node."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from tests.evaluation.ending import ending_recipe
from tests.evaluation.sets import GERMAN, SWEDISH, spider_set
from tests.evaluation.test_executing import told, with_question

INSTALLED = importlib.util.find_spec("ray") is not None
ASKED = {f"Who is German, number {number}?": GERMAN for number in range(7)} | {
    "Who is Swedish?": SWEDISH
}
OWN = """
from sqlwright.lab.evaluation.executing.ray import RayWorkers
own = RayWorkers(1)
import ray
from ray._common.usage.usage_lib import usage_stats_enabled
print(ray.nodes()[0]["NodeManagerAddress"], usage_stats_enabled())
own.close()
"""
needs_ray = [
    pytest.mark.ray,
    pytest.mark.skipif(not INSTALLED, reason="ray isn't installed: the extra ray brings it"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
    pytest.mark.timeout(300),
]


@pytest.mark.skipif(INSTALLED, reason="ray is installed")
def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    dataset = Dataset("one", load_spider(spider_set(tmp_path, Path(__file__), ASKED)).examples)
    with pytest.raises(ConfigError, match="the executor ray needs Ray") as caught:
        evaluate(dataset, EvaluationSettings(executor="ray"), tmp_path / "out")
    assert caught.value.hint == "pip install 'sqlwright[ray]'"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes on this machine with a processor each."""
    from sqlwright.lab.evaluation.executing.ray import SILENCE

    os.environ.update(SILENCE)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80 * 1024 * 1024, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=node)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def dataset(tmp_path: Path, database_files: dict[str, Path]) -> Dataset:
    return load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED, databases=4))


@pytest.fixture
def settings(tmp_path: Path, dataset: Dataset) -> EvaluationSettings:
    plain = EvaluationSettings(recipe=ending_recipe(tmp_path, 0.1), allow_code=True)
    evaluate(dataset, plain, tmp_path / "whole")
    return replace(plain, executor="ray", workers=2)


def actors() -> list[int]:
    """The processes of Ray's workers that are ours."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=True
    )
    rows = (line.split(None, 1) for line in listed.stdout.splitlines())
    return [int(pid) for pid, args in rows if args.startswith("ray::_Actor")]


class TestOnACluster:
    pytestmark = needs_ray

    def test_the_records_are_the_same(
        self, cluster: Any, dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
    ) -> None:
        cluster.add_node(num_cpus=1, object_store_memory=80 * 1024 * 1024)
        evaluate(dataset, replace(settings, traces=True), tmp_path / "out")
        assert told(tmp_path / "out") == told(tmp_path / "whole")
        assert len(list((tmp_path / "out" / "traces").rglob("*.jsonl"))) == 32

    def test_embedded_models_answer_the_same(
        self, cluster: Any, dataset: Dataset, tmp_path: Path
    ) -> None:
        plain = EvaluationSettings(limit=10)
        evaluate(dataset, plain, tmp_path / "threads")
        evaluate(dataset, replace(plain, executor="ray", workers=2), tmp_path / "ray")
        assert told(tmp_path / "ray") == told(tmp_path / "threads")

    def test_a_worker_that_is_killed_costs_nothing(
        self, cluster: Any, dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
    ) -> None:
        killed, notices = [], []

        def killing(done: int, total: int, record: Record | None) -> None:
            if done in {3, 20}:
                killed.append(actors()[0])
                os.kill(killed[-1], signal.SIGKILL)

        evaluate(dataset, settings, tmp_path / "out", progress=killing, notice=notices.append)
        assert told(tmp_path / "out") == told(tmp_path / "whole")
        assert len(set(killed)) == 2
        assert len(notices) >= 1

    def test_a_question_that_costs_three_workers_is_failed(
        self, cluster: Any, dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
    ) -> None:
        hostile = with_question(dataset, "It ends.")
        evaluate(hostile, settings, tmp_path / "ray")
        evaluate(hostile, replace(settings, executor="processes"), tmp_path / "processes")
        assert told(tmp_path / "ray") == told(tmp_path / "processes")

    def test_the_loss_of_a_node_costs_nothing(
        self, cluster: Any, dataset: Dataset, settings: EvaluationSettings, tmp_path: Path
    ) -> None:
        other = next(node for node in cluster.list_all_nodes() if not node.head)

        def removing(done: int, total: int, record: Record | None) -> None:
            if done == 6:
                cluster.remove_node(other, allow_graceful=False)

        evaluate(dataset, settings, tmp_path / "out", progress=removing)
        assert told(tmp_path / "out") == told(tmp_path / "whole")
        assert len(cluster.list_all_nodes()) == 1


class TestOfOurOwn:
    pytestmark = needs_ray

    def test_it_listens_on_loopback_alone_and_reports_nothing(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c", OWN],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.split() == ["127.0.0.1", "False"]
