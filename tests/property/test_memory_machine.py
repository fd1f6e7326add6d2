"""Drives a memory beside a naive model that only knows nodes and edges."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)
from tests.engine_sqlite.sealing import faults, looking

import evomem
from evomem import InvalidRequestError, NotFoundError

ACTIVE, SUPERSEDED, FORGOTTEN = "active", "superseded", "forgotten"


class Model:
    """What the promises say, by walking edges; slow and obvious."""

    def __init__(self):
        self.texts: dict[str, str] = {}
        self.space: dict[str, str] = {}
        # In the order they were made: ids are random, and a replayed example must not be.
        self.edges: dict[tuple[str, str], None] = {}
        self.removed: set[str] = set()
        self.purged: set[str] = set()

    def connect(self, new, old):
        self.edges |= {(new, n): None for n in self.texts if n in old}

    def after(self, node):
        return {new for new, old in self.edges if old == node}

    def heads(self, node):
        seen, waiting, ends = set(), [node], set()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            later = self.after(current)
            waiting += later
            if not later:
                ends.add(current)
        return ends

    def reaches(self, old, new):
        seen, waiting = set(), [old]
        while waiting:
            current = waiting.pop()
            for later in self.after(current):
                if later == new:
                    return True
                if later not in seen:
                    seen.add(later)
                    waiting.append(later)
        return False

    def status(self, node):
        if node in self.removed:
            return FORGOTTEN
        return SUPERSEDED if self.after(node) else ACTIVE

    def active(self, space):
        return {n for n in self.texts if self.space[n] == space and self.status(n) == ACTIVE}


class MemoryMachine(RuleBasedStateMachine):
    """Two walled namespaces of one store, on a real file."""

    nodes = Bundle("nodes")

    @initialize()
    def start(self):
        self.folder = Path(tempfile.mkdtemp())
        self.model = Model()
        self.words = (f"word{n}x" for n in itertools.count())
        self.open()

    def open(self):
        self.root = evomem.open(self.folder / "m.db", namespace="root", linking="off")
        self.spaces = {name: self.root.within(name) for name in ("a", "a-b")}

    def of(self, node):
        return self.spaces[self.model.space[node]]

    def note(self, space, result, text):
        self.model.texts[result.node.id] = text
        self.model.space[result.node.id] = space
        return result.node.id

    @rule(target=nodes, space=st.sampled_from(["a", "a-b"]), extra=st.text(max_size=20))
    def remember(self, space, extra):
        text = f"{next(self.words)} {extra}"
        result = self.spaces[space].remember(text)
        assert result.node.status == ACTIVE
        assert not result.deduplicated
        return self.note(space, result, result.node.text)

    @rule(target=nodes, old=st.lists(nodes, min_size=1, max_size=3, unique=True))
    def supersede(self, old):
        space = self.model.space[old[0]]
        text = next(self.words)
        handle, before = self.spaces[space], self.model
        foreign = any(before.space[n] != space for n in old)
        split = any(len(before.heads(n)) > 1 for n in old)
        if foreign or split:
            with pytest.raises((NotFoundError, InvalidRequestError)):
                handle.remember(text, supersedes=old)
            return multiple()
        tips = {head for n in old for head in before.heads(n)}
        result = handle.remember(text, supersedes=old)
        new = self.note(space, result, text)
        assert set(result.superseded) == tips
        assert {m.named for m in result.moved} == set(old) - tips
        self.model.connect(new, tips)
        return new

    @rule(target=nodes, old=nodes)
    def split(self, old):
        if len(self.model.heads(old)) > 1:
            return multiple()
        (tip,) = self.model.heads(old)
        space = self.model.space[old]
        texts = [next(self.words), next(self.words)]
        results = self.spaces[space].remember_many(
            [{"text": text, "supersedes": old} for text in texts]
        )
        parts = [self.note(space, r, t) for r, t in zip(results, texts, strict=True)]
        for part in parts:
            self.model.connect(part, [tip])
        return multiple(*parts)

    @rule(new=nodes, old=nodes)
    def link(self, new, old):
        model = self.model
        heads = model.heads(old)
        ring = any(model.reaches(new, head) for head in heads)
        refused = (
            new == old
            or model.space[new] != model.space[old]
            or (not model.reaches(old, new) and (len(heads) > 1 or ring))
        )
        if refused:
            with pytest.raises((NotFoundError, InvalidRequestError)):
                self.of(new).link(new, supersedes=old)
            return
        result = self.of(new).link(new, supersedes=old)
        if model.reaches(old, new):
            assert result.patch_id is None
            return
        (tip,) = model.heads(old)
        assert result.superseded == (tip,)
        model.connect(new, [tip])

    @rule(data=st.data())
    def unlink(self, data):
        if not self.model.edges:
            return
        new, old = data.draw(st.sampled_from(list(self.model.edges)))
        self.of(new).unlink(new, old)
        del self.model.edges[new, old]

    @rule(node=nodes, purge=st.booleans())
    def forget(self, node, purge):
        result = self.of(node).forget(node, purge=purge)
        known = node in self.model.purged or (node in self.model.removed and not purge)
        assert result.changed is not known
        self.model.removed.add(node)
        if purge:
            self.model.purged.add(node)

    @rule(node=nodes)
    def repeat(self, node):
        if self.model.status(node) != ACTIVE:
            return
        result = self.of(node).remember(f"  {self.model.texts[node]}\n")
        assert result.deduplicated
        assert result.node.id == node

    @rule()
    def reopen(self):
        self.root.close()
        self.open()

    @rule(node=nodes)
    def find(self, node):
        """A hit on any version answers with the heads, and never across the wall."""
        model, word = self.model, self.model.texts[node].split()[0]
        result = self.of(node).recall(word, k=100)
        shown = {hit.node.id for hit in result.hits}
        wanted = set() if node in model.removed else model.heads(node) - model.removed
        assert shown == wanted
        for hit in result.hits:
            assert hit.node.status == ACTIVE
            assert hit.matched.node_id == node
            assert {n.id for n in hit.supersedes} == {
                old for new, old in model.edges if new == hit.node.id and old not in model.removed
            }
        other = "a" if model.space[node] == "a-b" else "a-b"
        assert not self.spaces[other].recall(word).hits

    @rule(node=nodes)
    def read(self, node):
        if node in self.model.purged:
            with pytest.raises(NotFoundError):
                self.of(node).get_node(node)
            return
        found = self.of(node).get_node(node)
        assert found.text == self.model.texts[node]
        assert found.status == self.model.status(node)
        assert set(found.superseded_by) == self.model.after(node)

    @rule(node=nodes)
    def tell(self, node):
        related, waiting = set(), [node]
        while waiting:
            current = waiting.pop()
            if current not in related:
                related.add(current)
                waiting += [b for e in self.model.edges if current in e for b in e]
        assert {n.id for n in self.of(node).history(node)} == related

    @invariant()
    def lists_and_counts_agree(self):
        for name, handle in self.spaces.items():
            assert {n.id for n in handle.list(limit=1000)} == self.model.active(name)
            counts = handle.stats().nodes
            for status in (ACTIVE, SUPERSEDED, FORGOTTEN):
                own = [n for n in self.model.texts if self.model.space[n] == name]
                assert counts[status] == sum(self.model.status(n) == status for n in own)

    def teardown(self):
        if not hasattr(self, "root"):
            return
        engine = self.root._context.engine
        assert engine.verify() == []
        with looking(engine) as connection:
            assert faults(connection) == []
        self.root.close()
        shutil.rmtree(self.folder)


MemoryMachine.TestCase.settings = settings(stateful_step_count=25, deadline=None)
TestMemoryMachine = pytest.mark.promise("resolve.total", "recall.head", "namespace.wall")(
    MemoryMachine.TestCase
)
