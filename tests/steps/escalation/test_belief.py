"""How sure results are once embedded models and a language model have written queries."""

from __future__ import annotations

import pytest

from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.escalation.belief import OTHERS, before_any, chosen, expected_gain, with_model
from sqlwright.types import Candidate, ExecutionResult, Question, State, UnitTest, Veto

FAULT = (Veto("value", "nothing stands for “Germany”"),)


def found(
    number: int, sure: float | None = None, *, sample: int = 0, vetoes: tuple[Veto, ...] = ()
) -> Candidate:
    """A query that finds this number: of the embedded models where it has a confidence, else of a
    language model."""
    return Candidate(
        f"SELECT {number}",
        "generation.embedded" if sure is not None else "generation.direct",
        result=ExecutionResult(("n",), ((number,),)),
        sample=sample,
        by_model=sure is None,
        confidence=sure,
        vetoes=vetoes,
    )


def state(*candidates: Candidate, selected: Candidate | None = None) -> State:
    return State(
        Question("?"), SchemaView(Schema("", ())), candidates=candidates, selected=selected
    )


def test_the_first_one_keeps_the_confidence_that_it_is_shown_with() -> None:
    """Judged one by one, candidates come to more than one together."""
    belief = before_any(state(found(1, 0.9), found(2, 0.4), found(3, 0.3)))
    assert belief.sure == 0.9
    assert sum(belief.probabilities[1:]) == pytest.approx(OTHERS * 0.1)
    assert belief.none == pytest.approx((1 - OTHERS) * 0.1)


def test_others_that_are_improbable_stay_so() -> None:
    belief = before_any(state(found(1, 0.5), found(2, 0.1)))
    assert belief.probabilities == (0.5, pytest.approx(0.1))
    assert belief.none == pytest.approx(0.4)


def test_of_equally_probable_ones_the_selected_one_is_the_first() -> None:
    one, other = found(1, 0.4), found(2, 0.4)
    assert before_any(state(one, other, selected=other)).groups[0].best == other


def test_nothing_is_known_without_a_candidate() -> None:
    belief = before_any(state())
    assert (belief.groups, belief.sure, belief.none) == ((), 0.0, 1.0)
    assert expected_gain(belief, 0.7, None) == pytest.approx(0.7)


def test_two_authors_with_one_result_are_surer_than_either() -> None:
    ours = (found(1, 0.6), found(2, 0.1))
    belief = with_model(before_any(state(*ours)), state(*ours, found(1)), 0.7)
    assert belief.sure > 0.9
    assert sum(belief.probabilities) + belief.none == pytest.approx(1.0)


def test_a_model_alone_takes_what_the_embedded_models_left_open() -> None:
    ours = (found(1, 0.2),)
    belief = with_model(before_any(state(*ours)), state(*ours, found(5)), 0.7)
    assert belief.groups[0].result.rows == ((5,),)
    assert belief.sure == pytest.approx(0.8 * 7 / 3 / (0.8 * 7 / 3 + 0.2 + 0.8))


def test_samples_of_one_model_count_for_less_than_as_many_authors() -> None:
    ours = (found(1, 0.3),)
    prior = before_any(state(*ours))
    one = with_model(prior, state(*ours, found(5)), 0.7)
    twenty = with_model(prior, state(*ours, *(found(5, sample=n) for n in range(20))), 0.7)
    assert one.sure < twenty.sure < 0.95


def test_a_result_that_only_faulty_queries_give_is_held_to_be_wrong() -> None:
    ours = (found(1, 0.2),)
    prior = before_any(state(*ours))
    well = with_model(prior, state(*ours, found(5)), 0.7)
    faulty = with_model(prior, state(*ours, found(5, vetoes=FAULT)), 0.7)
    assert faulty.sure == pytest.approx(well.sure / 2)
    assert faulty.none > well.none


def test_of_one_result_the_query_without_a_fault_is_taken() -> None:
    ours = found(1, 0.3, vetoes=FAULT)
    theirs = found(1)
    before = state(ours, theirs)
    after = chosen(before, with_model(before_any(before), before, 0.7))
    assert after.selected is not None
    assert after.selected.id == theirs.id
    assert after.confidence == after.selected.confidence
    assert not after.measures


def test_unit_tests_tell_results_apart() -> None:
    both = state(found(1, 0.45), found(5), found(6, sample=1))
    judged = both.evolve(tests=(UnitTest("a", (2,)), UnitTest("b", (2,)), UnitTest("c", (1, 2))))
    belief = with_model(before_any(judged), judged, 0.8)
    places = {group.result.rows: belief.probabilities[n] for n, group in enumerate(belief.groups)}
    assert places[((6,),)] > places[((5,),)]


@pytest.mark.parametrize("sure", [0.95, 0.99])
def test_where_it_is_sure_enough_there_is_hardly_anything_to_gain(sure: float) -> None:
    assert expected_gain(before_any(state(found(1, sure))), 0.7, None) < 0.005
