"""What stands over each module of these tests."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

NEEDS = [
    pytest.mark.finetune,
    pytest.mark.skipif(
        not all(map(find_spec, ("torch", "transformers", "peft", "trl"))),
        reason="needs the finetune extra",
    ),
    pytest.mark.timeout(600),  # a training takes seconds alone, minutes on a busy machine
    pytest.mark.filterwarnings("default"),  # the libraries' own, of other libraries
]
