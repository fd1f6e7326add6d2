"""The facade: one handle, bound to a namespace, with the use cases as methods."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from evomem.domain.arguments import id_list, moments, origin, text_or_none, truth, whole_number
from evomem.domain.diagnosis import AuditReport, Diagnosis
from evomem.domain.event import EventOptions, EventRecord, parse_event
from evomem.domain.identifiers import parse_id
from evomem.domain.namespace import parse_namespace
from evomem.domain.node import MemoryNode
from evomem.domain.operation import ApplyOptions, RequestedOperation, parse_apply
from evomem.domain.patch import Change
from evomem.domain.patch_result import MemoryRecord, PatchRecord, PatchResult
from evomem.domain.question import ListOptions, RecallOptions, parse_list, parse_recall
from evomem.domain.request import RememberOptions, parse_notes, parse_remember
from evomem.domain.result import (
    ForgetResult,
    LinkResult,
    Page,
    PendingReview,
    RecallResult,
    ReindexResult,
    RememberResult,
    Stats,
)
from evomem.domain.time import Instant
from evomem.service import links, reading
from evomem.service.apply import apply
from evomem.service.audit import write_audit
from evomem.service.doctor import doctor
from evomem.service.events import get_event, record_event
from evomem.service.memories import ReadRequest, read_memory
from evomem.service.patches import get_patch
from evomem.service.places import Places
from evomem.service.recall import recall
from evomem.service.reindex import OnProgress, reindex
from evomem.service.remember import remember
from evomem.service.rollback import RollbackRequest, rollback


class Memory(Places):
    """A memory that knows when a decision was replaced.

    Get one from `evomem.open`. Everything it reads and writes lies in its namespace; nothing
    above or beside it is ever visible. Safe to use from several threads.
    """

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

    def get_node(
        self, node_id: str, *, as_of: Instant | None = None, known_at: Instant | None = None
    ) -> MemoryNode:
        """Return a node by its id, or by the first six or more characters of it.

        Args:
            node_id: Of the node.
            as_of: Tell the status it had then; default now, or `known_at` if that is given.
            known_at: Tell what was known of it then.

        Raises:
            NotFoundError: It is unknown here, was not known then, or was purged.
        """
        times = moments(as_of, known_at)
        return reading.get_node(self._context, parse_id(node_id, "node_id"), *times)

    def history(
        self,
        node_id: str,
        *,
        limit: int | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
    ) -> builtins.list[MemoryNode]:
        """Return the story a node belongs to, newest first.

        Args:
            node_id: Any node of the story; the first six or more characters are enough.
            limit: Nodes at most; None tells all.
            as_of: Leave out what had not begun then.
            known_at: Leave out what was not known then.

        Raises:
            NotFoundError: It is unknown here, or was not known then.
        """
        if limit is not None:
            whole_number(limit, "limit", 1, 2**53)
        node = parse_id(node_id, "node_id")
        return reading.history(self._context, node, limit, *moments(as_of, known_at))

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
        by = origin(reason, actor, source)
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
        by = origin(reason, actor, source)
        return links.unlink(self._context, new, old, **by)

    def record_event(self, role: str, content: str, **options: Unpack[EventOptions]) -> EventRecord:
        """Record evidence: who said what, and when. It never changes, and proves no truth.

        Args:
            role: `user`, `assistant`, `tool`, `system` or `document`.
            content: What was said, stored as received, up to 1 MiB.
            **options: See `EventRequest`; a repeated `external_id` answers with the first record.

        Raises:
            IdempotencyConflictError: The external id was recorded with other data.
        """
        request = parse_event({"role": role, "content": content, **options})
        return record_event(self._context, request)

    def get_event(self, event_id: str) -> EventRecord:
        """Return an event by its id.

        Raises:
            NotFoundError: It is unknown here.
        """
        return get_event(self._context, parse_id(event_id, "event_id"))

    def apply(
        self,
        operations: Sequence[RequestedOperation | Mapping[str, Any]],
        **options: Unpack[ApplyOptions],
    ) -> PatchResult:
        """Carry out operations on memories in one patch, in order: all of them or none.

        Args:
            operations: `Add`, `Update`, `Supersede`, `Remove`, or mappings such as
                `{"op": "ADD", "subject": ..., "content": ...}`.
            **options: See `ApplyRequest`; `evidence` cites events, which the default policy asks
                for.

        Raises:
            VersionConflictError: A memory is not at its `expected_version`; `details["current"]`
                tells its state.
            EvoMemError: Nothing was written; `code` and the message say why and what to do.
        """
        limit = self._context.policy.max_operations
        return apply(self._context, parse_apply({"operations": operations, **options}, limit=limit))

    def search(self, query: str, **options: Unpack[RecallOptions]) -> RecallResult:
        """Search memories; `recall`, and with `include_removed` also what was forgotten.

        Each hit's `node.memory_id` and `node.memory_version` are what an operation asks for.

        Args:
            query: Plain text; blank lists the most recently changed.
            **options: See `RecallRequest`.
        """
        return self.recall(query, **options)

    def read(
        self,
        memory_id: str,
        *,
        include_history: bool = False,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
    ) -> MemoryRecord:
        """Return a memory: its version in force, and the version number that writes expect.

        Args:
            memory_id: Of the memory.
            include_history: Tell every operation on it, the oldest first.
            as_of: Tell what held then; default now, or `known_at` if that is given.
            known_at: Tell what was known then.

        Raises:
            NotFoundError: It is unknown here, or was not known or had not begun then.
        """
        memory, told = parse_id(memory_id, "memory_id"), truth(include_history, "include_history")
        return read_memory(self._context, ReadRequest(memory, told, *moments(as_of, known_at)))

    def patch(self, patch_id: str) -> PatchRecord:
        """Return a patch: who did what, when, on what evidence, with diffs.

        Raises:
            NotFoundError: It is unknown here.
        """
        return get_patch(self._context, parse_id(patch_id, "patch_id"))

    def rollback(
        self,
        patch_id: str,
        *,
        dry_run: bool = False,
        reason: str | None = None,
        actor: str | None = None,
        source: str = "python",
    ) -> PatchResult:
        """Undo a patch by another one that brings the states before it back as new versions.

        Administrative: never offer it to a model. A rollback can be rolled back.

        Args:
            patch_id: The patch to undo.
            dry_run: Write nothing; tell what would be done.
            reason: Why.
            actor: Who asks.
            source: By which way it came.

        Raises:
            UnsafeRollbackError: Later patches depend on it; `details["dependents"]` names them.
            InvalidRequestError: There is nothing to undo in it.
        """
        by = origin(reason, actor, source)
        request = RollbackRequest(parse_id(patch_id, "patch_id"), truth(dry_run, "dry_run"), **by)
        return rollback(self._context, request)

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
        by = origin(reason, actor, source)
        node = parse_id(node_id, "node_id")
        return links.forget(self._context, node, purge=truth(purge, "purge"), **by)

    def review(self) -> builtins.list[PendingReview]:
        """Return the links the linker would not make alone; answer with `link`."""
        return reading.review(self._context)

    def version(self) -> int:
        """Return the sequence of the latest commit in this namespace; it only ever grows."""
        return reading.version(self._context)

    def changes(
        self, since: int = 0, *, limit: int = 1000, newest_first: bool = False
    ) -> builtins.list[Change]:
        """Return the commits after the sequence `since`, the oldest first.

        Pass the last one's `sequence` to go on; an empty list means that nothing is newer.

        Args:
            since: A sequence, as in `Change.sequence` or `version()`.
            limit: Commits at most, 1 to 10,000.
            newest_first: Begin with the latest commit instead.
        """
        whole_number(since, "since", 0, 2**62)
        whole_number(limit, "limit", 1, 10_000)
        latest = truth(newest_first, "newest_first")
        return reading.changes(self._context, since, limit, newest_first=latest)

    def stats(self) -> Stats:
        """Count what the namespace holds, and say where the store lies."""
        return reading.stats(self._context, self._location)

    def doctor(self, *, fix: bool = False, anchor: str | None = None) -> Diagnosis:
        """Look at the whole store, in all its namespaces; administrative, never for a model.

        Args:
            fix: Make anew what is derived, where it is wrong. Nothing else is ever repaired.
            anchor: `SEQUENCE:HASH` of an earlier diagnosis; tells if the history was cut off since.
        """
        return doctor(self._context, self._location, fix=fix, anchor=anchor)

    def reindex(
        self, *, include_children: bool = True, progress: OnProgress | None = None
    ) -> ReindexResult:
        """Bring the index up to the present text analysis, and add the vectors that are missing.

        It may be stopped and begun again at any time, and runs beside writers.

        Args:
            include_children: Also in the namespaces below.
            progress: Called after each page with how many nodes are done, and how many there are.
        """
        below = truth(include_children, "include_children")
        return reindex(self._context, include_children=below, progress=progress)

    def export_audit(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> AuditReport:
        """Write every patch and event of the namespace to a JSON file; see `docs/audit.md`."""
        return write_audit(self._context, path, overwrite=overwrite)

    def within(self, namespace: str | Sequence[str]) -> Memory:
        """Return a handle on a namespace below this one; it shares the store."""
        below = parse_namespace(namespace, base=self.namespace)
        inner = replace(self._context, namespace=below)
        return Memory(inner, location=self._location, owner=False)
