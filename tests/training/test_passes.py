import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the training extra")

from training.embedded.parser.data import in_processes

pytestmark = pytest.mark.training


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_pass_is_built_by_any_number_of_processes(tmp_path: Path, jobs: int) -> None:
    in_processes(lambda number: (tmp_path / str(number)).touch(), [3, 4, 5], jobs)
    assert {path.name for path in tmp_path.iterdir()} == {"3", "4", "5"}


def test_a_pass_that_fails_is_told() -> None:
    def fail(number: int) -> None:
        raise SystemExit(number)

    with pytest.raises(subprocess.CalledProcessError):
        in_processes(fail, [1, 2], 2)
