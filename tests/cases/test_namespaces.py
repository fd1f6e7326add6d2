"""Walls: nothing above or beside a handle's namespace is ever visible."""

import pytest

import evomem
from evomem import InvalidRequestError, NotFoundError

pytestmark = pytest.mark.promise("namespace.wall")


@pytest.fixture
def tenants(open_memory, location):
    """Open one store under several namespaces, as different users would."""
    root = open_memory(location, namespace="root")
    return root.within


def test_a_sibling_whose_name_begins_alike_is_not_visible(tenants, found):
    """NSP-001: Prefix match leaks sibling namespaces."""
    acme = tenants(("tenant", "acme"))
    acme.remember("mine")
    below = acme.within("team").remember("ours").node.id
    secret = tenants(("tenant", "acme-corp")).remember("secret").node.id
    deeper = tenants(("tenant", "acme-corp", "team")).remember("secret too").node.id
    for children in (False, True):
        assert not {secret, deeper} & {*found(acme, "secret", include_children=children)}
        assert not {secret, deeper} & {*found(acme, "", include_children=children)}
    assert found(acme, "ours") == []
    assert found(acme, "ours", include_children=True) == [below]
    assert found(tenants("tenant"), "secret") == []
    assert len(found(tenants("tenant"), "secret", include_children=True)) == 2


@pytest.mark.parametrize(
    "label", ["%", "_", "*", "john%", "john_do", "?", "..", ".", "/", "[a-z]", "' OR 1=1 --", "\\"]
)
def test_no_character_of_a_label_is_a_wildcard(tenants, found, label):
    """NSP-002: Wildcard characters in a namespace."""
    tenants(("users", "john_doe")).remember("own")
    tenants(("users", "john-doe")).remember("foreign")
    assert found(tenants(("users", "john_doe")), "foreign", include_children=True) == []
    for path in ((label,), ("users", label)):
        assert found(tenants(path), "foreign own", include_children=True) == []
        assert tenants(path).list(status="all", include_children=True).nodes == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b"), ("a/b",)),
        (("a", "b"), ("ab",)),
        (("A",), ("a",)),
        (("a",), ("a ",)),
        (("\u00e9",), ("e\u0301",)),
        (("1",), ("01",)),
        (("a", "a"), ("a",)),
    ],
    ids=ascii,
)
def test_different_paths_are_different_namespaces(tenants, found, one, other):
    """NSP-002: paths are compared label by label."""
    tenants(one).remember("own")
    foreign = tenants(other).remember("foreign").node.id
    assert foreign not in found(tenants(one), "foreign")
    assert len(tenants(one).list()) == 1


def test_labels_of_any_letters_have_their_children(tenants, found):
    """NSP-001: children are found, whatever they are called."""
    parent = tenants("parent")
    labels = ["a", "~", "\u00ff", "\u4e2d", "\U0001f680", "\ue000", "\uffff", "\U0010ffff"]
    ids = {parent.within(label).remember(f"child {label}").node.id for label in labels}
    assert {*found(parent, "child", k=100, include_children=True)} == ids


def test_what_another_namespace_holds_changes_no_score(tenants):
    """NSP-001: counts are per namespace."""
    own = tenants("own")
    own.remember("ledger on sqlite")
    own.remember("plants on fridays")
    before = [hit.score for hit in own.recall("ledger fridays").hits]
    tenants("other").remember_many([f"ledger number {i}" for i in range(50)])
    assert [hit.score for hit in own.recall("ledger fridays").hits] == before


def test_no_method_reaches_over_the_wall(tenants, refused):
    """NSP-001: by id, prefix, link, edge or cursor; and the answer is that of an unknown id."""
    own = tenants("own")
    mine = own.remember("mine").node.id
    foreign = tenants("other").remember("foreign").node.id
    calls = [
        lambda node_id: own.get_node(node_id),
        lambda node_id: own.history(node_id),
        lambda node_id: own.get_node(node_id[:8]),
        lambda node_id: own.forget(node_id),
        lambda node_id: own.forget(node_id, purge=True),
        lambda node_id: own.link(mine, supersedes=node_id),
        lambda node_id: own.link(node_id, supersedes=mine),
        lambda node_id: own.unlink(mine, node_id),
        lambda node_id: own.remember("n", supersedes=node_id),
        lambda node_id: own.remember("n", refines=node_id),
        lambda node_id: own.remember("n", overrides=node_id, scope="eu"),
        lambda node_id: own.remember("n", amends={"id": node_id, "part": "foreign"}),
        lambda node_id: own.remember("n", relations={"caused_by": node_id}),
    ]
    for call in calls:
        messages = []
        for node_id in (foreign, "nzzzzzzzzzzz"):
            with refused(own, NotFoundError, node_id[:8]) as caught:
                call(node_id)
            messages.append(caught.value.message.replace(node_id, "?").replace(node_id[:8], "?"))
        assert messages[0] == messages[1]
    with refused(own, InvalidRequestError, "cursor"):
        own.list(cursor=foreign)
    assert tenants("other").get_node(foreign).text == "foreign"


def test_keys_slots_and_counts_are_per_namespace(tenants):
    """NSP-001: nothing of a neighbour shows in a write either."""
    one, other = tenants("one"), tenants("other")
    one.remember("postgres", slot="db", idempotency_key="k")
    result = other.remember("sqlite", slot="db", idempotency_key="k")
    assert not result.replayed
    assert result.superseded == ()
    assert one.stats().nodes["active"] == other.stats().nodes["active"] == 1
    assert one.stats().patches == 1


def test_a_filter_holds_and_an_unknown_one_is_refused(memory, refused, found):
    """NSP-003: Unknown filter is silently ignored."""
    first = memory.remember("for a", metadata={"tenant_id": "a"}).node.id
    memory.remember("for b", metadata={"tenant_id": "b"})
    assert found(memory, "for", filter={"tenant_id": "a"}) == [first]
    assert found(memory, "for", filter={"tenant": "a"}) == []
    for wrong in ("filters", "tenant_id", "where"):
        with refused(memory, InvalidRequestError, f"Unknown argument '{wrong}'"):
            memory.recall("for", **{wrong: {"tenant_id": "a"}})
        with refused(memory, InvalidRequestError, f"Unknown argument '{wrong}'"):
            memory.list(**{wrong: {"tenant_id": "a"}})
    with refused(memory, InvalidRequestError, "did you mean 'filter'"):
        memory.recall("for", filters={"tenant_id": "a"})


@pytest.mark.parametrize(
    "asked", [{"$in": ["a"]}, {"$eq": "a", "x": 1}, [{"$like": "a"}], {"x": {"$not": 1}}], ids=str
)
def test_an_unknown_operator_is_refused(memory, refused, asked):
    """NSP-003: Unknown filter is silently ignored: the same inside a filter."""
    memory.remember("for a", metadata={"tenant_id": "a"})
    for call in (memory.list, lambda **given: memory.recall("for", **given)):
        with refused(memory, InvalidRequestError, "none of \\$eq, \\$ne, \\$gt, ") as caught:
            call(filter={"tenant_id": asked})
        assert caught.value.details["field"] == "filter"


@pytest.mark.parametrize(
    "metadata",
    [
        {"user_id": "u", "agent_id": "a", "run_id": "r"},
        {"number": 1, "half": 1.5, "yes": True, "nothing": None},
        {"": "empty", 'q"uote': "v", "dot.ted": "v", "$": "v", "\u00e9": "\u00e9"},
        {"list": ["x", 1], "object": {"b": 1, "a": [2]}},
        {"list": ["\u00e9"], "object": {"b": "\u00e9"}},
    ],
    ids=ascii,
)
def test_filters_may_be_combined(memory, found, metadata):
    """NSP-104: Two filters together return nothing."""
    first = memory.remember("both", metadata=metadata).node.id
    memory.remember("both but other", metadata={"user_id": "other", "number": 2, "nothing": 0})
    items = list(metadata.items())
    for i, one in enumerate(items):
        for other in items[i:]:
            assert found(memory, "both", filter=dict([one, other])) == [first]
            assert [n.id for n in memory.list(filter=dict([one, other]))] == [first]


@pytest.mark.parametrize("wrong", ["1", True, 1.5, None, [1]])
def test_a_filter_compares_values_and_not_their_spelling(memory, found, wrong):
    """NSP-104: "1", true and 1 are three values."""
    memory.remember("note", metadata={"number": 1})
    assert found(memory, "note", filter={"number": wrong}) == []


def test_filters_by_tag_session_and_metadata_work_together(memory, found):
    """NSP-104: the same for the filters of other kinds."""
    options = {"tags": ["x", "y"], "session": "s", "metadata": {"a": 1}}
    first = memory.remember("both", **options).node.id
    memory.remember("both again", tags=["x"], session="s", metadata={"a": 1})
    asked = {"tags": ["y", "x"], "session": "s", "filter": {"a": 1}}
    assert found(memory, "both", **asked) == [first]
    assert found(memory, "both", **{**asked, "session": "t"}) == []
    assert found(memory, "both", **{**asked, "tags": ["x", "z"]}) == []


@pytest.mark.parametrize(
    "label", ["", " ", "\t", "a\nb", "a\x1fb", "\0", "\ud83d", "x" * 201, None, 5, b"a", ["a"]]
)
def test_a_label_that_cannot_be_meant_is_refused(memory, refused, label):
    """NSP-002: control characters, empty, too long, of another type."""
    with refused(memory, InvalidRequestError, "no namespace label"):
        memory.within(["good", label])


@pytest.mark.parametrize("path", [[], (), ["x"] * 17, ["x"] * 16])
def test_a_path_has_one_to_sixteen_labels_in_all(memory, refused, path):
    """NSP-002: the labels of the handle count."""
    with refused(memory, InvalidRequestError, "1 to 16 labels"):
        memory.within(path)


@pytest.mark.parametrize("path", [None, 5], ids=str)
def test_a_namespace_that_is_no_path_is_refused(open_memory, refused, path):
    """NSP-002: a wrong type has an error of our own."""
    memory = open_memory(":memory:")
    with pytest.raises(InvalidRequestError, match="namespace"):
        evomem.open(":memory:", namespace=path)
    with refused(memory, InvalidRequestError, "namespace"):
        memory.within(path)
