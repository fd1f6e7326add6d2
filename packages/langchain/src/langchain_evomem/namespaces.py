"""Which part of a memory a run may see: a namespace made from the run's configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig, ensure_config

import evomem

Path = str | Sequence[str]
NamespaceSpec = Path | Callable[[RunnableConfig], Path]
"""Labels below the handle, such as `("users", "{user_id}")`, or what makes them from a config."""

Handle = evomem.Memory | evomem.AsyncMemory

_PLACE = re.compile(r"\{(\w+)\}")


class Handles:
    """Hands out the handle of a run: the memory itself, or a namespace below it.

    A value of the configuration fills one label and never reaches beside or above it. What a
    namespace needs and a run does not bring is an error: there is no common place to fall back to.

    Args:
        memory: The memory, opened with `evomem.open` or `evomem.aopen`.
        namespace: Labels below it, in which `{name}` stands for `configurable[name]` of the run
            or the field `name` of its context; or a function from the config to labels. None uses
            the memory itself.

    Raises:
        TypeError: `memory` is no memory.
    """

    def __init__(self, memory: Handle, namespace: NamespaceSpec | None = None) -> None:
        self._memory = _synchronous(memory)
        self._namespace = namespace

    @property
    def root(self) -> evomem.Memory:
        """The memory that all namespaces lie in."""
        return self._memory

    def of(
        self, config: RunnableConfig | None = None, values: Mapping[str, Any] | None = None
    ) -> evomem.Memory:
        """Return the handle of a run.

        Args:
            config: Of the run; None takes that of the run under way in this context.
            values: More values by name, looked at before the context of the run.

        Raises:
            InvalidRequestError: The run lacks a value, or it makes no label.
        """
        if self._namespace is None:
            return self._memory
        config = ensure_config(config)
        if callable(self._namespace):
            return self._memory.within(self._namespace(config))
        given = self._namespace
        labels = given.split("/") if isinstance(given, str) else given
        return self._memory.within([_filled(label, config, values or {}) for label in labels])


def _synchronous(memory: object) -> evomem.Memory:
    if isinstance(memory, evomem.AsyncMemory):
        return memory.memory
    if isinstance(memory, evomem.Memory):
        return memory
    message = f"memory is a {type(memory).__name__}: pass what evomem.open(...) returned."
    raise TypeError(message)


def _filled(label: str, config: RunnableConfig, values: Mapping[str, Any]) -> str:
    return _PLACE.sub(lambda place: _value(place[1], config, values), label)


def _value(name: str, config: RunnableConfig, values: Mapping[str, Any]) -> str:
    sources = (config.get("configurable", {}), values, _context())
    for source in sources:
        found = source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
        if found is not None and str(found).strip():
            return str(found)
    message = (
        f"The namespace needs {name!r}, which this run does not bring: pass "
        f"config={{'configurable': {{{name!r}: ...}}}}. Nothing was read or written."
    )
    raise evomem.InvalidRequestError(message, field="namespace", missing=name)


def _context() -> object:
    """Return the context of the LangGraph run under way, if there is one."""
    try:
        from langgraph.runtime import get_runtime  # noqa: PLC0415  comes with LangGraph only

        return getattr(get_runtime(), "context", None)
    except (ImportError, RuntimeError):
        return None
