"""What the critic learns: a ranking, and the threshold below which it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from training.embedded.critic.perceptron import fit_ranking
from training.embedded.critic.train import refuse_below

from sqlwright.local.critic.features import Order

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


@pytest.mark.parametrize(("weights", "better"), [((1.0, 3.0), 1), ((3.0, 1.0), 0)])
def test_questions_of_more_weight_decide_the_ranking(
    weights: tuple[float, float], better: int
) -> None:
    """Of two features, one is right in each of two questions that hold against each other."""
    candidates = np.eye(2)
    labels = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    order = Order(("one", "other"))
    ranking = fit_ranking([candidates, candidates], labels, weights, order, decay=0.01)
    logits = ranking.logits([{"one": 1.0, "other": 0.0}, {"one": 0.0, "other": 1.0}])
    assert int(np.argmax(logits)) == better


def test_questions_whose_candidates_are_all_alike_teach_nothing() -> None:
    groups = [np.array([[0.0], [1.0]]), np.array([[1.0], [0.0], [0.0]])]
    labels = [np.array([0.0, 1.0]), np.ones(3)]
    ranking = fit_ranking(groups, labels, (1.0, 100.0), Order(("one",)), decay=0.01)
    low, high = ranking.logits([{"one": 0.0}, {"one": 1.0}])
    assert high > low
