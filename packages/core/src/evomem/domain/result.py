"""Results: what every surface returns; adapters only format them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, overload

from evomem.domain.decision import Suggestion
from evomem.domain.node import MemoryNode
from evomem.domain.plain import Result


@dataclass(frozen=True, slots=True)
class Decision:
    """How a note came to its links.

    Attributes:
        outcome: `explicit` (the caller named what it replaces), `link`, `amend`, `override`,
            `no_link`, `abstain`, or `off`.
        reason: One line.
        confidence: 0 to 1.
    """

    outcome: str
    reason: str
    confidence: float = 1.0


class Moved(NamedTuple):
    """A named node that was no longer the tip: the write extended `current` instead."""

    named: str
    current: str


@dataclass(frozen=True, slots=True)
class RememberResult(Result):
    """What became of a note.

    Attributes:
        node: The node as it stands now.
        superseded: Nodes that this call took out of force.
        moved: Named nodes that had been replaced already, with what was extended instead.
        deduplicated: True if an equal active note existed and is returned.
        replayed: True if the idempotency key was used before with the same payload.
        decision: How the links came about.
        candidates: Heads the linker would ask about; answer with `link`.
        warnings: What the caller should know.
        patch_id: The commit; None if nothing was written.
        latency_ms: Wall time of the call.
    """

    node: MemoryNode
    superseded: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    deduplicated: bool = False
    replayed: bool = False
    decision: Decision = Decision("off", "linking is off")
    candidates: tuple[Suggestion, ...] = ()
    warnings: tuple[str, ...] = ()
    patch_id: str | None = None
    latency_ms: float = 0.0

    def to_text(self) -> str:
        """Say in words what was done, for a model to go on."""
        from evomem.domain.outcome import remembered  # noqa: PLC0415  it imports results

        return remembered(self)


@dataclass(frozen=True, slots=True)
class LinkResult(Result):
    """What became of a link or its undoing; `patch_id` is None if there was nothing to do."""

    node: MemoryNode
    superseded: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    warnings: tuple[str, ...] = ()
    patch_id: str | None = None

    def to_text(self) -> str:
        """Say in words what was done, for a model to go on."""
        from evomem.domain.outcome import linked  # noqa: PLC0415  it imports results

        return linked(self)


@dataclass(frozen=True, slots=True)
class ForgetResult(Result):
    """What became of a `forget`.

    Attributes:
        node_id: The node.
        changed: False if it had been done before.
        purged: True if its text is gone, by this call or an earlier one.
        warnings: What the caller should know.
        patch_id: The commit; None if nothing was written.
    """

    node_id: str
    changed: bool
    purged: bool
    warnings: tuple[str, ...] = ()
    patch_id: str | None = None

    def to_text(self) -> str:
        """Say in words what was done, for a model to go on."""
        from evomem.domain.outcome import forgotten  # noqa: PLC0415  it imports results

        return forgotten(self)


class Matched(NamedTuple):
    """Which version of a story the query met.

    `by` is `text` (its words), `meaning` (its vector), `both`, `recent` (blank query), or
    `override`/`amends` (it came with its node).
    """

    node_id: str
    version: int
    by: str


class Amended(NamedTuple):
    """A part of a node that another node replaced: who did, and the quoted words."""

    by: str
    part: str


class Contribution(NamedTuple):
    """What a term of the query adds to the BM25 score of the version that matched."""

    term: str
    score: float


@dataclass(frozen=True, slots=True)
class Explanation(Result):
    """Why an answer stands where it stands.

    Attributes:
        terms: The terms matched, in the order of the query.
        lexical_score: BM25 of the best version by words; None if none matched.
        lexical_rank: Place by words among the heads, 1 for the first.
        similarity: Cosine of the best version by meaning, -1 to 1.
        vector_rank: Place by meaning among the heads.
        above_next: One line: why it stands above the next answer; empty for the last.
    """

    terms: tuple[Contribution, ...] = ()
    lexical_score: float | None = None
    lexical_rank: int | None = None
    similarity: float | None = None
    vector_rank: int | None = None
    above_next: str = ""


@dataclass(frozen=True, slots=True)
class Hit(Result):
    """One answer: a node in force, and how it was found.

    Attributes:
        node: The head.
        score: Higher is better: BM25 of the best matching version, its cosine if ranked by vectors
            alone, or the fusion of both ranks; None for a blank query.
        matched: The version that matched.
        supersedes: The nodes that the head replaced directly.
        overridden: Nodes that win over this one in the scope asked for.
        amended: Parts of it that were replaced, by what.
        questioned: Later nodes that may replace it: suggestions nobody has answered.
        scheduled: Versions that take force later.
        same: Other heads that state the same in the same scope.
        history: Earlier nodes of the story, newest first, if asked.
        why: One line: what matched.
        explanation: Terms and ranks, if asked.
    """

    node: MemoryNode
    score: float | None
    matched: Matched
    supersedes: tuple[MemoryNode, ...] = ()
    overridden: tuple[str, ...] = ()
    amended: tuple[Amended, ...] = ()
    questioned: tuple[str, ...] = ()
    scheduled: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    history: tuple[MemoryNode, ...] = ()
    why: str = ""
    explanation: Explanation | None = None

    def to_text(self) -> str:
        """Render for a prompt as `RecallResult.to_text` does, without a number before it."""
        from evomem.domain.render import render_alone  # noqa: PLC0415  render imports results

        return "\n".join(render_alone(self))


@dataclass(frozen=True, slots=True)
class RecallResult(Result):
    """The answers to a query, the best first, one per head.

    Attributes:
        hits: At most `k`, and the amendments of those.
        insufficient: True if nothing matched enough of the query to lean on.
        exact: True if no better answer can have been left out.
        partial: True if a deadline cut the search short.
        warnings: What the caller should know.
    """

    hits: tuple[Hit, ...] = ()
    insufficient: bool = False
    exact: bool = True
    partial: bool = False
    warnings: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Render for a prompt: compact, every node with its explicit status."""
        from evomem.domain.render import render_recall  # noqa: PLC0415  render imports results

        return render_recall(self)


@dataclass(frozen=True, slots=True)
class Page(Result):
    """A page of nodes; `cursor` continues it, None at the end."""

    nodes: tuple[MemoryNode, ...] = ()
    cursor: str | None = None

    def __iter__(self) -> Iterator[MemoryNode]:
        """Iterate over the nodes."""
        return iter(self.nodes)

    def __len__(self) -> int:
        """Return the number of nodes on this page."""
        return len(self.nodes)

    @overload
    def __getitem__(self, index: int) -> MemoryNode: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MemoryNode, ...]: ...
    def __getitem__(self, index: int | slice) -> MemoryNode | tuple[MemoryNode, ...]:
        """Return a node, or a slice of them."""
        return self.nodes[index]


@dataclass(frozen=True, slots=True)
class PendingReview(Result):
    """A link that the linker would not make alone; answer with `link`."""

    node: MemoryNode
    candidate: MemoryNode
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Stats(Result):
    """Figures of the store as seen from one namespace.

    Attributes:
        store_id: Identity of the file, kept through copies and exports.
        path: Absolute path, address, or `:memory:`.
        schema_version: Of the store.
        nodes: Nodes by status.
        events: Events.
        texts: Texts.
        patches: Commits.
        pending_reviews: Suggestions that wait for an answer.
        missing_vectors: Nodes without a vector by `embedder`; `reindex` adds them.
        size_bytes: Of the whole store on disk.
        location: Where the path came from: `argument`, `EVOMEM_DB`, or `default`.
        embedder: Name of the embedder that the memory was opened with.
    """

    store_id: str
    path: str
    schema_version: int
    nodes: Mapping[str, int]
    events: int
    texts: int
    patches: int
    pending_reviews: int
    missing_vectors: int
    size_bytes: int
    location: str = "argument"
    embedder: str | None = None


@dataclass(frozen=True, slots=True)
class ReindexResult(Result):
    """What became of a `reindex`.

    Attributes:
        reanalysed: Nodes whose search documents an older text analysis had made.
        embedder: Name of the embedder; None if the memory has none, and nothing was embedded.
        embedded: Vectors that it added.
        missing: Nodes that are still without one.
        failure: Why some are, as far as the embedder said.
    """

    reanalysed: int = 0
    embedder: str | None = None
    embedded: int = 0
    missing: int = 0
    failure: str | None = None
