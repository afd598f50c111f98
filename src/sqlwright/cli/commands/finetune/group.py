"""The commands of `sqlwright lab finetune` put together."""

from __future__ import annotations

from sqlwright.cli.commands.finetune import candidates, merge, training
from sqlwright.cli.help import as_command, command_group

EXAMPLES = """\
sqlwright lab finetune generator --data golden:my-questions.yaml --out tuned --build-only
sqlwright lab finetune generator --data golden:my-questions.yaml --out tuned --model models/qwen-7b
"""

PURPOSE = """\
Train the models that recipes ask, on data of your own: linker, generator, critic, selector.

A set of examples is built first, which needs no GPU. Training needs
pip install 'sqlwright[finetune]'.
"""

group = command_group(PURPOSE, EXAMPLES)

for _role, _purpose in training.HELP.items():
    group.add_command(
        as_command(
            _role, training.command, training.EXAMPLES[_role], purpose=_purpose + training.MORE
        )
    )
group.add_command(as_command("candidates", candidates.command, candidates.EXAMPLES))
group.add_command(as_command("merge", merge.command, merge.EXAMPLES))
