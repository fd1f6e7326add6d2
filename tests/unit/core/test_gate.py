import json
import time
from pathlib import Path

import pytest

import evomem

TURNS = [
    json.loads(line)
    for line in Path(__file__).with_name("turns.jsonl").read_text(encoding="utf-8").splitlines()
]
WANTED = [turn["text"] for turn in TURNS if turn["keep"]]
UNWANTED = [turn["text"] for turn in TURNS if not turn["keep"]]

CASES = {
    "the speech around it is left out": (
        "Hi there! Can you help me? Great. We moved the ledger to SQLite. Postgres cost too much. Thanks!",
        ["We moved the ledger to SQLite. Postgres cost too much."],
    ),
    "items of a list are told apart": (
        "Today:\n- We picked Stripe.\n- Is Anna in?\n- We dropped the fax.\n",
        ["We picked Stripe.", "We dropped the fax."],
    ),
    "paragraphs are told apart": (
        "We picked Stripe.\n\nThe sun is out.\n\nWe dropped the fax.",
        ["We picked Stripe.", "We dropped the fax."],
    ),
    "code is no speech": (
        "We picked uv.\n\n```sh\n# we decided to drop pip\n```\n",
        ["We picked uv."],
    ),
    "an open fence runs to the end": ("```\nWe decided to use pip.", []),
    "what is handed over is not said": (
        "Proofread this letter:\n\nWe decided to close the shop.",
        [],
    ),
    "what is taken back was not said": ("We decided to sell the house. Just kidding.", []),
    "curly apostrophes": ("We\u2019ve decided on oak.", ["We\u2019ve decided on oak."]),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("text", "stated"), CASES.values(), ids=CASES)
def test_what_is_stated_comes_verbatim(text, stated):
    found = evomem.decisions_in(text)
    assert [span.text for span in found] == stated
    assert all(span.is_in(text) for span in found)


def test_precision_and_recall_on_turns_of_conversations():
    kept = sum(bool(evomem.decisions_in(text)) for text in WANTED)
    wrong = [text for text in UNWANTED if evomem.decisions_in(text)]
    assert len(WANTED) >= 60
    assert len(UNWANTED) >= 60
    assert wrong == []
    assert kept / len(WANTED) >= 0.92


def test_precision_and_recall_on_turns_that_no_pattern_was_fitted_to():
    unseen = [turn for turn in TURNS if turn.get("unseen")]
    found = [turn["keep"] for turn in unseen if evomem.decisions_in(turn["text"])]
    assert all(found)
    assert len(found) / sum(turn["keep"] for turn in unseen) >= 0.5


@pytest.mark.parametrize("language", ["en", "es", "de"])
def test_every_language_is_heard(language):
    texts = [turn["text"] for turn in TURNS if turn["keep"] and turn["lang"] == language]
    assert sum(bool(evomem.decisions_in(text)) for text in texts) / len(texts) >= 0.85


def test_the_text_of_a_recall_is_never_taken_for_speech():
    memory = evomem.open(":memory:")
    old = memory.remember("We decided to use Postgres.\n\nFrom now on nobody uses files.").node
    memory.remember("We moved to SQLite.\n\nNever use Postgres again.", supersedes=old.id)
    recalled = memory.recall("postgres", include_history=True).to_text()
    assert "From now on" in recalled
    assert evomem.decisions_in(recalled) == ()
    assert evomem.decisions_in(f"As you told me:\n{recalled}\n") == ()
    assert [s.text for s in evomem.decisions_in(f"{recalled}\n\nWe picked Oracle.")] == [
        "We picked Oracle."
    ]


@pytest.mark.parametrize(
    "unit",
    [
        "we decided ",
        "[status: ",
        "```",
        '"we ',
        "a: b\n",
        "- x\n",
        "we don't use ",
        "wir ",
        ",",
        " ",
    ],
)
def test_the_time_grows_with_the_length_only(unit):
    text = unit * (40_000 // len(unit))
    started = time.perf_counter()
    evomem.decisions_in(text)
    assert time.perf_counter() - started < 1.0
