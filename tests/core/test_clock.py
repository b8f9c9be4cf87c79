"""Seconds of work: sleep counts, and so does what other processes did meanwhile."""

import time

from fireassay.core.clock import SecondsInWorkers, WorkClock, quiet_seconds, seconds_in_workers


def test_sleep_is_no_waiting_for_a_processor():
    begun = quiet_seconds()
    time.sleep(0.01)
    assert quiet_seconds() - begun > 0.005


def test_work_of_other_processes_is_added():
    found = SecondsInWorkers()
    found.add(0.5)
    assert found.seconds == 0.5
    work = WorkClock()
    seconds_in_workers.add(5.0)
    assert 5.0 <= work.seconds < 6.0
