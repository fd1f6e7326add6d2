import json
import random
import sys
import textwrap
import time

import pytest

from evomem_bench.corpus import Note
from evomem_bench.peers import driver
from evomem_bench.peers.driver import Worker, WorkerError, call_each
from evomem_bench.peers.environments import Environment
from evomem_bench.peers.measure import Box, Question, Questions, Work, measure
from evomem_bench.peers.run import Sizes, run_peers
from evomem_bench.peers.table import PEERS, Peer
from evomem_bench.peers.weight import bytes_in, resident_mb

OWN, EXACT = PEERS[0], PEERS[2]
BOX = Box(start_s=30, load_s=30, calls_s=30, patience_s=30)

TOY = """
import json, pathlib, sys, time

place, kept = pathlib.Path(sys.argv[2]) / "notes", []
options = json.loads(sys.argv[3])
print(json.dumps({"batches": False}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    (first, *_) = asked["with"]
    if first in options.get("fatal", []):
        sys.exit("/usr/share/somewhere is full")
    if first in options.get("torn", []):
        sys.stdout.write('{"ms": 2')
        break
    if first in options.get("wrong", []):
        print(json.dumps({"error": "ValueError: no"}), flush=True)
        continue
    time.sleep(options.get("sleep_s", 0))
    told = {"ms": 2.0, "embed_ms": 0.5}
    if asked["do"] == "write":
        kept.append(first)
    else:
        told["texts"] = kept[:asked["with"][1]]
    print(json.dumps(told), flush=True)
place.write_text("".join(kept))
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Return what starts a worker of twenty lines, with options."""
    script = tmp_path / "toy.py"
    script.write_text(TOY, "utf-8")
    monkeypatch.setattr(driver, "_WORKER", script)

    def with_options(**options):
        return lambda folder, limit_s: Worker(sys.executable, "toy", folder, options, limit_s)

    return with_options


def some_work(size=4, **changes):
    """Return notes that are chains of their own, and a question for the first of them."""
    notes = [Note(n, 1, f"note{n}") for n in range(size + 2)]
    given = {"notes": notes, "size": size, "writes": 2, "queries": 1, "batches": True}
    ask = {"ask": lambda held, count: [Question("q", held[0].chain)]}
    return Work(**(given | ask | changes))


@pytest.mark.subprocess
def test_a_worker_is_loaded_written_to_asked_and_weighed(toy, tmp_path):
    figures = measure(toy(), tmp_path / "s", some_work(), BOX, server=False)
    assert figures.error is None
    assert (figures.reached, figures.write["reached"], figures.write["load"]) == (4, 4, "singly")
    times = {"calls": 2, "p50_ms": 2.0, "p99_ms": 2.0, "embedder": 0.25}
    assert figures.write.items() >= times.items()
    assert figures.recall == times | {"calls": 1, "notes": 6, "found": 1.0}
    assert figures.weight["bytes_per_note"] == len("note0")
    assert figures.weight["start_s"] > 0


@pytest.mark.subprocess
def test_a_load_is_cut_when_its_time_is_over(toy, tmp_path):
    box = Box(start_s=30, load_s=0.3, calls_s=30, patience_s=30)
    work = some_work(size=200)
    figures = measure(toy(sleep_s=0.05), tmp_path / "s", work, box, server=False)
    assert 1 < figures.reached <= 7
    assert figures.recall["notes"] == figures.reached + 2


@pytest.mark.subprocess
def test_a_call_that_hangs_is_ended_and_keeps_what_was_measured(toy, tmp_path):
    box = Box(start_s=30, load_s=30, calls_s=0.1, patience_s=0.2)
    began = time.monotonic()
    figures = measure(toy(sleep_s=0.5), tmp_path / "s", some_work(2), box, server=False)
    assert time.monotonic() - began < 10
    assert figures.error == "no answer within 0 s"
    assert (figures.reached, figures.recall) == (2, {})


@pytest.mark.subprocess
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"wrong": ["note1"]}, "ValueError: no"),
        ({"fatal": ["note1"]}, "ended: … is full"),
        ({"torn": ["note1"]}, "ended without a word"),
    ],
)
def test_a_failure_is_one_line_without_places_of_the_machine(toy, tmp_path, options, error):
    figures = measure(toy(**options), tmp_path / "s", some_work(), BOX, server=False)
    assert (figures.error, figures.write) == (error, {})


@pytest.mark.subprocess
def test_a_worker_that_does_not_start_says_why(tmp_path):
    with pytest.raises(WorkerError, match=r"^ModuleNotFoundError: No module named 'nowhere'$"):
        Worker(sys.executable, "nowhere", tmp_path, {}, 30)
    with pytest.raises(WorkerError, match=r"^no answer within 0 s$"):
        Worker(sys.executable, "exact_store", tmp_path, {}, 0.01)


def test_a_python_that_is_gone_is_a_failure_and_no_crash(tmp_path):
    def start(folder, limit_s):
        return Worker(str(tmp_path / "no" / "python"), "exact_store", folder, {}, limit_s)

    figures = measure(start, tmp_path / "s", some_work(), BOX, server=False)
    assert figures.error is not None
    assert figures.error.startswith("[Errno 2] No such file or directory")
    assert str(tmp_path) not in figures.error


@pytest.mark.subprocess
def test_what_a_library_prints_is_not_taken_for_an_answer(tmp_path, monkeypatch):
    loud = tmp_path / "loud.py"
    loud.write_text(
        textwrap.dedent("""
            class Store:
                def write(self, text):
                    print("hello", text)
                def recall(self, query, k):
                    raise ValueError("first\\nsecond")
                def close(self):
                    pass
            def open_store(folder, embed):
                print("opening")
                return Store()
        """),
        "utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Worker(sys.executable, "loud", tmp_path, {}, 30) as worker:
        assert worker.batches is False
        assert set(worker.ask("write", "a")) == {"ms", "embed_ms"}
        with pytest.raises(WorkerError, match=r"^ValueError: first$"):
            worker.ask("recall", "a", 5)
        worker.close(30)


@pytest.mark.subprocess
@pytest.mark.parametrize("module", ["evomem_store", "exact_store"])
def test_our_own_workers_keep_and_find(tmp_path, module):
    texts = ["We use Postgres", "The pie was eaten", "Apples in autumn"]
    with Worker(sys.executable, module, tmp_path, {}, 30) as worker:
        assert worker.batches is True
        call_each(worker, "write", [(texts[0],)], 30, 30)
        call_each(worker, "write_many", [(texts[1:],)], 30, 30)
        told = worker.ask("recall", "pie", 1)
        assert told["texts"] == [texts[1]]
        assert told["ms"] > 0
        assert (told["embed_ms"] > 0) is (module == "exact_store")
        worker.close(30)
    assert (bytes_in(tmp_path) > 0) is (module == "evomem_store")


TINY = Sizes(
    vocabulary=500,
    boxes=((20, BOX), (40, BOX)),
    singly=20,
    writes=5,
    queries=10,
    build_s=0,
    peers=(OWN, EXACT, Peer("gone", "exact_store", "no", "", Environment("gone", ("x==1",)))),
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVOMEM_BENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return run_peers(TINY, seed=3)


def part(report, name):
    return [row for row in report.rows if row["part"] == name]


@pytest.mark.subprocess
def test_every_peer_is_measured_at_every_size(report):
    for size, load in ((20, "singly"), (40, "in batches")):
        writes = part(report, f"write, {size} notes")
        recalls = part(report, f"recall, {size} notes")
        assert [row["system"] for row in writes] == [OWN.name, EXACT.name]
        assert [row["durable"] for row in writes] == ["yes", "no"]
        assert {(row["reached"], row["load"], row["calls"]) for row in writes} == {(size, load, 5)}
        assert {(row["notes"], row["calls"]) for row in recalls} == {(size + 5, 10)}
        for row in writes + recalls:
            assert row["p99_ms"] >= row["p50_ms"] > 0
            assert 0 <= row["embedder"] < 1
        assert all(0.5 < row["found"] <= 1 for row in recalls)


@pytest.mark.subprocess
def test_the_embedder_is_timed_by_itself_too(report):
    (row,) = part(report, "embedder")
    assert row["p99_ms"] >= row["p50_ms"] > 0


@pytest.mark.subprocess
def test_a_peer_without_an_environment_has_a_row_at_every_size(report):
    for size in (20, 40):
        (row,) = part(report, f"not measured, {size} notes")
        assert (row["system"], row["error"]) == ("gone", "not installed: no time was left")


@pytest.mark.subprocess
def test_out_gets_the_document_a_page_and_a_picture(report, tmp_path):
    report.save(tmp_path)
    assert json.loads((tmp_path / "peers.json").read_text("utf-8"))["benchmark"] == "peers"
    assert f"| {OWN.name} | yes | 20 |" in (tmp_path / "peers.md").read_text("utf-8")
    assert (tmp_path / "peers.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.subprocess
def test_who_did_not_hold_all_notes_is_not_tried_with_more(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOMEM_BENCH_CACHE", str(tmp_path))
    short = Box(start_s=30, load_s=0, calls_s=30, patience_s=30)
    sizes = Sizes(
        vocabulary=500, boxes=((20, short), (40, BOX)), writes=1, queries=1, peers=(EXACT,)
    )
    rows = run_peers(sizes, seed=3).rows
    errors = {row["part"]: row["error"] for row in rows if "error" in row}
    assert errors == {"not measured, 40 notes": "not tried: it reached 1 of 20 notes"}


@pytest.mark.subprocess
def test_a_peer_that_failed_is_not_tried_again(monkeypatch):
    broken = Peer("broken", "nowhere", "no", "")
    rows = run_peers(
        Sizes(vocabulary=500, boxes=((20, BOX), (40, BOX)), writes=1, peers=(broken,)), seed=3
    ).rows
    errors = [row["error"] for row in rows if "error" in row]
    assert errors == [
        "ModuleNotFoundError: No module named 'nowhere'",
        "not tried: it failed at 20 notes",
    ]


def test_a_short_run_leaves_out_what_it_has_no_time_for(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOMEM_BENCH_CACHE", str(tmp_path))
    rows = run_peers(
        Sizes(vocabulary=500, boxes=((20, BOX),), build_s=0, total_s=1, peers=TINY.peers), seed=3
    ).rows
    errors = {row["system"]: row["error"] for row in rows if "error" in row}
    assert errors == {
        OWN.name: "no time was left; run without --quick",
        EXACT.name: "no time was left; run without --quick",
        "gone": "not built; run without --quick",
    }


def test_a_box_shrinks_to_the_time_there_is():
    fitted = Box(start_s=9, load_s=20, calls_s=5).fitted(15)
    assert (fitted.start_s, fitted.load_s, fitted.calls_s) == (9, 10, 2.5)
    assert Box(load_s=20, calls_s=5).fitted(60) == Box(load_s=20, calls_s=5)


def test_questions_know_their_chain_and_are_the_same_each_time():
    from evomem_bench.corpus import Corpus

    notes = Corpus(3, 500).notes(60)
    questions = Questions(3, 500)(notes, 40)
    assert questions == Questions(3, 500)(notes, 40)
    drawn = [question for question in questions if question.chain is not None]
    assert len(drawn) >= 30
    for question in drawn:
        words = question.text.split()
        texts = [note.text.lower() for note in notes if note.chain == question.chain]
        assert any(all(word in text for word in words) for text in texts)


@pytest.mark.subprocess
def test_what_a_process_started_can_be_weighed_instead_of_it():
    import subprocess

    nested = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", nested], stdin=subprocess.PIPE) as process:
        deadline = time.monotonic() + 20
        while not resident_mb(process.pid, below=True) and time.monotonic() < deadline:
            time.sleep(random.uniform(0.01, 0.05))  # noqa: S311
        own, below = (resident_mb(process.pid, below=b) for b in (False, True))
        process.communicate(b"\n")
    assert own is None or (own > 1 and below is not None and below > 1)
