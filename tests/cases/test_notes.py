"""Twenty-two notes of real people in six languages, replayed in the order they were written."""

import pytest

import evomem
from evomem import Status

FIELDS = ("trigger", "change", "alternatives_tried", "consequences")


@pytest.fixture
def replay(open_memory, location, clock, notes):
    """Remember all notes as their authors did; give back the handle and the results by label."""

    def write(each=lambda _memory, _results, _note: None, **options):
        memory = open_memory(location, clock=clock, namespace="default", **options)
        results: dict[str, evomem.RememberResult] = {}
        for note in notes:
            old = note["supersedes"]
            results[note["id"]] = memory.remember(
                note["text"],
                tags=note["tags"],
                session=note["session"],
                created_at=note["created_at"],
                supersedes=results[old].node.id if old else None,
            )
            each(memory, results, note)
        return memory, results

    return write


def answers_right(memory, results, query):
    """The first hit is what is in force, and nothing replaced is shown as active."""
    result = memory.recall(query["query"], include_history=True)
    labels = {answer.node.id: label for label, answer in results.items()}
    shown = [node for hit in result.hits for node in (hit.node, *hit.supersedes, *hit.history)]
    active = {labels[node.id] for node in shown if node.status is Status.ACTIVE}
    assert not active & {*query["never_active"]}
    for label in query["never_active"]:
        assert f"status: active | {results[label].node.id}" not in result.to_text()
    return labels[result.hits[0].node.id]


@pytest.mark.promise("recall.head", "read.own-write")
@pytest.mark.parametrize("linking", ["off", "suggest"])
def test_every_question_is_answered_with_the_decision_in_force(replay, notes, linking):
    """O01 to O22: asked right after the note was written."""
    answers, wanted = {}, {}

    def ask(memory, results, note):
        for query in note["queries"]:
            answers[query["query"]] = answers_right(memory, results, query)
            wanted[query["query"]] = query["want_top"]

    replay(ask, linking=linking)
    assert answers == wanted
    assert len(wanted) == sum(len(note["queries"]) for note in notes)


@pytest.mark.promise("recall.head")
def test_every_question_is_answered_so_at_the_end_too(replay, notes):
    """O01 to O22: asked when all notes are there; a repetition of the answer is as good."""
    memory, results = replay()
    for note in notes:
        for query in note["queries"]:
            wanted = {query["want_top"]}
            wanted |= {n["id"] for n in notes if n["duplicate_of"] == query["want_top"]}
            assert answers_right(memory, results, query) in wanted, query["query"]


@pytest.mark.promise("link.never-guess")
@pytest.mark.parametrize("linking", ["off", "suggest"])
def test_only_what_the_author_named_is_replaced(replay, notes, linking):
    """O01 to O22: suggestions hide nothing."""
    memory, results = replay(linking=linking)
    named = {note["supersedes"]: note["id"] for note in notes if note["supersedes"]}
    for note in notes:
        node = memory.get_node(results[note["id"]].node.id)
        newer = named.get(note["id"])
        assert node.status is (Status.SUPERSEDED if newer else Status.ACTIVE)
        assert node.superseded_by == ((results[newer].node.id,) if newer else ())
        expected = (results[note["supersedes"]].node.id,) if note["supersedes"] else ()
        assert results[note["id"]].superseded == expected
    assert memory.stats().nodes == {
        "active": len(notes) - len(named),
        "refined": 0,
        "superseded": len(named),
        "forgotten": 0,
        "scheduled": 0,
    }


@pytest.mark.promise("link.never-guess")
@pytest.mark.parametrize("linking", ["suggest", "auto"])
def test_what_must_stand_is_never_replaced(open_memory, location, clock, notes, linking):
    """O01 to O22: without a word from the author, automatic linking hides nothing still valid."""
    memory = open_memory(location, clock=clock, linking=linking)
    results = {}
    for note in notes:
        result = memory.remember(note["text"], tags=note["tags"], created_at=note["created_at"])
        results[note["id"]] = result
        for label in note["must_not_supersede"]:
            assert results[label].node.id not in result.superseded
        if linking == "suggest":
            assert result.superseded == ()
    if linking == "suggest":
        assert memory.stats().nodes["superseded"] == 0


def test_only_equal_texts_are_duplicates(replay, notes):
    """O21: it repeats a part of O09 in other words around it, so it is a note of its own."""
    memory, results = replay()
    assert [label for label, result in results.items() if result.deduplicated] == []
    assert memory.get_node(results["O09"].node.id).status is Status.ACTIVE
    note = next(note for note in notes if note["id"] == "O21")
    again = memory.remember(f"\n{note['text']} ".replace(" ", "  "))
    assert again.deduplicated
    assert again.node.id == results["O21"].node.id


@pytest.mark.promise("raw.kept")
def test_every_text_comes_back_byte_for_byte(replay, notes):
    """O01 to O22: with tags, session and the time it was said."""
    memory, results = replay()
    for note in notes:
        node = memory.get_node(results[note["id"]].node.id)
        assert node.text.encode() == note["text"].encode()
        assert node.tags == (*note["tags"],)
        assert node.session == note["session"]
        assert node.created_at.isoformat() == note["created_at"].replace("Z", "+00:00")


@pytest.mark.promise("fields.verbatim")
def test_every_field_is_a_span_of_its_text(replay):
    """O01 to O22: offsets are in code points."""
    memory, results = replay()
    for result in results.values():
        stored = memory.get_node(result.node.id)
        for name in FIELDS:
            assert getattr(stored, name) == getattr(result.node, name)
            for span in getattr(stored, name):
                assert span.text
                assert stored.text[span.start : span.end] == span.text


@pytest.mark.promise("resolve.total")
def test_every_version_leads_to_one_head(replay, notes):
    """O01 to O22: whichever version is named, its history is the same story."""
    memory, results = replay()
    for note in notes:
        story = memory.history(results[note["id"]].node.id)
        assert [node.status for node in story].count(Status.ACTIVE) == 1
        assert story[0].status is Status.ACTIVE
        for node in story:
            assert memory.history(node.id) == story
