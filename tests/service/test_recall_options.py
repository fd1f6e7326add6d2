"""What a recall can be asked for, beside the question."""

import time
from datetime import UTC, datetime, timedelta

import pytest

import evomem
from evomem.domain.budget import estimate_tokens


@pytest.fixture
def memory(tmp_path):
    with evomem.open(tmp_path / "evomem.db", linking="off") as opened:
        yield opened


def ids(result):
    return [hit.node.id for hit in result.hits]


def texts(result):
    return [hit.node.text for hit in result.hits]


def fill(memory, count, **options):
    return [
        r.node.id
        for r in memory.remember_many(
            [{"text": f"The ledger entry {n} is closed.", **options} for n in range(count)]
        )
    ]


@pytest.mark.parametrize(
    ("conditions", "right"),
    [
        ({"tags": ["red"]}, "ac"),
        ({"tags": ["red", "blue"]}, "c"),
        ({"tags_any": ["red", "blue"]}, "abc"),
        ({"tags_none": ["red"]}, "bd"),
        ({"tags_any": ["red", "blue"], "tags_none": ["blue"]}, "a"),
        ({"session": "s1"}, "ab"),
        ({"filter": {"level": 1}}, "ad"),
        ({"filter": {"level": 1.0}}, "ad"),
        ({"filter": {"level": True}}, "b"),
        ({"filter": {"missing": 1}}, ""),
        ({"relation": "caused_by"}, "d"),
        ({"relation": "supersedes"}, ""),
        ({"tags": ["red"], "session": "s1", "filter": {"level": 1}}, "a"),
    ],
    ids=str,
)
def test_conditions_choose_among_recalled_and_listed_nodes(memory, conditions, right):
    marks = {
        "a": {"tags": ["red"], "session": "s1", "metadata": {"level": 1}},
        "b": {"tags": ["blue"], "session": "s1", "metadata": {"level": True}},
        "c": {"tags": ["red", "blue"], "metadata": {"level": "1"}},
    }
    nodes = {n: memory.remember(f"The ledger of {n} grew.", **m).node.id for n, m in marks.items()}
    caused = memory.remember(
        "The ledger of d grew.", relations={"caused_by": [nodes["a"]]}, metadata={"level": 1.0}
    )
    names = {**{i: n for n, i in nodes.items()}, caused.node.id: "d"}
    for question in ("ledger grew", ""):
        found = {names[i] for i in ids(memory.recall(question, k=10, **conditions))}
        assert found == set(right)
    assert {names[node.id] for node in memory.list(**conditions)} == set(right)


def test_an_excluded_tag_of_the_head_excludes_it_too(memory):
    old = memory.remember("We use Postgres.", tags=["old"]).node.id
    memory.remember("We use SQLite.", supersedes=old, tags=["secret"])
    others = fill(memory, 3)
    assert ids(memory.recall("Postgres", tags_none=["secret"])) == []
    assert len(memory.recall("Postgres ledger", tags_none=["secret"]).hits) == len(others)


def test_the_last_word_of_a_long_query_counts_if_it_is_known(memory):
    zebra = memory.remember("A zebra crossing.").node.id
    strange = " ".join(f"w{n}q" for n in range(200))
    assert ids(memory.recall(f"{strange} zebra")) == [zebra]
    cut = memory.recall(" ".join(f"word{n}" for n in range(600)) + " zebra")
    assert not cut.exact
    assert "terms: the first 512" in cut.warnings[0]


def test_a_filter_has_so_many_keys_at_most(memory):
    with pytest.raises(evomem.TooLargeError, match="101 keys"):
        memory.recall("x", filter={f"k{n}": n for n in range(101)})
    assert memory.recall("x", filter={f"k{n}": n for n in range(100)}).hits == ()


def test_what_passes_is_found_however_rare(memory):
    fill(memory, 600)
    marked = {"tags": ["rare"], "session": "s", "metadata": {"x": 1}}
    rare = memory.remember("The rare ledger entry is closed.", **marked).node.id
    fill(memory, 1200)
    for conditions in (
        {"tags": ["rare"]},
        {"tags_any": ["rare", "none"]},
        {"session": "s"},
        {"filter": {"x": 1}},
    ):
        result = memory.recall("ledger entry closed", **conditions)
        assert ids(result) == [rare]
        assert result.exact


def test_a_relation_is_found_however_rare(memory):
    first, *_ = fill(memory, 800)
    late = memory.remember("The ledger was audited.", relations={"caused_by": [first]}).node.id
    fill(memory, 1600)
    assert ids(memory.recall("ledger", relation="caused_by")) == [late]


def test_times_of_recording_are_from_and_before(memory):
    clock = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=n) for n in range(3)]
    object.__setattr__(memory._context, "clock", lambda: clock[0])
    told = []
    for n in range(3):
        told.append(memory.remember(f"Ledger day {n}.").node.id)
        clock[0] += timedelta(days=1)
    first, second, third = told
    assert ids(memory.recall("ledger", since="2026-01-02"))[::-1] == [second, third]
    assert ids(memory.recall("ledger", until="2026-01-02")) == [first]
    assert ids(memory.recall("ledger", since="2026-01-02", until="2026-01-03")) == [second]
    assert [node.id for node in memory.list(until="2026-01-02")] == [first]
    with pytest.raises(evomem.InvalidRequestError, match="is not after"):
        memory.recall("ledger", since="2026-01-02", until="2026-01-02")


def test_a_status_chooses_among_the_answers(memory):
    active = memory.remember("The ledger is in SQLite.").node.id
    later = memory.remember("The ledger is in DuckDB.", valid_from="2999-01-01").node.id
    assert ids(memory.recall("ledger", status="active")) == [active]
    assert ids(memory.recall("ledger", status="scheduled")) == [later]
    assert set(ids(memory.recall("ledger"))) == {active, later}
    memory.forget(active)
    assert ids(memory.recall("ledger", status="forgotten")) == [active]
    with pytest.raises(evomem.InvalidRequestError, match="none of active"):
        memory.recall("ledger", status="superseded")


def test_a_deadline_gives_the_best_so_far(memory):
    fill(memory, 3000)
    started = time.monotonic()
    result = memory.recall("the ledger entry is closed", deadline_ms=1)
    assert result.partial
    assert not result.exact
    assert result.hits
    assert any("1 ms" in warning for warning in result.warnings)
    assert time.monotonic() - started < 5
    whole = memory.recall("the ledger entry is closed", deadline_ms=600_000)
    assert not whole.partial


@pytest.mark.parametrize("name", ["deadline_ms", "max_tokens"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "10", 10**9], ids=repr)
def test_a_limit_that_cannot_be_meant_is_refused(memory, name, value):
    with pytest.raises(evomem.InvalidRequestError, match=name):
        memory.recall("x", **{name: value})


def chain(memory, text, length):
    node = memory.remember(f"{text} 0").node.id
    for n in range(1, length):
        node = memory.remember(f"{text} {n}", supersedes=node).node.id
    return node


def test_a_token_budget_drops_history_before_answers(memory):
    heads = [chain(memory, f"The {name} of the ledger moved to place", 4) for name in "abc"]
    whole = memory.recall("ledger", include_history=True)
    assert {len(hit.history) for hit in whole.hits} == {3}
    size = estimate_tokens(whole.to_text())
    seen = []
    for most in range(size, 0, -5):
        result = memory.recall("ledger", include_history=True, max_tokens=most)
        told, shown = sum(len(hit.history) for hit in result.hits), len(result.hits)
        assert shown == 3 or told == 0
        assert ids(result) == ids(whole)[:shown]
        if shown > 1:
            assert (
                estimate_tokens(result.to_text())
                <= most + estimate_tokens("\n".join(result.warnings)) + 5
            )
        seen.append((told, shown))
    assert seen == sorted(seen, key=lambda pair: (-pair[1], -pair[0]))
    assert seen[0] == (9, 3)
    assert seen[-1] == (0, 1)
    assert set(heads) == set(ids(whole))
    assert "left out" in result.warnings[0]
    assert "alone takes more" in result.warnings[0]


def test_an_explanation_adds_up_to_the_score(memory):
    memory.remember("We moved the ledger to SQLite.", subject="ledger storage")
    memory.remember("The ledger is audited in March.")
    result = memory.recall("ledger SQLite", explain=True)
    first, second = (hit.explanation for hit in result.hits)
    for hit in result.hits:
        told = hit.explanation
        assert sum(score for _, score in told.terms) == pytest.approx(hit.score, abs=1e-5)
        assert told.lexical_score == hit.score
        assert told.vector_rank is told.similarity is None
    assert (first.lexical_rank, second.lexical_rank) == (1, 2)
    assert [term for term, _ in first.terms] == ["ledger", "sqlite"]
    assert "most by sqlite" in first.above_next
    assert second.above_next == ""
    assert "above the next" in result.to_text()
    assert memory.recall("ledger").hits[0].explanation is None


def test_what_states_the_same_is_answered_once(memory):
    with evomem.open(memory.path, namespace=(*memory.namespace, "child")) as child:
        child.remember("The ledger is in SQLite.")
    first = memory.remember("The ledger is in SQLite.").node.id
    again = memory.remember("the LEDGER is  in SQLite.").node.id
    other = memory.remember("The ledger is in SQLite.", scope="eu").node.id
    result = memory.recall("ledger SQLite", k=3)
    assert len(result.hits) == 2
    assert {hit.node.scope for hit in result.hits} == {None, "eu"}
    (hit,) = (hit for hit in result.hits if hit.node.scope is None)
    assert {hit.node.id, *hit.same} == {first, again}
    assert other in ids(result)
    # What another namespace states is its own.
    assert len(memory.recall("ledger SQLite", include_children=True).hits) == 3


def test_k_different_statements_are_found_behind_repeats(memory):
    for n in range(12):
        memory.remember("The ledger is closed" + " " * n + "." * (n > 0), scope=None, slot=f"s{n}")
    memory.remember_many([f"Ledger page {n} of the archive and of its index." for n in range(8)])
    result = memory.recall("ledger closed", k=5)
    assert len(result.hits) == 5


def test_a_query_of_a_megabyte_is_bounded_and_said_so(memory):
    memory.remember("The ledger is in SQLite.")
    result = memory.recall("ledger " * 140_000)
    assert [hit.node.text for hit in result.hits] == ["The ledger is in SQLite."]
    assert any("the first 10000 were used" in warning for warning in result.warnings)


def test_vectors_need_an_embedder(memory):
    memory.remember("The ledger is in SQLite.")
    for ranking in ("vector", "hybrid"):
        with pytest.raises(evomem.InvalidRequestError, match="embedder"):
            memory.recall("ledger", ranking=ranking)
    assert memory.recall("ledger", ranking="lexical").hits
    with pytest.raises(evomem.InvalidRequestError, match="none of auto"):
        memory.recall("ledger", ranking="best")
