"""Which part of a memory a run may see: a namespace made from the run's configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn
from uuid import UUID

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
            or the field `name` of its context, one in a label at most; or a function from the
            config to labels, which returns a sequence where a label may hold a `/`. None uses the
            memory itself.

    Raises:
        TypeError: `memory` is no memory.
        InvalidRequestError: `namespace` cannot be meant, or would mix what belongs apart.
    """

    def __init__(self, memory: Handle, namespace: NamespaceSpec | None = None) -> None:
        self._memory = _synchronous(memory)
        self._namespace = namespace
        self._labels = () if namespace is None or callable(namespace) else _labels(namespace)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: an open memory belongs to its process."""
        message = "An open memory cannot be pickled: open it again where it is needed."
        raise TypeError(message)

    @property
    def places(self) -> frozenset[str]:
        """Names of the values that labels ask for; a function does not tell what it asks for."""
        return frozenset(name for label in self._labels for name in _PLACE.findall(label))

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
        filled = [_filled(label, config, values or {}) for label in self._labels]
        return self._memory.within(filled)


def thread_of(config: RunnableConfig) -> str | None:
    """Return the thread of a run, which is the session of what it stores."""
    thread = config.get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)


def _labels(given: Path) -> tuple[str, ...]:
    """Read labels with places in them.

    A brace that is no place would be one common label for everybody, and two places side by side
    make the same label of different values: `{a}-{b}` of `x-y, z` and of `x, y-z`.
    """
    labels = tuple(given.split("/")) if isinstance(given, str) else tuple(given)
    for label in labels or ("",):
        if not _is_label(label):
            message = (
                f"namespace={given!r}: {label!r} is no label. Use text, with one {{name}} in a "
                'label at most, for example ("users", "{user_id}").'
            )
            raise evomem.InvalidRequestError(message, field="namespace")
    return labels


def _is_label(label: object) -> bool:
    if not isinstance(label, str) or not label.strip():
        return False
    rest, places = _PLACE.subn("", label)
    return places <= 1 and not set(rest) & {"{", "}"}


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
            return _text(name, found)
    message = (
        f"The namespace needs {name!r}, which this run does not bring: pass "
        f"config={{'configurable': {{{name!r}: ...}}}}. Nothing was read or written."
    )
    raise evomem.InvalidRequestError(message, field="namespace", missing=name)


def _text(name: str, found: object) -> str:
    if isinstance(found, str | int | UUID) and not isinstance(found, bool):
        return str(found)
    message = (
        f"The namespace needs {name!r} as a text or a number; the run brings a "
        f"{type(found).__name__}. Nothing was read or written."
    )
    raise evomem.InvalidRequestError(message, field="namespace", name=name)


def _context() -> object:
    """Return the context of the LangGraph run under way, if there is one."""
    try:
        from langgraph.runtime import get_runtime  # noqa: PLC0415  comes with LangGraph only

        return getattr(get_runtime(), "context", None)
    except (ImportError, KeyError, RuntimeError):
        return None
