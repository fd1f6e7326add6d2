"""A story of one namespace that uses all that a patch can hold, patch by patch."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.conformance.builders import HOME, START, next_version, note, patch_of, replaces, step

from evomem.domain.edge import AMENDS, OVERRIDES, REFINES, RESTORES, SUPERSEDES, Edge
from evomem.domain.event import Event
from evomem.domain.extraction import Extraction, Span, Spans
from evomem.domain.identifiers import EVENT, new_id
from evomem.domain.namespace import Namespace
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Commit, Op, Operation, Patch, Receipt, SuggestedLink

ODD = "账本 e\u0301\u2028\r\n\ufeff👩\u200d🔬 \x01\x1f \"quoted\" 'x' \\ \U0010ffff"
SECRET = "the vault opens with swordfish"  # noqa: S105  a text to be purged, no password


def said(content: str, **fields: Any) -> Event:
    return Event(new_id(EVENT), fields.pop("role", "user"), content, START, **fields)


def extracted(text: str, word: str) -> Extraction:
    start = text.index(word)
    spans = Spans([Span(word, start, start + len(word), 0.667)])
    return Extraction("hand/1", change=spans, consequences=spans, summary=f"On {word}. {ODD}")


class Story:
    """Nodes by name, and the patches that made them; each patch is a minute after the last."""

    def __init__(self, namespace: Namespace = HOME) -> None:
        self.namespace = namespace
        self.nodes: dict[str, NodeRecord] = {}
        self.events: dict[str, Event] = {}
        self.patches: dict[str, Patch] = {}
        self._versions: dict[str, int] = {}
        self._evidence()
        self._notes()
        self._links()
        self._removals()

    @property
    def ids(self) -> list[str]:
        return [node.id for node in self.nodes.values()]

    @property
    def memory_ids(self) -> list[str]:
        return list(dict.fromkeys(node.memory_id for node in self.nodes.values()))

    def _add(self, name: str, *nodes: NodeRecord, **fields: Any) -> None:
        for node in nodes:
            self._versions[node.memory_id] = node.version
        moment = START + timedelta(minutes=len(self.patches))
        given = {"namespace": self.namespace, "recorded_at": moment, "actor": ODD, **fields}
        self.patches[name] = patch_of(*nodes, **given)

    def _note(self, name: str, text: str, **fields: Any) -> NodeRecord:
        self.nodes[name] = note(text, namespace=self.namespace, **fields)
        return self.nodes[name]

    def _next(self, name: str, old: str, text: str, **fields: Any) -> NodeRecord:
        former = self.nodes[old]
        version = self._versions[former.memory_id] + 1
        node = next_version(former, text, **{"version": version, **fields})
        self.nodes[name] = node
        return node

    def _step(self, op: Op, memory_of: str, named: str | None = None) -> Operation:
        """An operation on the memory of one node that names it, or another."""
        memory_id = self.nodes[memory_of].memory_id
        self._versions[memory_id] += 1
        node = self.nodes[named or memory_of]
        return replace(step(op, node, self._versions[memory_id]), memory_id=memory_id)

    def _evidence(self) -> None:
        self.events["odd"] = said(ODD, external_id=ODD, session=ODD, role="tool")
        self.events["erased"] = said("")
        self._add("events", events=tuple(self.events.values()), source=ODD, reason=ODD)

    def _notes(self) -> None:
        odd = self._note(
            "odd",
            f"{ODD} zebra",
            extraction=extracted(f"{ODD} zebra", "zebra"),
            subject=ODD,
            scope=ODD,
            session=ODD,
            tags=(ODD, "", "b", "a"),
            metadata={"z": [1, 0.1, None, {ODD: True}], "a": 2**70, "": ODD, "f": 1e-300},
            valid_to=START + timedelta(days=9, microseconds=1),
        )
        plain = self._note("plain", "zebra plain", created_at=START - timedelta(days=400))
        cited = (self.events["odd"].id, self.events["erased"].id)
        self._add("odd", odd, plain, evidence=cited)
        ledger = self._note("ledger", "zebra on Postgres", slot="ledger/db", subject="ledger")
        brought = said(ledger.text, role="document")
        self.events["brought"] = brought
        self._add("ledger", ledger, events=(brought,), evidence=(cited[0],))
        sqlite = self._next("sqlite", "ledger", "zebra on SQLite", slot="ledger/db")
        edge = Edge(SUPERSEDES, sqlite.id, ledger.id, 0, None, ODD, "linker/1", 0.1 + 0.2)
        unsure = (
            SuggestedLink(sqlite.id, plain.id, ODD, 1 / 3, "heuristic/1"),
            SuggestedLink(sqlite.id, odd.id, "alike", 1, "heuristic/1"),
        )
        self._add(
            "sqlite",
            sqlite,
            edges=(edge, Edge("caused_by", sqlite.id, odd.id, confidence=1 / 3)),
            suggestions=unsure,
            idempotency_key=ODD,
            payload_digest=bytes(range(32)),
            replay={"z": [ODD, 0.1, None], "a": {"node": sqlite.id}},
        )

        self._add("empty", idempotency_key="empty", payload_digest=b"\0", replay={})

    def _links(self) -> None:
        amended = self._note("amended", "zebra, version 3")
        local = self._note("local", "zebra in the EU", scope="eu")
        marks = (
            Edge(AMENDS, amended.id, self.nodes["sqlite"].id, part="SQLite " + ODD),
            Edge(AMENDS, amended.id, self.nodes["sqlite"].id, part="on", reason="that too"),
            Edge(OVERRIDES, local.id, self.nodes["sqlite"].id),
        )
        self._add("marks", amended, local, edges=marks)
        also = (self._step(Op.UNLINK, "sqlite", "amended"),)
        self._add("unmarked", also=also, closed=marks[1:2])
        worded = self._next("worded", "sqlite", "zebra on SQLite 3", slot="ledger/db")
        backdated = self._next(
            "backdated",
            "plain",
            "zebra before",
            backdated=True,
            valid_from=START - timedelta(days=5),
            valid_to=START - timedelta(days=1),
        )
        edges = (
            replaces(worded, self.nodes["sqlite"], REFINES),
            replaces(backdated, self.nodes["plain"]),
        )
        self._add("worded", worded, backdated, edges=edges)
        link = Edge(SUPERSEDES, worded.id, self.nodes["odd"].id, reason="after the fact")
        for name in ("linked", "linked again"):
            self._add(name, also=(self._step(Op.LINK, "odd", "worded"),), edges=(link,))
            also = (self._step(Op.UNLINK, "odd", "worded"),)
            self._add(f"un{name}", also=also, closed=(link,))
        back = self._next("back", "worded", "zebra on SQLite", slot="ledger/db")
        restored = Edge(RESTORES, back.id, self.nodes["sqlite"].id)
        undone = Operation(Op.RESTORE, back.memory_id, back.version, back.id)
        self._add(
            "undone",
            back,
            operations=(undone,),
            edges=(replaces(back, worded), restored),
            rollback_of=self.patches["worded"].id,
        )

    def _removals(self) -> None:
        secret = self._note("secret", SECRET, subject=SECRET, tags=("swordfish",))
        self._add("secret", secret, self._note("keeper", "zebra of the vault"))
        told = self._next("told", "keeper", "zebra, no vault")
        quoting = (
            Edge(AMENDS, told.id, secret.id, part="swordfish", reason="it said swordfish"),
            Edge(SUPERSEDES, told.id, self.nodes["keeper"].id, reason="no vault"),
        )
        asks = (SuggestedLink(told.id, secret.id, "swordfish", 0.5, "heuristic/1"),)
        self._add("told", told, edges=quoting, suggestions=asks)
        gone = (self.nodes["amended"].id, self.nodes["ledger"].id)
        both = (self._step(Op.REMOVE, "amended"), self._step(Op.REMOVE, "ledger"))
        self._add("forgotten", also=both, removed=gone)
        also = (self._step(Op.RESTORE, "amended"),)
        self._add("revived", also=also, revived=gone[:1])
        both = (self._step(Op.REMOVE, "amended"), self._step(Op.REMOVE, "local"))
        self._add("forgotten again", also=both, removed=(gone[0], self.nodes["local"].id))
        also = (self._step(Op.RESTORE, "local"),)
        self._add("revived again", also=also, revived=(self.nodes["local"].id,))
        also = (self._step(Op.REMOVE, "secret"),)
        self._add("purged", also=also, removed=(secret.id,), purged=(secret.id,))
        also = (self._step(Op.REMOVE, "ledger"),)
        self._add("purged later", also=also, purged=(self.nodes["ledger"].id,))

    def until(self, name: str) -> list[Patch]:
        """The patches up to and with one."""
        names = list(self.patches)
        return [self.patches[n] for n in names[: names.index(name) + 1]]


def as_kept(patch: Patch, receipt: Receipt) -> Patch:
    """What a commit makes of a patch, while nothing of it has been purged."""
    at, sequence = receipt.recorded_at, receipt.sequence
    return unordered(
        replace(
            patch,
            recorded_at=at,
            nodes=tuple(replace(n, sequence=sequence, recorded_at=at) for n in patch.nodes),
            edges=tuple(replace(e, sequence=sequence) for e in patch.edges),
            expects=Patch(patch.id, patch.namespace, at).expects,
        )
    )


def unordered(patch: Patch) -> Patch:
    """Without the order of what a patch holds as a set, nor the sequences of what it closed."""
    return replace(
        patch,
        events=tuple(sorted(patch.events, key=lambda e: e.id)),
        evidence=tuple(sorted(patch.evidence)),
        closed=tuple(sorted((replace(e, sequence=0) for e in patch.closed), key=repr)),
        removed=tuple(sorted(patch.removed)),
        revived=tuple(sorted(patch.revived)),
        purged=tuple(sorted(patch.purged)),
        suggestions=tuple(sorted(patch.suggestions, key=lambda s: (s.new, s.old))),
    )


def what_was_kept(commit: Commit) -> Patch:
    return unordered(commit.patch)
