"""Operations are read once, whether they come as instances or as mappings."""

from collections import UserDict
from dataclasses import MISSING, FrozenInstanceError, fields
from datetime import UTC, datetime
from typing import Any

import pytest

from evomem import InvalidRequestError, Op, TooLargeError
from evomem.domain.identifiers import EVENT, NODE, PATCH, new_id
from evomem.domain.operation import Add, Remove, Supersede, Update, parse_operations
from evomem.domain.text import MAX_TEXT_BYTES

KINDS = (Add, Update, Supersede, Remove)
LEAST: dict[Op, dict[str, Any]] = {
    Op.ADD: {"subject": "ledger", "content": "We use Postgres."},
    Op.UPDATE: {"memory_id": "m1", "expected_version": 1, "new_content": "We use PostgreSQL."},
    Op.SUPERSEDE: {"memory_id": "m1", "expected_version": 1, "new_content": "We use SQLite."},
    Op.REMOVE: {"memory_id": "m1", "expected_version": 1},
}
REQUIRED = [(op, name) for op, given in LEAST.items() for name in given]
MARCH, APRIL = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)


def parse(*given, limit=100):
    return parse_operations(list(given), limit)


def parse_one(given):
    (operation,), warnings = parse(given)
    assert warnings == ()
    return operation


def least(op, **more):
    return {"op": op, **LEAST[op], **more}


def refusal_of(*given):
    with pytest.raises(InvalidRequestError) as refusal:
        parse(*given)
    return refusal.value


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_has_no_default_is_needed(kind):
    needed = {f.name for f in fields(kind) if f.default is f.default_factory is MISSING}
    assert needed == set(LEAST[kind.op])
    assert parse_one(least(kind.op)) == kind(**LEAST[kind.op])


@pytest.mark.parametrize("kind", KINDS)
def test_an_instance_is_read_like_a_mapping(kind):
    operation = kind(**LEAST[kind.op])
    assert parse_one(operation) == parse_one(least(kind.op)) == operation
    assert operation.op is kind.op
    with pytest.raises(FrozenInstanceError):
        setattr(operation, fields(kind)[0].name, "m2")


@pytest.mark.parametrize("op", ["add", "Add", " ADD ", Op.ADD])
def test_the_kind_is_read_without_letter_case(op):
    assert parse_one({"op": op, **LEAST[Op.ADD]}) == Add("ledger", "We use Postgres.")


def test_any_mapping_and_any_sequence_will_do():
    assert parse_operations((UserDict(least(Op.ADD)),), 1).operations == (Add(**LEAST[Op.ADD]),)


def test_operations_keep_their_order():
    given = [least(op) for op in (Op.REMOVE, Op.ADD, Op.SUPERSEDE, Op.UPDATE)]
    assert [o.op for o in parse(*given).operations] == [g["op"] for g in given]


def test_all_of_an_add_is_read():
    given: dict[str, Any] = {
        "subject": " ledger ",
        "content": " as received \n",
        "scope": "EU / De",
        "slot": " ledger/database ",
        "tags": [" a ", "b", "a", ""],
        "session": " s ",
        "metadata": {"n": [1, {"x": None}]},
        "valid_from": "2026-03-01",
        "valid_to": APRIL.timestamp(),
    }
    read = Add(
        subject="ledger",
        content=" as received \n",
        scope="eu/de",
        slot="ledger/database",
        tags=("a", "b"),
        session="s",
        metadata={"n": [1, {"x": None}]},
        valid_from=MARCH,
        valid_to=APRIL,
    )
    assert parse_one({"op": "ADD", **given}) == parse_one(Add(**given)) == read
    assert set(given) == {f.name for f in fields(Add)}


def test_all_of_an_update_is_read():
    given: dict[str, Any] = {
        "memory_id": " m1 ",
        "expected_version": 2**53,
        "new_content": " as received ",
        "tags": "a",
        "subject": " ledger ",
        "metadata": {"n": 1},
        "valid_from": datetime(2026, 3, 1),  # noqa: DTZ001  a naive time is UTC
        "valid_to": "2026-04-01T02:00:00+02:00",
    }
    read = Update("m1", 2**53, " as received ", ("a",), "ledger", {"n": 1}, MARCH, APRIL)
    assert parse_one({"op": "UPDATE", **given}) == parse_one(Update(**given)) == read
    assert set(given) == {f.name for f in fields(Update)}


def test_all_of_a_supersede_is_read():
    given: dict[str, Any] = {
        "memory_id": "m1",
        "expected_version": 3,
        "new_content": "new",
        "part": " the old words ",
        "scope": "EU",
        "subject": "ledger",
        "tags": ("a",),
        "metadata": {"n": 1},
        "valid_from": MARCH,
        "valid_to": APRIL,
    }
    read = Supersede(
        "m1", 3, "new", " the old words ", "eu", "ledger", ("a",), {"n": 1}, MARCH, APRIL
    )
    assert parse_one({"op": "SUPERSEDE", **given}) == parse_one(Supersede(**given)) == read
    assert set(given) == {f.name for f in fields(Supersede)}


@pytest.mark.parametrize("op", [Op.UPDATE, Op.SUPERSEDE])
def test_nothing_given_and_nothing_wanted_are_told_apart(op):
    kept = parse_one(least(op, tags=None, metadata=None))
    assert (kept.tags, kept.metadata) == (None, None)
    emptied = parse_one(least(op, tags=[], metadata={}))
    assert (emptied.tags, emptied.metadata) == ((), {})


def test_a_blank_name_counts_as_not_given():
    read = parse_one(least(Op.ADD, scope=" / ", slot=" ", session=""))
    assert (read.scope, read.slot, read.session) == (None, None, None)
    assert parse_one(least(Op.UPDATE, subject=" ")).subject is None


@pytest.mark.parametrize(
    "given", [Remove("m1", 1), {"op": "REMOVE"}, {}, UserDict(op="ADD")], ids=repr
)
def test_a_single_operation_is_no_list(given):
    with pytest.raises(InvalidRequestError, match=r"pass a list, apply\(\[operation\]\)"):
        parse_operations(given, 10)


@pytest.mark.parametrize(
    "given",
    [None, 7, "ADD", b"ADD", {Op.ADD}, iter([]), Remove, "x" * 5000],
    ids=lambda value: repr(value).split(" at ")[0],
)
def test_what_is_no_list_is_refused(given):
    with pytest.raises(InvalidRequestError, match="Pass a list of Add, Update") as refusal:
        parse_operations(given, 10)
    assert refusal.value.details == {"field": "operations"}
    assert len(refusal.value.message) < 300


@pytest.mark.parametrize("given", [[], ()], ids=repr)
def test_no_operation_is_refused(given):
    with pytest.raises(InvalidRequestError, match="at least one"):
        parse_operations(given, 10)


def test_more_operations_than_allowed_are_refused_before_any_is_read():
    operations = [least(Op.ADD)] * 3
    assert len(parse(*operations, limit=3).operations) == 3
    with pytest.raises(TooLargeError, match="several calls") as refusal:
        parse(*operations, {"op": "nonsense"}, limit=3)
    assert refusal.value.details == {"field": "operations", "count": 4, "limit": 3}


@pytest.mark.parametrize(
    "item",
    [None, 7, "ADD", ["ADD"], Op.ADD, Add, object()],
    ids=lambda value: repr(value).split(" at ")[0],
)
def test_what_is_no_operation_is_refused_with_its_place(item):
    error = refusal_of(least(Op.REMOVE), item)
    assert error.message.startswith("Operation 1: ")
    assert "or a mapping with an" in error.message
    assert error.details["item"] == 1


@pytest.mark.parametrize(
    "op", [None, "", "DELETE", "RESTORE", Op.LINK, "UNLINK", 7, True, ["ADD"], ("ADD",)], ids=repr
)
def test_an_operation_says_what_to_do(op):
    error = refusal_of({"op": op, **LEAST[Op.ADD]})
    assert "one of ADD, UPDATE, SUPERSEDE, REMOVE" in error.message
    assert error.details == {"field": "op", "item": 0}


def test_the_kind_of_an_operation_is_needed():
    assert refusal_of(LEAST[Op.ADD]).details == {"field": "op", "item": 0}


@pytest.mark.parametrize(("op", "name"), REQUIRED)
def test_what_is_missing_is_named_with_its_place(op, name):
    absent = least(op)
    del absent[name]
    for given in (absent, least(op, **{name: None})):
        error = refusal_of(least(Op.ADD), given)
        assert error.message == f"Operation 1: {op} needs {name}, which is missing."
        assert error.details == {"field": name, "item": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_an_instance_lacks_what_a_mapping_would(kind):
    name = fields(kind)[0].name
    error = refusal_of(kind(**{**LEAST[kind.op], name: None}))
    assert error.details == {"field": name, "item": 0}


@pytest.mark.parametrize(
    ("op", "name", "meant"),
    [
        (Op.ADD, "new_content", "content"),
        (Op.ADD, "Subject", "subject"),
        (Op.ADD, "tag", "tags"),
        (Op.UPDATE, "content", "new_content"),
        (Op.UPDATE, "expectedVersion", "expected_version"),
        (Op.SUPERSEDE, "memoryId", "memory_id"),
        (Op.SUPERSEDE, "parts", "part"),
        (Op.REMOVE, "expect_version", "expected_version"),
    ],
)
def test_an_argument_close_to_a_real_one_is_refused_with_its_name(op, name, meant):
    error = refusal_of(least(Op.ADD), least(op, **{name: "x"}))
    assert f"did you mean {meant!r}" in error.message
    assert error.details == {"argument": name, "did_you_mean": meant, "item": 1}


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (Op.ADD, "zzz"),
        (Op.ADD, "memory_id"),
        (Op.UPDATE, "scope"),
        (Op.UPDATE, "part"),
        (Op.SUPERSEDE, "slot"),
        (Op.REMOVE, "new_content"),
        (Op.REMOVE, "reason"),
    ],
)
def test_an_argument_of_another_operation_is_refused(op, name):
    error = refusal_of(least(op, **{name: "x"}))
    assert "Known: op, " in error.message
    assert error.details == {"argument": name, "item": 0}


def test_names_of_arguments_are_texts():
    assert "names are texts" in refusal_of({**least(Op.ADD), 7: 1}).message


@pytest.mark.parametrize("version", [0, -1, True, False, 1.0, "1", 2**53 + 1, [1], float("nan")])
@pytest.mark.parametrize("kind", [Update, Supersede, Remove])
def test_a_version_is_a_whole_number_from_one(kind, version):
    for given in (
        least(kind.op, expected_version=version),
        kind(**{**LEAST[kind.op], "expected_version": version}),
    ):
        error = refusal_of(given)
        assert "a whole number from 1" in error.message
        assert error.details == {"field": "expected_version", "item": 0}


@pytest.mark.parametrize(
    ("kind", "named"), [(NODE, "a node"), (PATCH, "a patch"), (EVENT, "an event")]
)
@pytest.mark.parametrize("op", [Op.UPDATE, Op.SUPERSEDE, Op.REMOVE])
def test_an_id_of_something_else_is_explained(op, kind, named):
    error = refusal_of(least(op, memory_id=new_id(kind)))
    assert f"is the id of {named}: pass node.memory_id" in error.message
    assert error.details == {"field": "memory_id", "item": 0}


@pytest.mark.parametrize("memory_id", ["m1hrgc618dbh", "legacy-7", "node", "N" + "a" * 11])
def test_other_ids_are_left_to_the_store(memory_id):
    assert parse_one(least(Op.REMOVE, memory_id=f" {memory_id} ")).memory_id == memory_id


@pytest.mark.parametrize("memory_id", ["", " ", 7, ["m1"], "m\0", "m\ud800", "m" * 201], ids=repr)
@pytest.mark.parametrize("op", [Op.UPDATE, Op.SUPERSEDE, Op.REMOVE])
def test_what_is_no_id_is_refused(op, memory_id):
    assert refusal_of(least(op, memory_id=memory_id)).details["field"] == "memory_id"


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (Op.ADD, "content"),
        (Op.UPDATE, "new_content"),
        (Op.SUPERSEDE, "new_content"),
        (Op.SUPERSEDE, "part"),
    ],
)
@pytest.mark.parametrize("text", ["", " \n\t", 7, b"bytes", ["x"], True], ids=repr)
def test_what_is_no_statement_is_refused(op, name, text):
    error = refusal_of(least(op, **{name: text}))
    assert error.message.startswith(f"Operation 0: {name} is ")
    assert error.details == {"field": name, "item": 0}


@pytest.mark.parametrize(
    ("op", "name"), [(Op.ADD, "content"), (Op.UPDATE, "new_content"), (Op.SUPERSEDE, "part")]
)
def test_a_text_may_have_a_mebibyte(op, name):
    assert parse_one(least(op, **{name: "x" * MAX_TEXT_BYTES}))
    error = refusal_of(least(op, **{name: "x" * (MAX_TEXT_BYTES + 1)}))
    assert isinstance(error, TooLargeError)
    assert (error.details["field"], error.details["item"]) == (name, 0)
    assert error.details["size_bytes"] == MAX_TEXT_BYTES + 1


@pytest.mark.parametrize("op", [Op.ADD, Op.UPDATE, Op.SUPERSEDE])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("subject", 7),
        ("subject", "x" * 1001),
        ("tags", 7),
        ("tags", [7]),
        ("tags", [None]),
        ("tags", {"a": 1}),
        ("tags", [str(n) for n in range(1001)]),
        ("metadata", 7),
        ("metadata", [1]),
        ("metadata", {1: 2}),
        ("metadata", {"x": {1, 2}}),
        ("metadata", {"x": float("nan")}),
        ("metadata", {"x": MARCH}),
        ("metadata", {"x": "y" * (1 << 18)}),
        ("valid_from", "soon"),
        ("valid_from", True),
        ("valid_to", {}),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_cannot_be_meant_is_refused(op, name, value):
    for given in (
        least(op, **{name: value}),
        {k.op: k for k in KINDS}[op](**{**LEAST[op], name: value}),
    ):
        error = refusal_of(least(Op.REMOVE), given)
        assert error.message.startswith(f"Operation 1: {name}")
        assert (error.details["field"], error.details["item"]) == (name, 1)


@pytest.mark.parametrize(
    ("op", "name", "value"),
    [
        (Op.ADD, "scope", 7),
        (Op.ADD, "scope", "x" * 201),
        (Op.ADD, "slot", 7),
        (Op.ADD, "session", ["s"]),
        (Op.ADD, "subject", " "),
        (Op.SUPERSEDE, "scope", 7),
        (Op.SUPERSEDE, "scope", "x" * 201),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_cannot_be_meant_by_one_kind_is_refused(op, name, value):
    assert refusal_of(least(op, **{name: value})).details["field"] == name


@pytest.mark.parametrize("op", [Op.ADD, Op.UPDATE, Op.SUPERSEDE])
@pytest.mark.parametrize("end", ["2026-03-01", "2026-02-28T23:59:59Z"])
def test_nothing_ends_before_it_begins(op, end):
    error = refusal_of(least(op, valid_from=MARCH, valid_to=end))
    assert "is not after valid_from" in error.message
    assert error.details == {"field": "valid_to", "item": 0}


@pytest.mark.promise("raw.kept")
def test_what_no_store_can_hold_is_replaced_and_said_by_field_and_place():
    add = Add("\udfff!", "a\0b\ud83dc", tags=["t\0"], metadata={"k": ["\ud800"]})
    supersede = least(Op.SUPERSEDE, new_content="\0", part="p\0")
    (first, _, last), warnings = parse(add, least(Op.REMOVE), supersede)
    assert first == Add("\ufffd!", "a\ufffdb\ufffdc", tags=("t\ufffd",), metadata={"k": ["\ufffd"]})
    assert (last.new_content, last.part) == ("\ufffd", "p\ufffd")
    repaired = "unstorable character(s) became U+FFFD."
    assert warnings == (
        f"Operation 0: subject: {repaired}",
        f"Operation 0: content: {repaired}",
        f"Operation 0: tags: {repaired}",
        f"Operation 0: metadata: {repaired}",
        f"Operation 2: new_content: {repaired}",
        f"Operation 2: part: {repaired}",
    )


def test_what_was_given_is_left_as_it_was():
    given = least(Op.ADD, tags=[" a "], metadata={"x": "\0"})
    before = {**given, "tags": [*given["tags"]], "metadata": {**given["metadata"]}}
    parse(given)
    assert given == before
