"""The service's way to an embedder, with embedders that misbehave in every way."""

import gc
import math
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from evomem.embed.checked import BATCH_SIZE, Embeddings, EmbedFailure

DEADLINE_S = 5.0


class Embedder:
    """Answers with what the function makes of the texts, and remembers the calls."""

    name = "test/1"

    def __init__(self, answer, **attributes):
        self.__dict__.update(attributes)
        self.answer = answer
        self.calls = []
        self.threads = set()

    def embed(self, texts, *, query):
        self.calls.append((list(texts), query))
        self.threads.add(threading.get_ident())
        return self.answer(texts)


class Hanging(Embedder):
    """Does not answer before it is let go."""

    def __init__(self, answer=None):
        super().__init__(answer or lengths)
        self.let_go = threading.Event()

    def embed(self, texts, *, query):
        self.threads.add(threading.get_ident())
        self.calls.append((list(texts), query))
        assert self.let_go.wait(30)
        return self.answer(texts)


def lengths(texts):
    return [[1.0, float(len(text))] for text in texts]


def held(embedder, **options):
    return Embeddings(embedder, **options)


def vectors(embedder, texts=("a", "b"), *, query=False, deadline_s=DEADLINE_S):
    return held(embedder).vectors(texts, query=query, deadline_s=deadline_s)


@pytest.fixture
def hanging():
    embedder = Hanging()
    yield embedder
    embedder.let_go.set()


@pytest.mark.parametrize("query", [True, False])
def test_texts_and_purpose_reach_the_embedder(query):
    embedder = Embedder(lengths)
    assert len(vectors(embedder, ["a", "bb"], query=query)) == 2
    assert embedder.calls == [(["a", "bb"], query)]


def test_no_texts_need_no_call():
    embedder = Embedder(lengths)
    assert vectors(embedder, []) == []
    assert embedder.calls == []


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "数据库 🚀", "e\u0301", "\ud800 lone", "x" * 10**6]
)
def test_any_text_is_embedded_as_text_that_can_be_encoded(text):
    embedder = Embedder(lengths)
    [vector] = vectors(embedder, [text])
    assert len(vector) == 8
    [([given], _)] = embedder.calls
    assert given.encode() == text.encode("utf-8", "replace")


def test_a_thousand_texts_are_embedded_in_batches_and_stay_in_order():
    embedder = Embedder(lengths)
    texts = ["x" * number for number in range(1000)]
    found = vectors(embedder, texts)
    assert [len(call) for call, _ in embedder.calls] == [BATCH_SIZE] * 15 + [40]
    assert [text for call, _ in embedder.calls for text in call] == texts
    assert found == [vector for text in texts for vector in vectors(Embedder(lengths), [text])]


def test_an_embedder_may_say_how_many_texts_it_takes_at_once():
    embedder = Embedder(lengths, batch_size=3)
    assert len(vectors(embedder, ["a"] * 7)) == 7
    assert [len(call) for call, _ in embedder.calls] == [3, 3, 1]


@pytest.mark.parametrize("size", [0, -1, None, "auto", 2.5])
def test_a_batch_size_that_is_none_is_not_taken(size):
    embedder = Embedder(lengths, batch_size=size)
    assert len(vectors(embedder, ["a"] * (BATCH_SIZE + 1))) == BATCH_SIZE + 1
    assert [len(call) for call, _ in embedder.calls] == [BATCH_SIZE, 1]


def raising(error):
    def answer(texts):
        raise error

    return Embedder(answer)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no model"), "failed: ValueError: no model."),
        (MemoryError(), "failed: MemoryError:."),
        (SystemExit(3), "failed: SystemExit: 3."),
        (KeyboardInterrupt(), "failed: KeyboardInterrupt:."),
        (TimeoutError("the socket"), "failed: TimeoutError: the socket."),
        (RuntimeError("two\nlines."), "failed: RuntimeError: two lines."),
    ],
)
def test_whatever_an_embedder_raises_is_a_failure_with_its_type_and_message(error, said):
    assert vectors(raising(error)) == EmbedFailure(f"The embedder test/1 {said}")


def test_a_long_message_is_cut():
    failure = vectors(raising(ValueError("x" * 10_000)))
    assert len(failure.reason) < 400
    assert failure.reason.endswith("….")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "answered NoneType where a list should be."),
        ([[1.0, 2.0]], "answered 1 vectors for 2 texts."),
        ([[1.0], [math.nan]], "answered a vector with numbers that are not finite."),
        ([[1.0], [math.inf]], "answered a vector with numbers that are not finite."),
        ([[1.0], [0.0]], "answered a vector without any number but zero."),
        ([["1"], ["2"]], "answered something in a vector that is no number (must be real number"),
        ([[10**400], [1.0]], "answered what cannot be read: OverflowError"),
    ],
)
def test_an_answer_that_is_no_vectors_is_a_failure(answer, said):
    failure = vectors(Embedder(lambda texts: answer))
    assert failure.reason.startswith(f"The embedder test/1 {said}")


def test_rows_that_raise_or_hang_while_they_are_read_are_failures():
    def rows():
        yield [1.0]
        raise ZeroDivisionError

    def slow_rows():
        yield [1.0]
        time.sleep(0.5)
        yield [1.0]

    failure = vectors(Embedder(lambda texts: rows()))
    assert "cannot be read: ZeroDivisionError" in failure.reason
    begin = time.monotonic()
    failure = vectors(Embedder(lambda texts: slow_rows()), deadline_s=0.05)
    assert "did not answer within 0.05 s" in failure.reason
    assert time.monotonic() - begin < 0.45


def test_the_dimension_never_changes_and_a_failure_does_not_set_it():
    answers = iter([[[0.0] * 4], [[1.0] * 2], [[1.0] * 3], [[2.0] * 2]])
    embeddings = held(Embedder(lambda texts: next(answers)))
    found = [embeddings.vectors(["a"], query=False, deadline_s=DEADLINE_S) for _ in range(4)]
    assert isinstance(found[0], EmbedFailure)
    assert found[2].reason == (
        "The embedder test/1 answered a vector of 3 numbers, not 2 as before."
    )
    assert found[1] == found[3]


def test_a_hanging_embedder_holds_nobody_and_is_not_called_again(hanging):
    embeddings = held(hanging)
    before = {thread.ident for thread in threading.enumerate()}
    begin = time.monotonic()
    late = embeddings.vectors(["a"], query=True, deadline_s=0.1)
    assert late == EmbedFailure("The embedder test/1 did not answer within 0.1 s.")
    for _ in range(20):
        busy = embeddings.vectors(["b"], query=True, deadline_s=DEADLINE_S)
        assert busy == EmbedFailure("The embedder test/1 is still busy with an earlier call.")
    assert time.monotonic() - begin < 1.0
    assert hanging.calls == [(["a"], True)]
    assert {thread.ident for thread in threading.enumerate()} - before == hanging.threads


def test_after_a_hang_the_same_thread_goes_on_and_the_late_answer_is_thrown_away(hanging):
    embeddings = held(hanging)
    embeddings.vectors(["x" * 50], query=True, deadline_s=0.05)
    hanging.let_go.set()
    end = time.monotonic() + 5
    while isinstance(found := embeddings.vectors(["a"], query=True, deadline_s=1), EmbedFailure):
        assert time.monotonic() < end
    assert found == vectors(Embedder(lengths), ["a"])
    assert len(hanging.threads) == 1


@pytest.mark.parametrize("deadline_s", [0.0, -1.0, -math.inf])
def test_without_time_the_call_fails_at_once(hanging, deadline_s):
    begin = time.monotonic()
    assert isinstance(vectors(hanging, deadline_s=deadline_s), EmbedFailure)
    assert time.monotonic() - begin < 0.5


def test_a_deadline_may_be_endless():
    assert len(vectors(Embedder(lengths), deadline_s=math.inf)) == 2


def test_the_deadline_is_for_all_batches_together_and_stops_those_not_begun():
    def slow(texts):
        time.sleep(0.05)
        return lengths(texts)

    embedder = Embedder(slow)
    begin = time.monotonic()
    failure = vectors(embedder, ["a"] * (20 * BATCH_SIZE), deadline_s=0.2)
    assert "did not answer within 0.2 s" in failure.reason
    assert time.monotonic() - begin < 0.6
    called = len(embedder.calls)
    time.sleep(0.15)
    assert len(embedder.calls) == called < 20


def test_threads_take_turns_in_one_thread_of_the_embedder():
    embedder = Embedder(lengths)
    embeddings = held(embedder)

    def call(number):
        return embeddings.vectors(["x" * number] * 3, query=False, deadline_s=DEADLINE_S)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(call, range(100)))
    assert found == [vectors(Embedder(lengths), ["x" * number] * 3) for number in range(100)]
    assert len(embedder.threads) == 1


def test_who_waits_for_a_turn_waits_no_longer_than_the_own_deadline(hanging):
    embeddings = held(hanging)
    first = threading.Thread(
        target=embeddings.vectors, args=(["a"],), kwargs={"query": True, "deadline_s": 2.0}
    )
    first.start()
    while not hanging.calls:
        time.sleep(0.001)
    begin = time.monotonic()
    failure = embeddings.vectors(["b"], query=True, deadline_s=0.1)
    assert failure.reason == "The embedder test/1 did not answer within 0.1 s."
    assert time.monotonic() - begin < 1.0
    hanging.let_go.set()
    first.join()
    assert len(hanging.calls) == 1


@pytest.mark.parametrize("end", ["close", "drop"])
def test_the_thread_ends_with_the_embeddings(end):
    embedder = Embedder(lengths)
    embeddings = held(embedder)
    embeddings.vectors(["a"], query=True, deadline_s=DEADLINE_S)
    if end == "close":
        embeddings.close()
        embeddings.close()
    else:
        del embeddings
        gc.collect()
    deadline = time.monotonic() + 5
    while {thread.ident for thread in threading.enumerate()} & embedder.threads:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_after_closing_a_call_starts_another_thread():
    embeddings = held(Embedder(lengths))
    found = embeddings.vectors(["a"], query=True, deadline_s=DEADLINE_S)
    embeddings.close()
    assert embeddings.vectors(["a"], query=True, deadline_s=DEADLINE_S) == found


SCRIPT = """
import os, sys, time
from evomem.embed.checked import Embeddings, EmbedFailure

class Slow:
    name = "slow/1"
    def embed(self, texts, *, query):
        time.sleep({seconds})
        return [[1.0]] * len(texts)

def call(deadline_s):
    return embeddings.vectors(["a"], query=True, deadline_s=deadline_s)

embeddings = Embeddings(Slow())
"""


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.parametrize("seconds", [0.0, 0.6])
def test_a_forked_process_embeds_on_even_if_its_parent_hung(seconds):
    script = SCRIPT.format(seconds=seconds) + (
        "from evomem.embed import worker\n"
        "worker.EXIT_PATIENCE_S = 60\n"
        "call(0.3)\n"
        "if os.fork() == 0:\n"
        "    sys.exit(isinstance(call(10), EmbedFailure))\n"
        "_, status = os.wait()\n"
        "sys.exit(os.waitstatus_to_exitcode(status) or isinstance(call(10), EmbedFailure))\n"
    )
    done = run(script)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.subprocess
def test_a_hanging_embedder_keeps_the_process_no_longer_than_its_patience():
    script = SCRIPT.format(seconds=60) + (
        "from evomem.embed import worker\nworker.EXIT_PATIENCE_S = 0.2\ncall(0.1)"
    )
    done = run(script)
    assert (done.returncode, done.stderr) == (0, "")
