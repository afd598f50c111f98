import signal
import threading
import time

import pytest

from sqlwright.cli.terminal.interrupt import interruptible


def interrupt_soon() -> None:
    main = threading.main_thread()

    def send() -> None:
        time.sleep(0.05)
        assert main.ident is not None
        signal.pthread_kill(main.ident, signal.SIGINT)

    threading.Thread(target=send).start()


def test_the_value_comes_back() -> None:
    assert interruptible(lambda: 7, lambda: None) == (7, False)


def test_what_the_work_raises_comes_back() -> None:
    def work() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        interruptible(work, lambda: None)


def test_the_best_at_hand_comes_back_after_an_interrupt() -> None:
    stop = threading.Event()

    def work() -> str:
        assert stop.wait(10)
        return "best at hand"

    interrupt_soon()
    assert interruptible(work, stop.set) == ("best at hand", True)


def test_work_that_doesnt_stop_is_left_behind() -> None:
    release = threading.Event()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: release.wait(10), lambda: None)
    release.set()


def test_an_error_after_an_interrupt_is_an_interrupt() -> None:
    stop = threading.Event()

    def work() -> None:
        stop.wait(10)
        raise RuntimeError("torn down")

    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        interruptible(work, stop.set)
