"""Ctrl-C waits for the end of a step, a second one does not, and the handlers of before come back.
"""

from __future__ import annotations

import os
import signal
import threading

import pytest

from lessons_lib.core import asked_to_stop


@pytest.fixture(autouse=True)
def with_a_handler():
    """As in a terminal: a runner that was started in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_is_noted_and_a_second_one_cuts():
    with pytest.raises(KeyboardInterrupt), asked_to_stop() as asked:
        assert not asked.is_set()
        os.kill(os.getpid(), signal.SIGINT)
        assert asked.wait(1)
        os.kill(os.getpid(), signal.SIGINT)
        asked.wait(1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_outside_the_main_thread_nothing_is_changed():
    seen = []

    def work():
        with asked_to_stop() as asked:
            seen.append((asked.is_set(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(False, signal.default_int_handler)]
