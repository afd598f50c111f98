"""The commands of `sqlwright lab finetune` put together."""

from __future__ import annotations

from sqlwright.cli.commands.finetune import candidates, merge, training
from sqlwright.cli.help import CalmCommand, command_group

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
    group.command(
        _role,
        cls=CalmCommand,
        help=_purpose + training.MORE,
        epilog=training.EXAMPLES[_role],
    )(training.command)
group.command("candidates", cls=CalmCommand, epilog=candidates.EXAMPLES)(candidates.command)
group.command("merge", cls=CalmCommand, epilog=merge.EXAMPLES)(merge.command)
