"""What is told while a question is at work."""

import io

from rich.console import Console

from sqlwright.cli.terminal.console import Glyphs, Screen
from sqlwright.cli.terminal.progress import Spinner, step_words
from sqlwright.events import BranchesProgressed, BranchStepStarted, ModelAsked, StepStarted
from sqlwright.recipes.registry import step_names


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def spinner(clock: Clock, width: int = 80) -> Spinner:
    console = Console(file=io.StringIO(), width=width)
    return Spinner(
        Screen(console, console, Glyphs(), interactive=True), "opening the database", clock
    )


def test_branches_are_counted_under_the_step_they_began_with() -> None:
    line = spinner(Clock())
    assert line.__rich__().plain == "opening the database"
    line(StepStarted("retrieval.context", 0))
    line(BranchesProgressed(0, 20))
    line(BranchStepStarted("generation.direct", 1))
    assert line.__rich__().plain == "writing queries · 0 of 20"
    line(BranchStepStarted("repair.revise", 1))
    line(BranchesProgressed(7, 20))
    assert line.__rich__().plain == "writing queries · 7 of 20"
    line(StepStarted("selection.generate_tests", 0))
    assert line.__rich__().plain == "writing unit tests"


def test_steps_of_a_single_chain_are_told_one_by_one() -> None:
    line = spinner(Clock())
    for step, words in (("generation.direct", "writing"), ("repair.revise", "mending")):
        line(BranchStepStarted(step, 0))
        assert line.__rich__().plain == f"{words} queries"


def test_what_takes_long_has_its_seconds_and_fits_the_terminal() -> None:
    clock = Clock()
    line = spinner(clock, width=30)
    clock.seconds = 12.3
    assert line.__rich__().plain == "opening the database · 12…"
    line.tell("thinking")
    assert line.__rich__().plain == "thinking · 12 s"


def test_what_a_slow_model_reads_is_told_while_it_does() -> None:
    clock = Clock()
    line = spinner(clock)
    line(StepStarted("generation.direct", 0))
    line(ModelAsked("llamacpp/m", 2_200))
    assert line.__rich__().plain == "writing queries"
    clock.seconds = 40
    assert line.__rich__().plain == "writing queries · the model reads 2,200 tokens · 40 s"
    line(StepStarted("repair.execute", 0))
    assert line.__rich__().plain == "running the queries · 40 s"


def test_every_step_that_ships_is_told_in_words() -> None:
    for step in step_names():
        assert not step_words(step).startswith(step.partition(".")[0].replace("_", " ") + ":")


def test_a_step_without_words_of_its_own_is_told_by_its_stage() -> None:
    assert step_words("repair.not_written_yet") == "mending queries"
    assert step_words("my_steps:HouseWords") == "my steps:HouseWords"
