"""The threshold below which the critic refuses."""

from __future__ import annotations

import numpy as np

from sqlwright.training.critic import refuse_below

ANSWERABLE = np.linspace(0.05, 0.9, 900)
IN_VAIN = np.linspace(0.0, 0.4, 300)
SCORES = np.concatenate([ANSWERABLE, IN_VAIN])
CAN = np.array([True] * 900 + [False] * 300)


def test_where_no_answer_below_would_be_right_most_is_refused() -> None:
    right = CAN & (SCORES > 0.3)
    refused = refuse_below(SCORES, CAN, right) > SCORES
    assert refused[CAN].mean() > 0.09
    assert not (refused & right).any()


def test_where_every_answer_would_be_right_little_is_refused() -> None:
    refused = refuse_below(SCORES, CAN, CAN) > SCORES
    assert refused[CAN].mean() < 0.01


def test_right_answers_and_requests_in_vain_are_weighed() -> None:
    right = CAN & (np.arange(1200) % 10 == 0)
    few, many = refuse_below(SCORES, CAN, CAN), refuse_below(SCORES, CAN, right)
    assert few < many
