"""Against a real HTTP server of this process, whose answers each test chooses."""

import json
import socket
import struct
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evomem import InvalidRequestError
from evomem.embed.base import create_embedder
from evomem.embed.checked import Embeddings, EmbedFailure

KEY = "made-up-key-of-a-test"
DEADLINE_S = 20.0


class Endpoint:
    """Answers each request with what `answer` makes of its body: a status and a body."""

    def __init__(self):
        self.requests: list[Any] = []
        self.headers: list[Any] = []
        self.answer = good
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append((self.path, body))
                endpoint.headers.append(self.headers)
                status, answer = endpoint.answer(body)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                with suppress(ConnectionError):  # who asked may have given up
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.place = f"127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


def create(name):
    return create_embedder(name)


def good(body):
    return 200, embeddings([[1.0, float(len(text))] for text in body["input"]])


def embeddings(rows):
    data = [
        {"object": "embedding", "index": number, "embedding": row}
        for number, row in enumerate(rows)
    ]
    return {"object": "list", "model": "m", "data": data, "usage": {}}


@pytest.fixture
def endpoint(monkeypatch):
    endpoint = Endpoint()
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVOMEM_EMBEDDER_BASE_URL", f"http://{endpoint.place}")
    monkeypatch.setenv("EVOMEM_EMBEDDER_API_KEY", KEY)
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()


@pytest.fixture(autouse=True)
def one_try(monkeypatch):
    from evomem.embed import openai_compatible

    monkeypatch.setattr(openai_compatible, "MAX_RETRIES", 0)


def vectors(texts=("a", "bb"), deadline_s=DEADLINE_S):
    embedder = create("openai:small")
    found = Embeddings(embedder).vectors(texts, query=False, deadline_s=deadline_s)
    client = embedder._client
    if client is not None:
        client[1].close()
    return found


def unpacked(vector):
    return struct.unpack("<2f", vector)


def test_texts_go_to_the_endpoint_and_vectors_come_back(endpoint):
    found = vectors()
    assert unpacked(found[0]) == pytest.approx([0.7071, 0.7071], abs=1e-4)
    assert unpacked(found[1]) == pytest.approx([0.4472, 0.8944], abs=1e-4)
    [(path, body)] = endpoint.requests
    assert path == "/v1/embeddings"
    assert body == {"input": ["a", "bb"], "model": "small", "encoding_format": "float"}
    assert endpoint.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_vectors_are_put_in_the_order_of_the_texts(endpoint):
    def backwards(body):
        status, answer = good(body)
        answer["data"].reverse()
        return status, answer

    expected = vectors()
    endpoint.answer = backwards
    assert vectors() == expected


def test_an_empty_text_is_sent_as_a_blank_and_a_long_one_cut(endpoint):
    assert len(vectors(["", " \n", "x" * 100_000])) == 3
    assert [len(text) for text in endpoint.requests[0][1]["input"]] == [1, 1, 8000]


def test_many_texts_are_sent_in_batches(endpoint):
    assert len(vectors(["a"] * 150)) == 150
    assert [len(body["input"]) for _, body in endpoint.requests] == [64, 64, 22]


REFUSED = {"error": {"message": f"Wrong key {KEY}", "type": "auth"}}


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, embeddings([[1.0, 2.0]]), "answered 1 vectors for 2 texts"),
        (200, embeddings([[1.0, 2.0], [1.0]]), "1 numbers, not 2 as before"),
        (200, embeddings([None, None]), "answered NoneType where a list"),
        (200, embeddings([["1"], ["2"]]), "no number"),
        (200, embeddings([[0.0], [0.0]]), "but zero"),
        (200, {"data": [1, 2]}, "answered NoneType where a list"),
        (200, {"error": "no such model"}, "answered something other than embeddings"),
        (200, [1, 2], "answered something other than embeddings"),
        (200, b"<html>garbage", "answered something other than JSON"),
        (200, b"", "answered something other than JSON"),
        (400, {"error": {"message": "no such model"}}, "no such model"),
        (401, REFUSED, "refused: Error code: 401"),
        (404, b"<html>not here", "refused:"),
        (500, b"", "refused: Error code: 500"),
    ],
)
def test_every_other_answer_is_a_failure_that_says_what_came(endpoint, status, body, said):
    endpoint.answer = lambda _: (status, body)
    failure = vectors()
    assert isinstance(failure, EmbedFailure)
    assert said in failure.reason
    assert KEY not in failure.reason


def test_a_failing_endpoint_is_asked_once_more(endpoint, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("EVOMEM_EMBEDDER_BASE_URL", f"http://{endpoint.place}")
    endpoint.answer = lambda body: good(body) if len(endpoint.requests) > 1 else (500, b"")
    assert len(vectors()) == 2
    assert len(endpoint.requests) == 2


def test_a_slow_endpoint_holds_nobody(endpoint):
    released = threading.Event()

    def slow(body):
        released.wait(10)
        return good(body)

    vectors()
    endpoint.answer = slow
    begin = time.monotonic()
    failure = vectors(deadline_s=0.3)
    released.set()
    assert "did not answer within 0.3 s" in failure.reason
    assert time.monotonic() - begin < 2


def test_a_time_out_of_the_client_is_told(endpoint, monkeypatch):
    from evomem.embed import openai_compatible

    monkeypatch.setattr(openai_compatible, "TIMEOUT_S", 0.1)
    released = threading.Event()
    endpoint.answer = lambda body: good(body) if released.wait(10) else None
    assert f"{endpoint.place} did not answer within 0.1 s" in vectors().reason
    released.set()


def test_an_endpoint_that_is_not_there_is_a_failure(endpoint, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("EVOMEM_EMBEDDER_BASE_URL", f"http://127.0.0.1:{port}/v1")
    assert f"127.0.0.1:{port}/v1 cannot be reached" in vectors().reason


def test_the_name_holds_model_and_endpoint_and_no_password(endpoint, monkeypatch):
    assert create("openai:small").name == f"openai:small@{endpoint.place}"
    monkeypatch.setenv("EVOMEM_EMBEDDER_BASE_URL", "https://me:secret@host.example/v1/?key=secret")
    assert create("openai:a:b/c").name == "openai:a:b/c@host.example/v1"
    for url in ("", "https://api.openai.com/v1"):
        monkeypatch.setenv("EVOMEM_EMBEDDER_BASE_URL", url)
        assert create("openai:small").name == "openai:small"


def test_the_variables_of_the_client_count_where_ours_are_unset(endpoint, monkeypatch):
    monkeypatch.delenv("EVOMEM_EMBEDDER_BASE_URL")
    monkeypatch.delenv("EVOMEM_EMBEDDER_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://{endpoint.place}")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-client")
    assert len(vectors()) == 2
    assert endpoint.headers[0]["Authorization"] == "Bearer key-of-the-client"


def test_the_key_of_the_client_is_not_sent_to_an_endpoint_of_ours(endpoint, monkeypatch):
    monkeypatch.delenv("EVOMEM_EMBEDDER_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-client")
    assert len(vectors()) == 2
    assert endpoint.headers[0]["Authorization"] == "Bearer none"


def test_openai_itself_needs_a_key(endpoint, monkeypatch):
    monkeypatch.delenv("EVOMEM_EMBEDDER_BASE_URL")
    monkeypatch.delenv("EVOMEM_EMBEDDER_API_KEY")
    with pytest.raises(InvalidRequestError, match="set EVOMEM_EMBEDDER_API_KEY"):
        create("openai:small")


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://host/v1", "http://", "http://h:x/v1"])
def test_what_is_no_base_url_is_refused(endpoint, monkeypatch, url):
    monkeypatch.setenv("EVOMEM_EMBEDDER_BASE_URL", url)
    with pytest.raises(InvalidRequestError, match="is no base URL"):
        create("openai:small")
