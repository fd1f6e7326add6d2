"""Making anew what is derived and takes long, page by page: search documents and vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from evomem.domain.analysis import current
from evomem.domain.namespace import Reach
from evomem.domain.result import ReindexResult
from evomem.embed.checked import Embeddings, EmbedFailure
from evomem.service.context import Context
from evomem.service.embedding import refusal

PAGE = 16
# Nodes analysed anew in one transaction, which then takes a hundredth of a second.
_REANALYSED = 100
# How long the embedder may take for a page. Nobody waits for it, but a hang must come to an end.
PAGE_DEADLINE_S = 120.0
# After so many texts in a row, each asked for alone, it is not the texts.
_GIVES_UP = 4

OnProgress = Callable[[int, int], object]
"""Called with how many nodes are done, and how many there are; for each of the two steps anew."""


def reindex(
    context: Context, *, include_children: bool, progress: OnProgress | None
) -> ReindexResult:
    """Bring search documents up to the present text analysis, and embed what has no vector.

    Each page is a short transaction of its own: it may be stopped and begun again at any time,
    beside writers and beside others who do the same.

    Raises:
        ReadOnlyError: The store was opened read-only.
        SchemaVersionError: A newer version made the documents.
    """
    reach = Reach(context.namespace, include_children)
    report = progress or _silent
    reanalysed = _reanalysed(context, reach, report)
    embeddings = context.embeddings
    if embeddings is None:
        return ReindexResult(reanalysed)
    total = _missing(context, reach, embeddings)
    embedded, failure = 0, None
    for stored, failed in _pages(context, reach, embeddings):
        embedded += stored
        failure = failed or failure
        report(embedded, max(total, embedded))
    return ReindexResult(
        reanalysed=reanalysed,
        embedder=embeddings.name,
        embedded=embedded,
        missing=_missing(context, reach, embeddings),
        failure=failure,
    )


def _silent(_done: int, _total: int) -> None:
    """Report to nobody."""


def _reanalysed(context: Context, reach: Reach, report: OnProgress) -> int:
    """Analyse old documents anew; return of how many nodes they were."""
    with context.engine.read() as reader:
        if reader.analyses(reach) == (current().version,):
            return 0
    state = context.engine.reanalyse(reach, 1)
    before = state.done - 1
    while not state.finished:
        report(state.done, state.total)
        state = context.engine.reanalyse(reach, _REANALYSED)
    report(state.done, state.total)
    return state.total - before


def _missing(context: Context, reach: Reach, embeddings: Embeddings) -> int:
    with context.engine.read() as reader:
        return reader.missing_vectors(reach, embeddings.name)


def _pages(
    context: Context, reach: Reach, embeddings: Embeddings
) -> Iterator[tuple[int, str | None]]:
    """Embed page after page; yield how many vectors were stored, and why others were not."""
    after: str | None = None
    while True:
        with context.engine.read() as reader:
            texts = reader.unembedded(reach, embeddings.name, PAGE, after=after)
        if not texts:
            return
        vectors, failure = _vectors(embeddings, texts)
        stored = context.engine.add_vectors(embeddings.name, vectors)
        if vectors and not stored and _still_missing(context, reach, embeddings, after, vectors):
            yield 0, refusal(embeddings.name, vectors.values())
            return
        yield stored, failure
        if not vectors:
            return
        after = list(texts)[-1]


def _vectors(
    embeddings: Embeddings, texts: Mapping[str, str]
) -> tuple[dict[str, bytes], str | None]:
    """Return vectors by node; a text that the embedder cannot take does not cost the others."""
    answer = embeddings.vectors(list(texts.values()), query=False, deadline_s=PAGE_DEADLINE_S)
    if not isinstance(answer, EmbedFailure):
        return dict(zip(texts, answer, strict=True)), None
    found: dict[str, bytes] = {}
    failure, tried = answer.reason, 0
    for node_id, text in texts.items():
        one = embeddings.vectors([text], query=False, deadline_s=PAGE_DEADLINE_S)
        if isinstance(one, EmbedFailure):
            failure, tried = one.reason, tried + 1
            if tried == _GIVES_UP and not found:
                break
        else:
            found[node_id] = one[0]
    return found, failure


def _still_missing(
    context: Context,
    reach: Reach,
    embeddings: Embeddings,
    after: str | None,
    vectors: Mapping[str, bytes],
) -> bool:
    """Tell whether the store refused vectors, or another process was first."""
    with context.engine.read() as reader:
        return any(n in vectors for n in reader.unembedded(reach, embeddings.name, 1, after=after))
