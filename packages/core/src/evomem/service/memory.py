"""The facade: one handle, bound to a namespace, with the use cases as methods."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, Unpack

from evomem.domain.arguments import id_list, text_or_none, truth, whole_number
from evomem.domain.identifiers import parse_id
from evomem.domain.namespace import Namespace, parse_namespace
from evomem.domain.node import MemoryNode
from evomem.domain.patch import Change
from evomem.domain.request import (
    ListOptions,
    RecallOptions,
    RememberOptions,
    parse_list,
    parse_notes,
    parse_recall,
    parse_remember,
)
from evomem.domain.result import (
    ForgetResult,
    LinkResult,
    Page,
    PendingReview,
    RecallResult,
    RememberResult,
    Stats,
)
from evomem.service import links, reading
from evomem.service.context import Context
from evomem.service.recall import recall
from evomem.service.remember import remember


class Memory:
    """A memory that knows when a decision was replaced.

    Get one from `evomem.open`. Everything it reads and writes lies in its namespace; nothing
    above or beside it is ever visible. Safe to use from several threads.
    """

    def __init__(self, context: Context, *, location: str = "argument", owner: bool = True) -> None:
        self._context = context
        self._location = location
        self._owner = owner

    @property
    def namespace(self) -> Namespace:
        """The namespace that the handle is bound to."""
        return self._context.namespace

    @property
    def path(self) -> str:
        """Absolute path or address of the store."""
        return self._context.engine.location

    def remember(self, text: str, **options: Unpack[RememberOptions]) -> RememberResult:
        """Store a statement, and link it to what it replaces.

        Args:
            text: The statement, stored as received, up to 1 MiB.
            **options: See `RememberRequest`; `supersedes=[id]` names what it replaces.

        Returns:
            The node, what was taken out of force, and the candidates the linker would ask about.

        Raises:
            EvoMemError: Nothing was written; `code` and the message say why and what to do.
        """
        request = parse_remember({"text": text, **options})
        return remember(self._context, [request], request.idempotency_key)[0]

    def remember_many(
        self,
        notes: Sequence[str | Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
    ) -> builtins.list[RememberResult]:
        """Store several statements in one patch: all of them or none.

        Each replaces what stood before the patch: two notes that supersede the same node split it.

        Args:
            notes: Texts, or the arguments of `remember` as mappings.
            idempotency_key: One key for the whole batch.

        Raises:
            EvoMemError: Nothing was written.
        """
        requests = parse_notes(notes)
        if not requests:
            return []
        return remember(self._context, requests, text_or_none(idempotency_key, "idempotency_key"))

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> RecallResult:
        """Answer a question with what is in force, whatever version it matches.

        Args:
            query: Plain text; blank lists the most recently changed.
            **options: See `RecallRequest`.
        """
        return recall(self._context, parse_recall({"query": query, **options}))

    def get_node(self, node_id: str) -> MemoryNode:
        """Return a node by its id, or by the first six or more characters of it.

        Raises:
            NotFoundError: It is unknown here, or was purged.
        """
        return reading.get_node(self._context, parse_id(node_id, "node_id"))

    def history(self, node_id: str, *, limit: int | None = None) -> builtins.list[MemoryNode]:
        """Return the story a node belongs to, newest first.

        Args:
            node_id: Any node of the story; the first six or more characters are enough.
            limit: Nodes at most; None tells all.

        Raises:
            NotFoundError: It is unknown here.
        """
        if limit is not None:
            whole_number(limit, "limit", 1, 2**53)
        return reading.history(self._context, parse_id(node_id, "node_id"), limit)

    def list(self, **options: Unpack[ListOptions]) -> Page:
        """Return a page of nodes, the latest first; see `ListRequest`."""
        return reading.list_nodes(self._context, parse_list(options))

    def link(
        self,
        node_id: str,
        *,
        supersedes: Sequence[str] | str,
        reason: str | None = None,
        actor: str | None = None,
        source: str = "python",
    ) -> LinkResult:
        """State after the fact that a node replaces others.

        Raises:
            InvalidRequestError: A node would come to replace itself; nothing was written.
            NotFoundError: An id is unknown; nothing was written.
        """
        old = id_list(supersedes, "supersedes")
        new = parse_id(node_id, "node_id")
        by = _by(reason, actor, source)
        return links.link(self._context, new, old, **by)

    def unlink(
        self,
        new_id: str,
        old_id: str,
        *,
        reason: str | None = None,
        actor: str | None = None,
        source: str = "python",
    ) -> LinkResult:
        """Undo a link; always possible.

        Raises:
            NotFoundError: There is no such link.
        """
        new, old = parse_id(new_id, "new_id"), parse_id(old_id, "old_id")
        by = _by(reason, actor, source)
        return links.unlink(self._context, new, old, **by)

    def forget(
        self,
        node_id: str,
        *,
        purge: bool = False,
        reason: str | None = None,
        actor: str | None = None,
        source: str = "python",
    ) -> ForgetResult:
        """Take a node out of recall, its history kept; with `purge` delete its text too.

        Raises:
            NotFoundError: The id is unknown.
        """
        by = _by(reason, actor, source)
        node = parse_id(node_id, "node_id")
        return links.forget(self._context, node, purge=truth(purge, "purge"), **by)

    def review(self) -> builtins.list[PendingReview]:
        """Return the links the linker would not make alone; answer with `link`."""
        return reading.review(self._context)

    def version(self) -> int:
        """Return the sequence of the latest commit in this namespace; it only ever grows."""
        return reading.version(self._context)

    def changes(self, since: int = 0, *, limit: int = 1000) -> builtins.list[Change]:
        """Return the commits after the sequence `since`, the oldest first.

        Pass the last one's `sequence` to go on; an empty list means that nothing is newer.

        Args:
            since: A sequence, as in `Change.sequence` or `version()`.
            limit: Commits at most, 1 to 10,000.
        """
        whole_number(since, "since", 0, 2**62)
        return reading.changes(self._context, since, whole_number(limit, "limit", 1, 10_000))

    def stats(self) -> Stats:
        """Count what the namespace holds, and say where the store lies."""
        return reading.stats(self._context, self._location)

    def within(self, namespace: str | Sequence[str]) -> Memory:
        """Return a handle on a namespace below this one; it shares the store."""
        below = parse_namespace(namespace, base=self.namespace)
        inner = replace(self._context, namespace=below)
        return Memory(inner, location=self._location, owner=False)

    def close(self) -> None:
        """Release the store; a handle from `within` leaves it open."""
        if self._owner:
            self._context.engine.close()

    def __enter__(self) -> Self:
        """Return the handle."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the handle."""
        self.close()

    def __repr__(self) -> str:
        """Name the store and the namespace."""
        return f"Memory({self.path!r}, namespace={self.namespace!r})"


def _by(reason: object, actor: object, source: object) -> dict[str, str | None]:
    given = {"reason": reason, "actor": actor, "source": source}
    return {name: text_or_none(value, name) for name, value in given.items()}
