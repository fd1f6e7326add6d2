"""Patches beside a naive model: undoing is the identity, the log tells all, times tell the past."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule
from tests.conformance.builders import HOME, NO_FILTERS, Clock, open_memory
from tests.engine_sqlite.sealing import looking

from evomem import EvoMemError, InvalidRequestError, UnsafeRollbackError
from evomem.domain.namespace import Reach
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.engines.sqlite.rows import json_list
from evomem.engines.sqlite.sql import QUERIES

SCOPES = st.sampled_from([None, None, "eu", "eu/west"])
HOURS = st.sampled_from([None, None, None, -30, -1, 1, 30])


class PatchMachine(RuleBasedStateMachine):
    """One namespace, a clock that moves an hour with each step."""

    nodes = Bundle("nodes")

    @initialize()
    def start(self):
        self.engine = SqliteEngine(":memory:")
        self.clock = Clock()
        self.memory = open_memory(self.engine, self.clock, HOME)
        self.event = self.memory.record_event("user", "go ahead").id
        self.texts = 0
        self.patches: list[str] = []
        # What was in force right after each commit, and by which question that is asked again.
        self.past: list[tuple[datetime, object]] = []

    def text(self):
        self.texts += 1
        return f"word{self.texts}x stands\n"

    def when(self, hours):
        return None if hours is None else self.clock.now + timedelta(hours=hours)

    def done(self, patch_id):
        if patch_id is not None:
            self.patches.append(patch_id)
            self.past.append((self.clock.now, self.seen()))
        self.clock.advance(hours=1)

    def seen(self, **times):
        """Everything in force and to come, by content; and what every node resolves to."""
        memory = self.memory
        page = memory.list(limit=1000, **times)
        coming: Any = [] if times else memory.list(limit=1000, status="scheduled")
        return (
            sorted(self.content(node) for node in page),
            sorted((self.content(n), n.valid_from) for n in coming),
        )

    @staticmethod
    def content(node):
        fields = (node.text, node.scope or "", node.slot or "", node.subject or "", node.valid_to)
        return (*map(str, fields), node.tags)

    def all_nodes(self):
        return [node.id for node in self.memory.list(limit=1000, status="all")]

    @rule(
        target=nodes,
        old=st.lists(nodes, max_size=2, unique=True),
        kind=st.sampled_from(["supersedes", "supersedes", "refines", "overrides", "amends", "why"]),
        scope=SCOPES,
        begins=HOURS,
        ends=st.sampled_from([None, None, 3, 60]),
        slot=st.sampled_from([None, None, None, "a/b"]),
        searchable=st.sampled_from(["always", "tip", "never"]),
    )
    def remember(self, old, kind, scope, begins, ends, slot, searchable):
        given = {"scope": scope, "valid_from": self.when(begins), "valid_to": self.when(ends)}
        given["searchable"] = searchable
        if kind == "amends":
            given["amends"] = [{"id": n, "part": "stands"} for n in old]
        elif kind == "why":
            given["relations"] = {"caused_by": old}
        elif old:
            given[kind] = old
        try:
            result = self.memory.remember(self.text(), slot=slot, tags=["t"], **given)
        except EvoMemError:
            return multiple()
        self.done(result.patch_id)
        return result.node.id

    @rule(target=nodes, old=nodes, searchable=st.sampled_from(["always", "tip", "never"]))
    def split(self, old, searchable):
        part = {"supersedes": old, "searchable": searchable}
        try:
            results = self.memory.remember_many([{"text": self.text(), **part} for _ in range(2)])
        except EvoMemError:
            return multiple()
        self.done(results[0].patch_id)
        return multiple(*(r.node.id for r in results))

    @rule(
        target=nodes,
        old=st.lists(nodes, min_size=1, max_size=3),
        ops=st.lists(
            st.sampled_from(["ADD", "UPDATE", "SUPERSEDE", "REMOVE", "PART"]),
            min_size=1,
            max_size=4,
        ),
        begins=HOURS,
    )
    def apply(self, old, ops, begins):
        versions: dict[str, int] = {}
        asked: list[dict[str, object]] = []
        for number, op in enumerate(ops):
            node = self.memory.list(limit=1000, status="all")
            memory_id = next(n.memory_id for n in node if n.id == old[number % len(old)])
            version = versions.get(memory_id) or self.memory.read(memory_id).version
            if op == "ADD":
                asked.append({"op": "ADD", "subject": "s", "content": self.text()})
                continue
            versions[memory_id] = version + 1
            item: dict[str, object] = {"op": op, "memory_id": memory_id}
            item["expected_version"] = version
            if op != "REMOVE":
                item |= {"new_content": self.text(), "valid_from": self.when(begins)}
            if op == "PART":
                item |= {"op": "SUPERSEDE", "part": "stands"}
            asked.append(item)
        before = self.seen()
        count = self.memory.stats().patches
        try:
            result = self.memory.apply(asked, evidence=[self.event])
        except EvoMemError:
            assert self.seen() == before
            assert self.memory.stats().patches == count
            return multiple()
        self.done(result.patch_id)
        assert result.patch_id
        added = self.memory.patch(result.patch_id)
        return multiple(*(o.node_id for o in added.operations if o.op in {"ADD", "SUPERSEDE"}))

    @rule(new=nodes, old=nodes)
    def link(self, new, old):
        try:
            self.done(self.memory.link(new, supersedes=old).patch_id)
        except EvoMemError:
            return

    @rule(data=st.data())
    def unlink(self, data):
        with self.engine.read() as reader:
            edges = reader.edges(Reach(HOME), self.all_nodes())
        if not edges:
            return
        edge = data.draw(st.sampled_from(edges))
        self.done(self.memory.unlink(edge.new, edge.old).patch_id)

    @rule(node=nodes)
    def forget(self, node):
        self.done(self.memory.forget(node).patch_id)

    @rule(data=st.data())
    def undo(self, data):
        """Right after a patch its rollback is the identity; so is the rollback of that."""
        if not self.patches:
            return
        patch_id = self.patches[-1]
        with self.engine.read() as reader:
            sequence = reader.commits(Reach(HOME), [patch_id])[0].sequence
            before = reader.before(sequence)
            known = before.recent(Reach(HOME), NO_FILTERS, after=None, limit=1000)
        now, nodes = self.clock.now, self.all_nodes()
        expected = self.snapshot(known, now, sequence)
        after = self.snapshot(nodes, now + timedelta(hours=1))
        try:
            undone = self.memory.rollback(patch_id)
        except InvalidRequestError:
            # Nothing is left to undo: it had ended before.
            return
        assert self.snapshot(known, now) == expected
        self.done(undone.patch_id)
        try:
            again = self.memory.rollback(undone.patch_id or "")
        except InvalidRequestError:
            # What it would bring back has ended meanwhile.
            return
        assert self.snapshot(nodes, self.clock.now) == after
        self.done(again.patch_id)

    def snapshot(self, nodes, start, before=None):
        """What the nodes resolve to from a time on, and all that is in force then."""
        times = [start + timedelta(hours=h) for h in (0, 2, 40, 100)]
        shown = []
        with self.engine.read() as latest:
            reader = latest if before is None else latest.before(before)
            for at in times:
                everything = reader.recent(Reach(HOME), NO_FILTERS, after=None, limit=1000)
                lineage = reader.lineage(Reach(HOME), everything, at)
                records = reader.records(Reach(HOME), everything)
                active = {n for n in everything if lineage.status(n, at) == "active"}
                heads = {
                    n: sorted(records[h].text for h in lineage.heads(n, at) if h in active)
                    for n in nodes
                }
                contents = sorted(self.record(records[n]) for n in active)
                shown.append((heads, contents))
        return [(heads, contents) for heads, contents in shown]

    @staticmethod
    def record(record):
        fields = (record.text, record.scope, record.slot, record.subject, record.searchable)
        return (*map(str, fields), record.tags)

    @rule(data=st.data())
    def undo_any(self, data):
        """Rolling back an older patch is refused with the patches in the way, or done."""
        if not self.patches:
            return
        patch_id = data.draw(st.sampled_from(self.patches))
        nodes, now = self.all_nodes(), self.clock.now
        before, count = self.snapshot(nodes, now), self.memory.stats().patches
        try:
            result = self.memory.rollback(patch_id, reason="undo")
        except (UnsafeRollbackError, InvalidRequestError):
            pass
        else:
            self.done(result.patch_id)
            return
        assert self.snapshot(nodes, now) == before
        assert self.memory.stats().patches == count

    @rule(data=st.data())
    def remember_the_past(self, data):
        """What was known then is what was shown then."""
        if not self.past:
            return
        when, shown = data.draw(st.sampled_from(self.past))
        assert self.seen(known_at=when)[0] == shown[0]
        hits = self.memory.recall("stands", k=100, known_at=when).hits
        assert {h.node.text for h in hits if h.node.status == "active"} <= {c[0] for c in shown[0]}
        assert all(hit.node.recorded_at <= when for hit in hits)
        assert all(old.recorded_at <= when for hit in hits for old in hit.supersedes)

    @rule(hours=st.sampled_from([-50, -3, 5]))
    def as_of(self, hours):
        """What held at a time never begins later."""
        when = self.clock.now + timedelta(hours=hours)
        for hit in self.memory.recall("stands", k=100, as_of=when).hits:
            assert hit.node.valid_from <= when
            assert hit.node.status == "active"

    def teardown(self):
        if not hasattr(self, "engine"):
            return
        assert self.engine.verify() == []
        self.find_marks_both_ways()
        self.replay_the_log()
        self.make_the_index_anew()
        self.engine.close()

    def find_marks_both_ways(self):
        with self.engine.read() as reader:
            for node_id in self.all_nodes():
                given = {"ids": json_list([node_id]), "spaces": reader._within(Reach(HOME))}
                assert reader._all("marks", **given) == reader._all("marks_forward", **given)

    def make_the_index_anew(self):
        """The documents and counts that patches left are those of the truth."""

        def index():
            with looking(self.engine) as connection:
                docs = connection.execute("SELECT * FROM search_doc ORDER BY row").fetchall()
                return docs, connection.execute(QUERIES["stored_counts"]).fetchall()

        assert [check for check in self.engine.diagnose() if not check.ok] == []
        before = index()
        self.engine.rebuild()
        assert index() == before
        assert [check for check in self.engine.diagnose() if not check.ok] == []

    @staticmethod
    def everything(memory):
        return memory.list(limit=1000, status="all").nodes

    def replay_the_log(self):
        """The log of one store makes the same store of an empty one."""
        copy = SqliteEngine(":memory:")
        with self.engine.read() as reader:
            log = reader.log(Reach(HOME), 0, 10_000)
        for commit in log:
            copy.commit(commit.patch)
        with copy.read() as reader:
            again = reader.log(Reach(HOME), 0, 10_000)
        assert [c.patch for c in again] == [c.patch for c in log]
        other = open_memory(copy, self.clock, HOME)
        assert self.everything(other) == self.everything(self.memory)
        assert other.stats().nodes == self.memory.stats().nodes
        assert copy.verify() == []
        copy.close()


PatchMachine.TestCase.settings = settings(stateful_step_count=20, max_examples=20, deadline=None)
TestPatchMachine = pytest.mark.promise("write.atomic", "recall.head")(PatchMachine.TestCase)
