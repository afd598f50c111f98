from __future__ import annotations

import json
from pathlib import Path

from training.embedded.critic.data import whole_databases


def test_what_was_broken_off_is_cut_and_made_again(tmp_path: Path) -> None:
    partial = tmp_path / "fold.partial"
    lines = [{"schema": "shop"}, {"question": "a"}, {"whole": "shop"}, {"schema": "zoo"}]
    whole = "".join(json.dumps(line) + "\n" for line in lines[:3])
    partial.write_text(whole + json.dumps(lines[3]) + '\n{"question": "half a li')
    assert whole_databases(partial) == {"shop"}
    assert partial.read_text() == whole
    assert whole_databases(tmp_path / "none") == set()
