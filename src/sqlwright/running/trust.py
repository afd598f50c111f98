"""The confidence in the chosen query: by the user's own calibration, else by the one that ships."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlwright.caveats import faulty
from sqlwright.confidence.calibration import log_odds
from sqlwright.confidence.measures import BELIEF, STAYS, Seen, measured
from sqlwright.confidence.own import OwnCalibration
from sqlwright.errors import ConfigError, ModelUnavailable
from sqlwright.protocols import ModelsByRole
from sqlwright.protocols.models import Calibrates, Probability
from sqlwright.running.grounds import Caution, author_of, basis_of
from sqlwright.schema import Schema
from sqlwright.types import Candidate, State

ROLE = "calibration"
FAULTY = 0.49
"""The highest probability of an answer with a fault that nobody mended: it is doubted, whatever was
fitted. Few such answers are among those that a calibration is fitted to; chosen."""
SHIPPED = "questions of several kinds, on databases that the models weren't trained on"


@dataclass(frozen=True, slots=True)
class Sure:
    """Told of a probability beside it."""

    interval: tuple[float, float] | None = None
    fitted_to: str = ""
    counted: bool = False
    """True of an answer of a language model, which has agreeing samples and signs, too."""


@dataclass(frozen=True)
class Trust:
    """The calibrations at hand."""

    models: ModelsByRole = field(default_factory=dict)
    own: Sequence[OwnCalibration] = ()
    """Those of this database, recipe and model, one for each kind of answer."""
    caution: Caution | None = None

    def applied(self, state: State, schema: Schema) -> tuple[State, Sure]:
        """The state with how sure its choice, or what came nearest to one, and the other candidates
        may be; the same where nothing was fitted that could say so."""
        chosen = state.selected or _surest(state)
        if chosen is None or chosen.result is None or not chosen.result.ok:
            return state, Sure()
        by, fitted_to = self._calibration(state, chosen)
        if by is None:
            return state, Sure()
        seen = Seen(state, chosen, schema, basis_of(state, chosen))
        sure = _held(by.judge(measured(seen), state.question.text), chosen)
        told = Sure((sure.low, sure.high), fitted_to)
        if state.confidence is None:
            return state.evolve(confidence=sure.value), replace(told, counted=True)
        return _beside(state, sure, by), told

    def cautioned(self, state: State, schema: Schema) -> tuple[State, Sure]:
        """`applied`, and the effects of the data on the choice: where they aren't put right it is
        `FAULTY` sure at most."""
        state, sure = self.applied(state, schema)
        state = state if self.caution is None else self.caution(state)
        if state.confidence is None or state.selected is None or not faulty(state.selected):
            return state, sure
        chosen = replace(state.selected, confidence=min(state.confidence, FAULTY))
        if sure.interval is not None:
            low, high = (min(end, FAULTY) for end in sure.interval)
            sure = replace(sure, interval=(low, high))
        others = tuple(chosen if one.id == chosen.id else one for one in state.candidates)
        return state.evolve(selected=chosen, candidates=others, confidence=chosen.confidence), sure

    def weighed(self, state: State, schema: Schema) -> State:
        """The state alone of `applied`."""
        return self.applied(state, schema)[0]

    def _calibration(self, state: State, chosen: Candidate) -> tuple[Calibrates | None, str]:
        """The calibration for a state's kind of answer, and what it was fitted to."""
        embedded = state.confidence is not None
        kinds = [True] if embedded else []
        if not embedded or BELIEF in state.measures:
            kinds.insert(0, False)
        if author_of(chosen, state) != "stand_in":
            for own in (one for kind in kinds for one in self.own if one.report.embedded is kind):
                return own.calibration, own.report.words
        if not embedded or not state.measures.keys() - {BELIEF, STAYS}:
            return None, ""
        try:
            model = self.models[ROLE]
        except (ConfigError, ModelUnavailable, KeyError):
            return None, ""  # what is wrong with the weights is told by who asks for a model
        return (model, SHIPPED) if isinstance(model, Calibrates) else (None, "")


NOTHING_FITTED = Trust()


def _held(sure: Probability, chosen: Candidate) -> Probability:
    """The probability, at most `FAULTY` where the candidate has a fault."""
    if not chosen.vetoes:
        return sure
    return Probability(*(min(one, FAULTY) for one in (sure.value, sure.low, sure.high)))


def _surest(state: State) -> Candidate | None:
    """The answer that there would have been had it not been refused."""
    judged = [one for one in state.candidates if one.confidence is not None]
    return max(judged, key=lambda one: one.confidence or 0.0, default=None)


def _beside(state: State, sure: Probability, by: Calibrates) -> State:
    """All candidates with their probabilities beside that of the chosen one."""
    top = log_odds(state.confidence or 0.0)

    def weighed(one: Candidate) -> Candidate:
        if one.confidence is None:
            return one
        return replace(one, confidence=by.beside(sure, top - log_odds(one.confidence)))

    return state.evolve(
        confidence=sure.value,
        candidates=tuple(map(weighed, state.candidates)),
        selected=None if state.selected is None else weighed(state.selected),
    )
