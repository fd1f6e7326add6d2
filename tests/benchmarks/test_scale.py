import json
import math
import random
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

import evomem
from evomem.domain.extraction import Extraction
from evomem_bench.scale import disk
from evomem_bench.scale.disk import measure_disk, weigh
from evomem_bench.scale.exhaustive import Ranked, rank_all
from evomem_bench.scale.latency import FLOOR, OWN, PLAIN
from evomem_bench.scale.questions import ALL, COMMON, UNCOMMON, Questions, draw
from evomem_bench.scale.relevance import judge
from evomem_bench.scale.run import FULL, QUICK, Size, Sizes, run_scale
from evomem_bench.scale.stores import CACHE_VARIABLE, Contents, prepare
from evomem_bench.scale.writes import measure_writes, new_notes

SMALL = Contents(seed=3, vocabulary=500, notes=150, batch=20)
TINY = Sizes(
    (Size(60, 12, 12, 20), Size(SMALL.notes, 12, 8, 20)),
    vocabulary=SMALL.vocabulary,
    batch=SMALL.batch,
    recalls=3,
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def report(cache):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(CACHE_VARIABLE, str(cache))
        return run_scale(TINY, seed=SMALL.seed)


@pytest.fixture
def stores(report, cache, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(cache))
    return prepare(SMALL)


def part(report, name):
    return [row for row in report.rows if row["part"] == name]


@pytest.mark.subprocess
def test_every_part_is_measured_at_every_size(report):
    for name in ("load", "recall", "relevance", "write", "disk", "memory"):
        assert {row["notes"] for row in part(report, name)} == {60, 150}
    assert len(part(report, "machine")) == 2
    assert all(row["system"] for row in report.rows)


@pytest.mark.subprocess
def test_every_system_answers_every_query_and_each_is_of_one_kind(report):
    calls = {(r["notes"], r["system"], r["queries"]): r["calls"] for r in part(report, "recall")}
    for notes in (60, 150):
        for system in (PLAIN, OWN, FLOOR):
            assert calls[notes, system, ALL] == 12
            kinds = (calls.get((notes, system, kind), 0) for kind in (UNCOMMON, COMMON))
            assert sum(kinds) == 12
    for row in part(report, "recall"):
        assert row["p99_ms"] >= row["p95_ms"] >= row["p50_ms"] > 0
        assert (row["ratio"] == 1) or row["system"] != PLAIN


@pytest.mark.subprocess
def test_a_small_store_is_searched_exactly(report):
    rows = part(report, "relevance")
    assert [row["calls"] for row in rows if row["queries"] == ALL] == [12, 8]
    assert all(row["exact_lies"] == 0 for row in rows)
    assert all(row["top_1"] == row["overlap_10"] == 1 for row in rows if row["exact"] == 1)


@pytest.mark.subprocess
def test_writes_are_timed_beside_the_raw_transaction(report):
    rows = part(report, "write")
    assert [row["calls"] for row in rows] == [20] * 4
    assert [row["ratio"] == 1 for row in rows] == [True, False] * 2


@pytest.mark.subprocess
def test_out_gets_the_document_a_page_and_a_picture(report, tmp_path):
    report.save(tmp_path / "new")
    assert json.loads((tmp_path / "new/scale.json").read_text("utf-8"))["benchmark"] == "scale"
    assert "## relevance" in (tmp_path / "new/scale.md").read_text("utf-8")
    assert (tmp_path / "new/scale.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.subprocess
def test_the_sizes_go_to_a_million_and_the_quick_ones_to_ten_thousand():
    assert [size.notes for size in FULL.steps] == [1000, 10_000, 100_000, 1_000_000]
    assert [size.notes for size in QUICK.steps] == [1000, 10_000]


@pytest.mark.subprocess
def test_queries_are_the_same_every_time_and_their_words_are_counted(stores):
    questions = draw(stores, 20)
    assert draw(stores, 20) == questions
    notes = SMALL.corpus().notes(SMALL.notes)
    texts = [set(note.text.lower().replace(".", "").split()) for note in notes]
    for word, count in questions.frequency.items():
        assert count == sum(word in text for text in texts)


def test_a_query_with_one_uncommon_word_is_uncommon():
    questions = Questions((), {"usual": 11, "plain": 50, "rare": 10}, 100)
    assert questions.kind("plain usual") == COMMON
    assert questions.kind("plain rare usual") == UNCOMMON
    assert questions.rarest_first("plain rare usual") == ["rare", "usual", "plain"]


class Silent:
    """A cronista that finds nothing, so that only what the caller says is in focus."""

    name = "silent"

    def extract(self, texts):
        return [Extraction(cronista=self.name) for _ in texts]


@pytest.fixture
def birds(tmp_path):
    """Return a store whose scores fit on a sheet of paper, and its memories by name."""
    path = tmp_path / "birds.db"
    with evomem.open(path, linking="off", cronista=Silent()) as memory:
        pair = memory.remember("kestrel falcon").node
        about = memory.remember("heron egret gannet", subject="kestrel").node
        old = memory.remember("falcon stork").node
        new = memory.remember("falcon ibis heron egret", supersedes=[old.id]).node
        memory.remember("pelican stork heron egret gannet fulmar petrel osprey")
    assert new.memory_id == old.memory_id
    return path, {"pair": pair.memory_id, "about": about.memory_id, "line": new.memory_id}


def bm25(documents, held, count, length, mean):
    idf = math.log(1 + (documents - held + 0.5) / (held + 0.5))
    return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))


def test_the_right_answers_are_those_of_a_hand_made_example(birds):
    path, memories = birds
    # Five documents of 2, 4, 2, 4 and 8 tokens: 4 on average. Two hold kestrel, three falcon.
    kestrel = bm25(5, 2, 1, 2, 4)
    falcon = bm25(5, 3, 1, 2, 4)
    right = rank_all(path, ["kestrel falcon", "falcon", "nothing"], 10)
    assert [ranked.memory_id for ranked in right["kestrel falcon"]] == [
        memories["pair"],
        memories["about"],
        memories["line"],
    ]
    # A word in the subject counts twice. The old version of the line is shorter, and so better.
    assert [ranked.score for ranked in right["kestrel falcon"]] == pytest.approx(
        [kestrel + falcon, bm25(5, 2, 2, 4, 4), falcon]
    )
    assert [ranked.score for ranked in right["falcon"]] == pytest.approx([falcon, falcon])
    assert right["nothing"] == []


@pytest.mark.subprocess
def test_the_best_few_are_the_beginning_of_the_best_many(stores):
    questions = draw(stores, 10)
    every = rank_all(stores.path, questions.queries, 1000)
    for query, few in rank_all(stores.path, questions.queries, 1).items():
        assert len(every[query]) > 10
        assert few == every[query][:1]
        assert len({ranked.memory_id for ranked in every[query]}) == len(every[query])


def test_an_answer_that_claims_to_be_exact_and_lacks_the_best_is_a_lie(birds):
    path, _ = birds
    query = "kestrel falcon"
    right = rank_all(path, [query], 10)[query]
    with evomem.open(path, read_only=True) as memory:
        result = memory.recall(query, k=10)
    assert judge(result, right) == (True, 1.0, True, False)
    short = replace(result, hits=result.hits[1:])
    assert judge(short, right) == (False, 2 / 3, True, True)
    assert not judge(replace(short, exact=False), right).lie
    assert judge(replace(result, hits=()), []) == (True, 1.0, True, False)


def test_memories_of_equal_score_are_equally_right(birds):
    path, _ = birds
    with evomem.open(path, read_only=True) as memory:
        result = memory.recall("kestrel falcon", k=10)
    other = [Ranked(hit.score or 0.0, f"other-{n}") for n, hit in enumerate(result.hits)]
    verdict = judge(result, other)
    assert (verdict.top_1, verdict.lie) == (True, False)
    # Only the last one is known to be interchangeable with what came after it.
    assert verdict.overlap == pytest.approx(1 / 3)


@pytest.mark.subprocess
def test_new_notes_are_in_no_store(stores):
    notes = new_notes(stores, 50, random.Random(1))  # noqa: S311  a seeded shuffle
    with evomem.open(stores.path, read_only=True) as memory:
        stored = {node.text for node in memory.list(status="all", limit=1000)}
    assert len(stored) == SMALL.notes
    assert len({note.text for note in notes}) == 50
    assert stored.isdisjoint(note.text for note in notes)
    assert min(note.chain for note in notes) >= SMALL.notes


@pytest.mark.subprocess
def test_a_full_disk_leaves_the_writes_out_and_says_so(stores, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    (row,) = measure_writes(stores, 5, random.Random(1))  # noqa: S311  a seeded shuffle
    assert row["system"].startswith("not measured: the disk lacks")
    assert row["notes"] == SMALL.notes


@pytest.mark.subprocess
def test_the_parts_of_a_file_add_up(stores):
    notes = SMALL.corpus().notes(SMALL.notes)
    text = sum(len(note.text.encode()) for note in notes) / SMALL.notes
    for row in measure_disk(stores):
        shares = [row[f"{name}_bytes"] for name in ("text", "index", "rest")]
        assert min(shares) > 0
        assert sum(shares) == pytest.approx(row["all_bytes"], abs=0.2)
        assert row["text_bytes"] > text
        assert row["beyond_text_bytes"] == pytest.approx(row["all_bytes"] - text, abs=0.1)


@pytest.mark.subprocess
def test_without_page_counts_the_whole_is_known(stores, monkeypatch):
    monkeypatch.setattr(disk, "_PAGES", "SELECT name, pgsize FROM not_built_in")
    assert weigh(stores.path, frozenset({"text"})) == {
        "all": stores.path.stat().st_size,
        "text": None,
        "index": None,
        "rest": None,
    }
