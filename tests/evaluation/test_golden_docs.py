"""docs/measuring.md, "Your own questions": its example is a golden set, its table has the rules."""

from __future__ import annotations

import re
from pathlib import Path

from sqlwright.lab.datasets.example import Expected
from sqlwright.lab.evaluation.golden.lint import RULES
from sqlwright.lab.evaluation.golden.questions import FIELDS, QUERIES, load_golden_set

PAGE = (Path(__file__).parents[2] / "docs" / "measuring.md").read_text("utf-8")
SECTION = PAGE.partition("## Your own questions\n")[2].partition("\n## ")[0]


def test_the_example_is_a_golden_set(tmp_path: Path) -> None:
    (tmp_path / "my-questions.yaml").write_text(SECTION.split("```yaml\n")[1].split("```")[0])
    one, two, three = load_golden_set(
        tmp_path / "my-questions.yaml", database=tmp_path / "shop.sqlite"
    ).examples
    assert (one.evidence[:11], dict(one.tags)) == ("An order is", {"team": "sales"})
    assert (two.id, len(two.golds)) == ("cities", 2)
    assert three.expected == Expected(("name",), (("Bo Carlsen",),))
    assert three.database == tmp_path / "data" / "shop.sqlite"


def test_every_field_and_every_rule_is_in_a_table() -> None:
    named = re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE)
    assert set(named) == (set(FIELDS) - set(QUERIES[1:])) | set(RULES)
    severities = dict(re.findall(r"^\| `(\w+)` \| (error|warning) \|", SECTION, re.MULTILINE))
    assert severities == {rule: severity for rule, (severity, _) in RULES.items()}
