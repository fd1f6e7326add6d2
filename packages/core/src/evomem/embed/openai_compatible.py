"""Embeddings of an OpenAI-compatible endpoint: OpenAI, Ollama, llama.cpp, vLLM and others.

`$EVOMEM_EMBEDDER_BASE_URL` and `$EVOMEM_EMBEDDER_API_KEY` say which endpoint; unset, the client's
own `$OPENAI_BASE_URL` and `$OPENAI_API_KEY` do. The key of the client is not sent to a base URL of
ours: it belongs to another endpoint.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from evomem.errors import InvalidRequestError, shown

if TYPE_CHECKING:
    from openai import OpenAI

    from evomem.embed.base import Vectors

URL_VARIABLE = "EVOMEM_EMBEDDER_BASE_URL"
KEY_VARIABLE = "EVOMEM_EMBEDDER_API_KEY"
OPENAI_URL_VARIABLE = "OPENAI_BASE_URL"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"

OPENAI = "api.openai.com/v1"
CONNECT_TIMEOUT_S = 5.0
TIMEOUT_S = 30.0
MAX_RETRIES = 1
MAX_CHARS, MAX_FOREIGN_CHARS = 8000, 2500
"""How much of a text is sent, plain or not: OpenAI refuses more than 8,192 tokens instead of cutting."""


class EndpointError(Exception):
    """The endpoint gave no embeddings; the message says where and why."""


class OpenAIEmbedder:
    """The embedder `openai:MODEL`.

    Its name holds the model and, other than for OpenAI, the endpoint: the same model name may
    mean other weights there.

    Args:
        model: As the endpoint calls it.
        base_url: Of the endpoint; None is OpenAI.
        api_key: None where the endpoint asks for none.
    """

    def __init__(self, model: str, *, base_url: str | None, api_key: str | None) -> None:
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._client: tuple[int, OpenAI] | None = None
        self._place = _place(base_url) if base_url else OPENAI
        self.name = f"openai:{model}" + (f"@{self._place}" if self._place != OPENAI else "")

    @classmethod
    def from_environment(cls, model: str) -> OpenAIEmbedder:
        """Return the embedder for the endpoint that the environment names.

        Raises:
            InvalidRequestError: The base URL is none, or OpenAI itself is meant without a key.
        """
        own_url, key = _variable(URL_VARIABLE), _variable(KEY_VARIABLE)
        base_url = own_url or _variable(OPENAI_URL_VARIABLE)
        if own_url is None:
            key = key or _variable(OPENAI_KEY_VARIABLE)
        if key is None and base_url is None:
            message = (
                f"The embedder openai:{model} needs a key for OpenAI: set {KEY_VARIABLE}. "
                f"For another endpoint set {URL_VARIABLE}."
            )
            raise InvalidRequestError(message, field="embedder")
        return cls(model, base_url=base_url, api_key=key)

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:  # noqa: ARG002 (the port's)
        """Return one vector per text.

        Raises:
            EndpointError: The endpoint gave none.
        """
        import openai

        # An empty text is refused by OpenAI, a blank is not.
        given = [_cut(text).strip() or " " for text in texts]
        try:
            answer = self._connected().embeddings.create(
                model=self._model, input=given, encoding_format="float"
            )
        except openai.OpenAIError as error:
            raise EndpointError(self._explained(error)) from error
        except ValueError as error:
            message = f"{self._place} answered something other than JSON"
            raise EndpointError(message) from error
        return _rows(answer, self._place)

    def _connected(self) -> OpenAI:
        import openai

        # Connections are not shared with a forked process.
        if self._client is None or self._client[0] != os.getpid():
            client = openai.OpenAI(
                base_url=self._base_url,
                api_key=self._api_key or "none",
                timeout=openai.Timeout(TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
                max_retries=MAX_RETRIES,
            )
            self._client = (os.getpid(), client)
        return self._client[1]

    def _explained(self, error: Exception) -> str:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return f"{self._place} did not answer within {TIMEOUT_S:g} s"
        if isinstance(error, openai.APIConnectionError):
            return f"{self._place} cannot be reached ({error.__cause__ or error})"
        said = str(error)
        if self._api_key:
            said = said.replace(self._api_key, "***")
        return f"{self._place} refused: {said}"


def _variable(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None


def _place(base_url: str) -> str:
    """Return host, port and path: the rest may be a password."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in {"http", "https"}:
        message = f"{shown(base_url)} is no base URL. It looks like http://localhost:11434/v1"
        raise InvalidRequestError(message, field="embedder")
    return f"{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def _rows(answer: object, place: str) -> list[Any]:
    """Return the vectors in the order of the texts, which `index` says."""
    items = getattr(answer, "data", None)
    if not isinstance(items, list):
        message = f"{place} answered something other than embeddings"
        raise EndpointError(message)
    if all(isinstance(getattr(item, "index", None), int) for item in items):
        items = sorted(items, key=lambda item: item.index)
    return [getattr(item, "embedding", None) for item in items]


def _cut(text: str) -> str:
    """Shorten a text; a character that is not ASCII can be three tokens."""
    return text[: MAX_CHARS if text[:MAX_CHARS].isascii() else MAX_FOREIGN_CHARS]
