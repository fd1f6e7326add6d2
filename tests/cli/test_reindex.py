"""`evomem reindex`, the option `--embedder`, and what `stats` says of vectors."""

import pytest

from evomem.embed import base

NOTES = ["The ledger runs on Postgres.", "Tokens live for an hour.", "Tea at four."]


class Length:
    name = "length/1"

    def embed(self, texts, *, query):
        return [[1.0, float(len(text))] for text in texts]


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Make `length` and `broken` names that the command line knows."""
    create = base.create_embedder

    class Broken(Length):
        name = "broken/1"

        def embed(self, texts, *, query):
            message = "no model here"
            raise RuntimeError(message)

    own = {"length": Length(), "broken": Broken()}
    monkeypatch.setattr(base, "create_embedder", lambda given: own.get(given) or create(given))


def test_reindex_adds_what_is_missing_and_stats_counts_it(run, run_json, note):
    for text in NOTES:
        note(text)
    assert "no vector" not in run("stats").stdout
    counted = run_json("stats", "--embedder", "length")
    assert (counted["missing_vectors"], counted["embedder"]) == (3, "length/1")
    assert "no vector  3" in run("--embedder", "length", "stats").stdout
    result = run("reindex", "--embedder", "length")
    assert "Embedded 3 with length/1" in result.stdout
    assert result.stderr == "3 of 3\n"
    done = run_json("reindex", "--embedder", "length")
    assert done == {
        "reanalysed": 0,
        "embedder": "length/1",
        "embedded": 0,
        "missing": 0,
        "failure": None,
    }
    assert run_json("stats", "--embedder=length")["missing_vectors"] == 0


def test_the_variable_names_the_embedder_of_every_command(run_json, note, monkeypatch):
    monkeypatch.setenv("EVOMEM_EMBEDDER", "length")
    note(NOTES[0])
    assert run_json("stats")["missing_vectors"] == 0
    assert run_json("recall", "x" * len(NOTES[0]), "--ranking", "vector")["hits"]
    assert run_json("stats", "--embedder", "none")["embedder"] is None


def test_namespaces_below_are_embedded_too_unless_left_out(run, run_json):
    for namespace in ("a", "a/b"):
        run("--namespace", namespace, "remember", f"note of {namespace}")
    options = ("--namespace", "a", "--embedder", "length")
    assert run_json("reindex", *options, "--no-children")["embedded"] == 1
    assert run_json("reindex", *options)["embedded"] == 1


def test_what_stays_without_a_vector_is_told_with_the_reason(run, run_json, note):
    note(NOTES[0])
    result = run("reindex", "--embedder", "broken", exit_code=1)
    assert "Still without a vector: 1" in result.stdout
    assert "no model here" in result.stdout
    found = run_json("reindex", "--embedder", "broken", exit_code=1)
    assert (found["embedded"], found["missing"]) == (0, 1)


def test_without_an_embedder_it_says_what_to_name(run, note):
    note(NOTES[0])
    assert "--embedder minilm" in run("reindex").stdout


def test_a_missing_store_is_not_made(run, db):
    run("reindex", "--embedder", "length", exit_code=1)
    assert not db.exists()


def test_an_unknown_embedder_is_refused(run, note):
    note(NOTES[0])
    assert "no embedder" in run("reindex", "--embedder", "word2vec", exit_code=1).stderr


def test_a_note_stored_without_its_vector_says_what_to_do(run_json):
    (warning,) = run_json("remember", NOTES[0], "--embedder", "broken")["warnings"]
    assert "evomem reindex" in warning
