"""Looking after a store: what is wrong with it, and making anew what is derived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from evomem.domain.arguments import truth
from evomem.domain.diagnosis import Check, Diagnosis, parse_anchor
from evomem.service.context import Context

_DERIVED = {
    "index": "the search index and the counts of every namespace",
    "memories": "the version, tip and latest time of every memory",
}


def doctor(context: Context, location: str, *, fix: object, anchor: object) -> Diagnosis:
    """Look at a whole store, and repair what is derived if asked.

    Args:
        context: Any handle on the store.
        location: Where its path came from.
        fix: Repair what is wrong and derived; then look again.
        anchor: `SEQUENCE:HASH` of a commit, kept since an earlier diagnosis.

    Raises:
        InvalidRequestError: The anchor is none.
        ReadOnlyError: There is something to repair in a store that was opened read-only.
    """
    repair, kept = truth(fix, "fix"), parse_anchor(anchor)
    engine = context.engine
    # Asked for first, so that the checks cover the commit that is shown.
    condition = engine.condition()
    checks = engine.diagnose(kept)
    repaired = _plan(checks) if repair else ()
    if repaired:
        engine.rebuild()
        checks = engine.diagnose(kept)
    return Diagnosis(
        ok=all(check.ok for check in checks),
        path=engine.location,
        location=location,
        **asdict(condition),
        checks=tuple(checks),
        planned=_plan(checks),
        repaired=repaired,
    )


def _plan(checks: Iterable[Check]) -> tuple[str, ...]:
    return tuple(_DERIVED[check.name] for check in checks if check.fixable and not check.ok)
