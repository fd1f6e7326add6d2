"""Answers of the patch toolset stay within the bound, and say how to read on."""

import ast
import json
import re
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

CALL = re.compile(r"(memory_\w+)\((.*)\)")


def size(result):
    return len(json.dumps(result.structured_content, ensure_ascii=False)) + sum(
        len(block.text) for block in result.content
    )


def text_of(number, n_chars):
    line = f"filler{number} " * 20 + "\n"
    return f"Version {number} of the statement.\n" + line * (n_chars // len(line))


def advice(text):
    """Return the call that a cut text names: the tool and its arguments."""
    (found,) = CALL.findall(text)
    tool, given = found
    call: Any = ast.parse(f"f({given})", mode="eval").body
    named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    return tool, {"memory_id": ast.literal_eval(call.args[0])} | named


@pytest.fixture
def said(memory):
    return memory.record_event("user", "Do it.").id


@pytest.fixture
def line(memory, said):
    """A memory with many long versions, and its texts."""
    texts = [text_of(number, 5_000) for number in range(40)]
    add = {"op": "ADD", "subject": "s", "content": texts[0]}
    (step,) = memory.apply([add], evidence=[said], reason="r" * 900).operations
    for version, text in enumerate(texts[1:], start=1):
        change = {"op": "SUPERSEDE", "memory_id": step.memory_id, "expected_version": version}
        memory.apply([{**change, "new_content": text}], evidence=[said], reason="r" * 900)
    return step.memory_id, texts


@pytest.mark.parametrize("bound", [4_000, 60_000])
async def test_a_text_of_1_mib_is_cut_everywhere_but_in_memory_read(connect, refused, said, bound):
    text = text_of(1, (1 << 20) - 100)
    async with connect(toolset="patch", max_chars=bound) as client:

        async def call(tool, **given):
            result = await client.call_tool(tool, given)
            assert not result.is_error, result.content
            assert size(result) <= bound
            return result.structured_content

        event = await call("memory_record_event", role="tool", content=text)
        assert event["content"].endswith("more characters, stored whole]")
        add = {"op": "ADD", "subject": "s", "content": text}
        done = await call("memory_apply", operations=[add], evidence=[event["id"]])
        (step,) = done["operations"]
        assert f"memory_patch_read({done['patch_id']!r})" in step["diff"]
        patch = await call("memory_patch_read", patch_id=done["patch_id"])
        tool, given = advice(patch["operations"][0]["diff"])
        whole = (await client.call_tool(tool, given)).structured_content
        assert whole["node"]["text"] == text
        found = await call("memory_search", query="statement")
        tool, given = advice(found["hits"][0]["node"]["text"])
        assert (await client.call_tool(tool, given)).structured_content == whole
        history = await call("memory_history", memory_id=step["memory_id"])
        tool, given = advice(history["versions"][0]["content"])
        assert (await client.call_tool(tool, given)).structured_content == whole
        read = await call("memory_read", memory_id=step["memory_id"], include_history=True)
        tool, given = advice(read["node"]["text"])
        assert (await client.call_tool(tool, given)).structured_content == whole
        late = {"op": "REMOVE", "memory_id": step["memory_id"], "expected_version": 7}
        given = {"operations": [late], "evidence": [said]}
        result = await client.call_tool("memory_apply", given)
        error = refused(result, "VERSION_CONFLICT")
        assert size(result) <= bound
        assert error["details"]["current"]["version"] == 1
        content = error["details"]["current"]["content"]
        assert content.endswith(f"more characters, read memory {step['memory_id']}]")


@pytest.mark.parametrize("bound", [4_000, 60_000])
async def test_a_long_history_is_cut_at_its_old_end_and_can_be_paged(connect, line, bound):
    memory_id, texts = line
    async with connect(toolset="patch", max_chars=bound) as client:

        async def call(tool, **given):
            result = await client.call_tool(tool, given)
            assert not result.is_error, result.content
            assert size(result) <= bound
            content = result.structured_content
            for warning in content.get("warnings", ()):
                assert warning in result.content[0].text
            return content

        read = await call("memory_read", memory_id=memory_id, include_history=True)
        shown = len(read["history"])
        assert f"{40 - shown} earlier versions left out" in read["warnings"][0]
        tool, given = advice(read["warnings"][0])
        assert (await call(tool, **given))["versions"][-1]["version"] == 40 - shown

        seen: list[Any] = []
        given = {"memory_id": memory_id}
        while given:
            history = await call("memory_history", **given)
            seen = [*history["versions"], *seen]
            _, given = advice(*history["warnings"]) if history["warnings"] else ("", {})
        assert [version["version"] for version in seen] == list(range(1, 41))
        for version, text in zip(seen, texts, strict=True):
            tool, given = advice(version["content"])
            whole = (await client.call_tool(tool, given)).structured_content
            assert whole["node"]["text"] == text


async def test_versions_of_one_patch_lead_to_the_patch(memory, connect, said):
    add = {"op": "ADD", "subject": "s", "content": text_of(0, 900)}
    (step,) = memory.apply([add], evidence=[said]).operations
    line = {"op": "SUPERSEDE", "memory_id": step.memory_id}
    changes = [
        {**line, "expected_version": n, "new_content": text_of(n, 900)} for n in range(1, 20)
    ]
    patch_id = memory.apply(changes, evidence=[said]).patch_id
    async with connect(toolset="patch", max_chars=4_000) as client:
        result = await client.call_tool("memory_history", {"memory_id": step.memory_id})
    (warning,) = result.structured_content["warnings"]
    assert f"memory_patch_read({patch_id!r})" in warning


@pytest.mark.parametrize("bound", [4_000, 60_000])
async def test_a_patch_of_many_operations_is_cut_and_counts_what_was_left_out(
    memory, connect, said, bound
):
    adds = [{"op": "ADD", "subject": "s", "content": text_of(n, 900)} for n in range(300)]
    async with connect(toolset="patch", max_chars=bound) as client:
        given = {"operations": adds, "evidence": [said], "reason": "r" * 1_000}
        done = await client.call_tool("memory_apply", given)
        patch_id = done.structured_content["patch_id"]
        patch = await client.call_tool("memory_patch_read", {"patch_id": patch_id})
    assert len(memory.patch(patch_id).operations) == 300
    for result in (done, patch):
        assert size(result) <= bound
        shown = result.structured_content["operations"]
        (warning,) = result.structured_content["warnings"]
        assert 0 < len(shown) < 300
        assert result.structured_content["evidence"] == [said]
        assert f"{300 - len(shown)} operations" in warning
        assert warning in result.content[0].text


async def test_a_search_names_the_memories_that_were_left_out(memory, connect, said):
    adds = [{"op": "ADD", "subject": "s", "content": text_of(n, 4_000)} for n in range(100)]
    steps = memory.apply(adds, evidence=[said]).operations
    async with connect(toolset="patch") as client:
        result = await client.call_tool("memory_search", {"query": "statement", "k": 100})
    assert size(result) <= 60_000
    (warning,) = result.structured_content["warnings"]
    named = set(re.findall(r"\bm[a-z0-9]{11}\b", warning))
    assert named
    assert named <= {step.memory_id for step in steps}
    assert "memory_read(memory_id)" in warning


async def test_small_answers_are_not_touched(memory, connect, said):
    text = text_of(0, 5_000)
    add = {"op": "ADD", "subject": "s", "content": text}
    async with connect(toolset="patch") as client:
        done = await client.call_tool("memory_apply", {"operations": [add], "evidence": said})
        patch_id = done.structured_content["patch_id"]
        patch = await client.call_tool("memory_patch_read", {"patch_id": patch_id})
        memory_id = done.structured_content["operations"][0]["memory_id"]
        read = await client.call_tool("memory_read", {"memory_id": memory_id})
        history = await client.call_tool("memory_history", {"memory_id": memory_id})
    assert patch.structured_content == {"ok": True, **memory.patch(patch_id).to_dict()}
    assert read.structured_content == {"ok": True, **memory.read(memory_id).to_dict()}
    assert history.structured_content["versions"][0]["content"] == text


@pytest.mark.parametrize(
    "given",
    [
        {"role": "u" * 100_000, "content": "x"},
        {"role": "user", "content": "x", "occurred_at": "9" * 100_000},
        {"role": "user", "content": "x", "session": "s" * 100_000},
    ],
)
async def test_a_message_never_repeats_a_long_value(connect, given):
    async with connect(toolset="patch") as client:
        result = await client.call_tool("memory_record_event", given)
    assert result.is_error is True
    assert size(result) < 6_000


async def test_unknown_evidence_by_the_hundred_is_refused_shortly(connect):
    add = {"op": "ADD", "subject": "s", "content": "x"}
    evidence = [f"e{number:011d}" for number in range(100)]
    async with connect(toolset="patch", max_chars=4_000) as client:
        given = {"operations": [add], "evidence": evidence}
        result = await client.call_tool("memory_apply", given)
    assert result.structured_content["error"]["code"] == "EVIDENCE_MISSING"
    assert size(result) <= 4_000
