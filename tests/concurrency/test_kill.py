"""`kill -9` at any moment, again and again; `evomem-bench crash` does the same a thousand times."""

import pytest

from evomem_bench.concurrency.crash import WRITERS, crash

pytestmark = pytest.mark.subprocess


def assert_nothing_lost(tally, rounds):
    assert tally.problems == []
    assert tally.lost == set()
    assert tally.half_written == set()
    assert (tally.rounds, tally.unsound) == (rounds, 0)
    assert tally.acknowledged > rounds
    # A write may be committed and its process killed before it could say so.
    assert 0 <= tally.untold <= rounds * WRITERS


@pytest.mark.promise("write.durable", "write.atomic")
def test_ten_rounds_of_kills_lose_nothing_and_leave_nothing_by_halves(tmp_path):
    """DUR-001."""
    assert_nothing_lost(crash(tmp_path, 10, seed=7), 10)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.promise("write.durable", "write.atomic")
def test_two_hundred_rounds_of_kills_lose_nothing_and_leave_nothing_by_halves(tmp_path):
    assert_nothing_lost(crash(tmp_path, 200, seed=8), 200)
