"""Threads of clients: they end at a number, go on while asked to, and can be waited for."""

from __future__ import annotations

import threading

import pytest

from paraply.adapters.live.client_threads import ClientThreads


class Counting(ClientThreads):
    """Clients that each confirm a transaction whenever ``turns`` lets them."""

    def __init__(self, clients, transactions, *, turns=None):
        super().__init__(clients, transactions)
        self.confirmed = 0
        self.turns = turns

    @property
    def completed(self):
        return self.confirmed

    def _run(self, number):
        while not self.is_done:
            if self.turns is not None and not self.turns.acquire(timeout=0.01):
                continue
            with self._lock:
                self.confirmed += 1


def test_clients_end_at_their_number():
    clients = Counting(3, 50)
    clients.start()
    assert clients.wait_for(50, seconds=60)
    clients.wait(60)
    assert clients.have_ended
    assert 50 <= clients.completed < 50 + 3


def test_number_that_is_not_reached_is_told_when_the_clients_have_ended():
    clients = Counting(1, 5)
    clients.start()
    clients.wait(60)
    assert not clients.wait_for(6, seconds=60)


@pytest.mark.parametrize(("more", "expected"), [(None, 4), (2, 12)])
def test_clients_go_on_in_the_block_and_for_the_number_after_it(more, expected):
    turns = threading.Semaphore(0)
    clients = Counting(1, 4, turns=turns)
    clients.start()
    with clients.going_on(more=more):
        turns.release(10)
        assert clients.wait_for(10, seconds=60)
        assert not clients.have_ended
    turns.release(10)
    clients.wait(60)
    # The client may have been waiting for its turn when the block ended.
    assert clients.completed - max(expected, 10) in (0, 1)


def test_stopped_clients_end_before_their_number():
    turns = threading.Semaphore(3)
    clients = Counting(2, 100, turns=turns)
    clients.start()
    assert clients.wait_for(3, seconds=60)
    clients.stop_threads(60)
    assert clients.have_ended
    assert clients.completed == 3
