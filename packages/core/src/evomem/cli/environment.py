"""The environment variables that begin with EVOMEM_: which are known, and what to say of others."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

PREFIX = "EVOMEM_"
NAMESPACE_VARIABLE = "EVOMEM_NAMESPACE"
EMBEDDER_VARIABLE = "EVOMEM_EMBEDDER"
KNOWN = (
    "EVOMEM_BASE_MODEL",
    "EVOMEM_CONFIG",
    "EVOMEM_DB",
    EMBEDDER_VARIABLE,
    "EVOMEM_EMBEDDER_API_KEY",
    "EVOMEM_EMBEDDER_BASE_URL",
    "EVOMEM_LINKER_API_KEY",
    NAMESPACE_VARIABLE,
)


def unread_variables(names: Iterable[str]) -> Iterator[str]:
    """Yield a line about each variable that looks meant for EvoMem and that nothing reads."""
    for name in sorted(names):
        if name.startswith(PREFIX) and name not in KNOWN:
            near = _nearest(name)
            hint = f"did you mean {near}?" if near else f"known are {', '.join(KNOWN)}."
            yield f"{name} is not read; {hint}"


def _nearest(name: str) -> str | None:
    """Compare what follows the prefix: with it, every name would look alike."""
    known = {variable.removeprefix(PREFIX): variable for variable in KNOWN}
    given = name.removeprefix(PREFIX)
    begins = [ending for ending in known if given and given.startswith(ending)]
    begins += difflib.get_close_matches(given, known, n=1)
    return known[begins[0]] if begins else None
