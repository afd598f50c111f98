"""`sqlwright lab`: the commands of experiments."""

from __future__ import annotations

from sqlwright.cli.help import command_group

EXAMPLES = """\
sqlwright lab compare shop.sqlite "How many orders are pending?" --recipes local,local-unscored
sqlwright lab golden lint my-questions.yaml --database shop.sqlite
sqlwright lab calibrate my-questions.yaml --database shop.sqlite"""

PLACES = {
    "ablate": "sqlwright.cli.commands.ablate",
    "compare": "sqlwright.cli.commands.compare",
    "calibrate": "sqlwright.cli.commands.calibrate",
    "merge-runs": "sqlwright.cli.commands.merge_runs",
    "tables": "sqlwright.cli.commands.tables",
    "golden": "sqlwright.cli.commands.golden",
    "finetune": "sqlwright.cli.commands.finetune.group",
}

group = command_group(
    "Experiments: compare recipes, keep golden sets, calibrate confidence, train models.",
    EXAMPLES,
    PLACES,
)
