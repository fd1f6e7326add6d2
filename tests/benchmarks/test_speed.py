import json
import random
from itertools import pairwise

import pytest
from typer.testing import CliRunner

import evomem_bench.main
from evomem_bench.corpus import Corpus
from evomem_bench.report import Report
from evomem_bench.speed.run import Sizes, run_speed
from evomem_bench.timing import in_turns, percentile

TINY = Sizes(
    vocabulary=500,
    few=20,
    many=50,
    links=20,
    writes=20,
    queries=8,
    imports=1,
    recalls=3,
    operations=12,
    patches=10,
    examined=30,
)


@pytest.fixture(scope="module")
def report():
    return run_speed(TINY, seed=3)


@pytest.fixture(scope="module")
def rows(report):
    return json.loads(report.to_json())["rows"]


def part(rows, name):
    return [row for row in rows if row["part"] == name]


@pytest.mark.subprocess
def test_the_document_names_the_run_and_every_row_its_system(report, rows):
    document = json.loads(report.to_json())
    assert set(document) == {"benchmark", "rows", "command", "date", "seed"}
    assert (document["benchmark"], document["seed"]) == ("speed", 3)
    assert {row["part"] for row in rows} == {
        "machine",
        "load",
        "write",
        "recall",
        "patch",
        "doctor",
        "import",
        "memory",
    }
    assert all(row["system"] for row in rows)


@pytest.mark.subprocess
def test_every_ratio_is_positive_and_the_baselines_are_one(rows):
    ratios = [value for row in rows for name, value in row.items() if name.startswith("ratio")]
    assert ratios
    assert min(ratios) > 0
    for name in ("load", "write", "recall", "import"):
        assert part(rows, name)[0]["ratio"] == 1


@pytest.mark.subprocess
def test_writes_are_timed_in_empty_and_in_filled_stores(rows):
    systems = {(row["notes"], row["system"]) for row in part(rows, "write")}
    assert len(systems) == 8
    assert {notes for notes, _ in systems} == {0, TINY.many}
    assert all(row["p99_ms"] >= row["p50_ms"] > 0 for row in part(rows, "write"))


@pytest.mark.subprocess
def test_recalls_tell_how_often_the_answer_is_exact_and_agrees(rows):
    own = [row for row in part(rows, "recall") if "exact" in row]
    assert [row["notes"] for row in own] == [TINY.few, TINY.many]
    assert all(0 <= row[name] <= 1 for row in own for name in ("exact", "same_first"))


@pytest.mark.subprocess
def test_the_import_of_evomem_loads_nothing_heavy(rows):
    (own,) = (row for row in part(rows, "import") if row["system"] == "import evomem")
    assert own["heavy"] == []
    assert own["modules"] > 0


@pytest.mark.subprocess
def test_out_gets_the_document_and_a_picture(report, tmp_path):
    report.save(tmp_path / "new")
    assert json.loads((tmp_path / "new/speed.json").read_text("utf-8"))["rows"]
    assert (tmp_path / "new/speed.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.subprocess
def test_json_prints_one_document_and_nothing_else(monkeypatch):
    monkeypatch.setattr(evomem_bench.main, "QUICK", TINY)
    result = CliRunner().invoke(evomem_bench.main.app, ["speed", "--quick", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["benchmark"] == "speed"


@pytest.mark.subprocess
def test_the_tables_hold_every_part(report, capsys):
    report.print_tables()
    printed = capsys.readouterr().out
    assert "raw transaction" in printed
    assert "import evomem" in printed


def test_a_report_knows_when_and_by_what_command_it_was_made():
    made = Report("speed", [], seed=1)
    assert made.command.startswith("evomem-bench")
    assert made.date.endswith("+00:00")


def test_the_same_seed_draws_the_same_corpus_and_another_seed_another():
    notes = Corpus(5, 300).notes(30)
    assert Corpus(5, 300).notes(30) == notes
    assert Corpus(6, 300).notes(30) != notes


def test_versions_of_a_chain_follow_each_other_and_share_words():
    notes = Corpus(5, 2000).notes(200)
    for before, after in pairwise(notes):
        same = after.chain == before.chain
        assert after.version == (before.version + 1 if same else 1)
        if same:
            assert set(before.text.lower().split()) & set(after.text.lower().split())


def test_queries_have_two_to_six_words_of_the_vocabulary():
    corpus = Corpus(5, 300)
    queries = corpus.queries(corpus.notes(30), 40)
    assert all(2 <= len(query.split()) <= 6 for query in queries)
    assert all(len(word) == 6 for query in queries for word in query.split())


def test_a_percentile_is_a_value_that_was_measured():
    assert percentile([3.0, 1.0, 2.0, 4.0], 0.5) == 2.0
    assert percentile([3.0, 1.0, 2.0, 4.0], 0.99) == 4.0
    assert percentile([3.0], 0.5) == 3.0


def test_every_system_gets_every_item_once():
    generator = random.Random(1)  # noqa: S311  a seeded shuffle
    turns = in_turns(range(25), ("a", "b"), generator, block=10)
    for system in ("a", "b"):
        assert [n for name, block in turns if name == system for n in block] == list(range(25))
