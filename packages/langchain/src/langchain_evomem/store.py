"""The LangGraph store: keys are slots, a put is a new version, namespaces are child namespaces."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from langgraph.store.base import (
    NOT_PROVIDED,
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from evomem import Instant, Memory
from langchain_evomem import operations
from langchain_evomem.items import StoredItem
from langchain_evomem.namespaces import Handle, Handles, NamespaceSpec
from langchain_evomem.operations import Labels, Times


class EvoMemStore(BaseStore):
    """Long-term memory of LangGraph in which every value has a history.

    `put` on a key that has a value makes the next version; `get` and `search` answer with what is
    in force; `delete` takes the key out and keeps its history. A search ranks by the words of the
    present values, and by meaning if the memory has an embedder; it returns what matches only.

    A batch is checked whole before any of it is done. Its reads see the state before its writes;
    the last write to a key counts. The values of one namespace are written together or not at all,
    then keys are taken out one by one.

    Args:
        memory: The memory, opened with `evomem.open` or `evomem.aopen`.
        namespace: Where in the memory the store lies, if not at its root; see `Handles`.
        fields: Paths of what can be searched for in a value; None is all of it.
    """

    supports_ttl = False

    def __init__(
        self,
        memory: Handle,
        *,
        namespace: NamespaceSpec | None = None,
        fields: Sequence[str] | None = None,
    ) -> None:
        self._handles = Handles(memory, namespace)
        operations.check_index(fields)
        self._fields = fields

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations; see the class.

        Raises:
            ValueError: One of them cannot be meant; none was done.
            EvoMemError: The memory refused one.
        """
        return self._do(self._handles.of(), list(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same without blocking the event loop."""
        return await asyncio.to_thread(self._do, self._handles.of(), list(ops))

    def get(
        self,
        namespace: Labels,
        key: str,
        *,
        refresh_ttl: bool | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
    ) -> StoredItem | None:
        """Return the item of a key, or None.

        Args:
            namespace: Where it is.
            key: Its key.
            refresh_ttl: Has no effect: items do not expire.
            as_of: Return what was in force then.
            known_at: Return what was known then.
        """
        op = GetOp(operations.labels_of(namespace), str(key), bool(refresh_ttl))
        return operations.get(self._handles.of(), op, _times(as_of, known_at))

    async def aget(
        self,
        namespace: Labels,
        key: str,
        *,
        refresh_ttl: bool | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
    ) -> StoredItem | None:
        """Return the item of a key, or None; see `get`."""
        root, op = (
            self._handles.of(),
            GetOp(operations.labels_of(namespace), str(key), bool(refresh_ttl)),
        )
        return await asyncio.to_thread(operations.get, root, op, _times(as_of, known_at))

    def search(
        self,
        namespace_prefix: Labels,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002  the name is the base class's
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
    ) -> list[SearchItem]:
        """Return the items at or below a namespace: those that match, or else the latest.

        Args:
            namespace_prefix: Where to look.
            query: Plain text; None lists.
            filter: What keys of the value must be: equal, or by `$eq $ne $gt $gte $lt $lte`.
            limit: Items at most.
            offset: Items to skip.
            refresh_ttl: Has no effect: items do not expire.
            as_of: List what was in force then; not with a query.
            known_at: List what was known then; not with a query.
        """
        op = SearchOp(
            operations.labels_of(namespace_prefix), filter, limit, offset, query, bool(refresh_ttl)
        )
        return operations.search(self._handles.of(), op, _times(as_of, known_at))

    async def asearch(
        self,
        namespace_prefix: Labels,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002  the name is the base class's
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
    ) -> list[SearchItem]:
        """Return the items at or below a namespace; see `search`."""
        op = SearchOp(
            operations.labels_of(namespace_prefix), filter, limit, offset, query, bool(refresh_ttl)
        )
        root = self._handles.of()
        return await asyncio.to_thread(operations.search, root, op, _times(as_of, known_at))

    def put(
        self,
        namespace: Labels,
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
        expected_version: int | None = None,
    ) -> None:
        """Store the next version of a key.

        Args:
            namespace: Where it goes.
            key: Its key.
            value: JSON values by name; they come back equal or are refused.
            index: Paths of what can be searched for; None as the store says, False nothing.
            ttl: Only None: items do not expire.
            expected_version: Write only if the key is at this version (`StoredItem.version`), 0
                if it has no value; None writes over whatever is there.

        Raises:
            VersionConflictError: The key is at another version; nothing was written.
        """
        op = _put(namespace, key, value, index, ttl, expected_version)
        self._do(self._handles.of(), [op], expected_version)

    async def aput(
        self,
        namespace: Labels,
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
        expected_version: int | None = None,
    ) -> None:
        """Store the next version of a key; see `put`."""
        op = _put(namespace, key, value, index, ttl, expected_version)
        await asyncio.to_thread(self._do, self._handles.of(), [op], expected_version)

    def history(
        self,
        namespace: Labels,
        key: str,
        *,
        limit: int | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
    ) -> list[StoredItem]:
        """Return every value that a key had, the newest first; a deleted key keeps its history.

        Args:
            namespace: Where it is.
            key: Its key.
            limit: Versions at most; None tells all.
            as_of: Leave out what had not begun then.
            known_at: Leave out what was not known then.
        """
        op = GetOp(operations.labels_of(namespace), str(key))
        return operations.history(self._handles.of(), op, limit, _times(as_of, known_at))

    async def ahistory(
        self,
        namespace: Labels,
        key: str,
        *,
        limit: int | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
    ) -> list[StoredItem]:
        """Return every value that a key had, the newest first; see `history`."""
        root, op = self._handles.of(), GetOp(operations.labels_of(namespace), str(key))
        return await asyncio.to_thread(operations.history, root, op, limit, _times(as_of, known_at))

    def _do(self, root: Memory, ops: Sequence[Op], expected: int | None = None) -> list[Result]:
        for op in ops:
            operations.check(root, op)
        results = [_answer(root, op) for op in ops]
        puts = {(tuple(op.namespace), op.key): op for op in ops if isinstance(op, PutOp)}
        operations.write(root, puts.values(), self._fields, expected)
        return results


def _answer(root: Memory, op: Op) -> Result:
    match op:
        case GetOp():
            return operations.get(root, op)
        case SearchOp():
            return operations.search(root, op)
        case ListNamespacesOp():
            return operations.list_namespaces(root, op)
        case PutOp():
            return None


def _put(
    namespace: Labels,
    key: str,
    value: Mapping[str, Any],
    index: Literal[False] | list[str] | None,
    ttl: float | NotProvided | None,
    expected: int | None,
) -> PutOp:
    given: object = value
    if expected is not None and given is None:
        message = "expected_version is of a value that is put: it has no meaning for a deletion."
        raise ValueError(message)
    labels = operations.labels_of(namespace)
    if labels[:1] == ("langgraph",):
        message = f'Root label for namespace cannot be "langgraph". Got: {namespace}.'
        raise InvalidNamespaceError(message)
    ends = None if isinstance(ttl, NotProvided) else ttl
    return PutOp(labels, str(key), value, index=index, ttl=ends)


def _times(as_of: Instant | None, known_at: Instant | None) -> Times:
    given = {"as_of": as_of, "known_at": known_at}
    return {name: when for name, when in given.items() if when is not None}
