import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.cronista.base import create_cronista
from evomem.cronista.lite import MAX_CHARS, MAX_SUMMARY_CHARS, LiteCronista
from evomem.domain.extraction import FIELDS, Extraction
from evomem.errors import InvalidRequestError

MIB = 1 << 20
# Pieces that meet in ways plain random text never does.
FRAGMENTS = st.sampled_from(
    [
        "We moved the queue to Kafka",
        "because nobody watched it",
        "Tried Redis first",
        "Why:",
        "Consequences",
        "- ",
        "\n",
        "\n\n",
        ". ",
        "? ",
        "; ",
        "```",
        "`",
        "e.g. ",
        "1.2.3",
        " (a remark in brackets)",
        "因为太慢\uff0c",
        "改用 Redis。",
        "\u0130",
        "\ud83d",
        "\x00",
        "so ",
        "Alternatives: a, b",
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(FRAGMENTS, max_size=30).map("".join))


def extract(text: str) -> Extraction:
    return LiteCronista().extract([text])[0]


def test_the_factory_knows_its_names():
    assert create_cronista("lite").name == "lite/1"
    with pytest.raises(InvalidRequestError, match="lite"):
        create_cronista("light")


def test_a_story_is_told_in_its_four_fields():
    story = extract(
        "The nightly export had failed twice and nobody noticed. "
        "We looked at Airflow, which was too heavy for three jobs. "
        "All exports are run by systemd timers on host blue. "
        "Alerts must be rewritten by Friday."
    )
    assert str(story.trigger) == "The nightly export had failed twice and nobody noticed."
    assert (
        str(story.alternatives_tried) == "We looked at Airflow, which was too heavy for three jobs."
    )
    assert str(story.change) == "All exports are run by systemd timers on host blue."
    assert str(story.consequences) == "Alerts must be rewritten by Friday."


@pytest.mark.parametrize(
    ("text", "change", "trigger"),
    [
        (
            "We keep logs for seven days because the disk filled up twice.",
            "We keep logs for seven days",
            "the disk filled up twice",
        ),
        (
            "Die Sicherung läuft nur noch nachts, weil die Leitung tagsüber nicht reicht.",
            "Die Sicherung läuft nur noch nachts",
            "die Leitung tagsüber nicht reicht",
        ),
        (
            "Usamos SQLite para el catálogo porque nadie quería mantener un servidor.",
            "Usamos SQLite para el catálogo",
            "nadie quería mantener un servidor",
        ),
    ],
)
def test_a_reason_in_the_same_sentence_is_cut_off(text, change, trigger):
    story = extract(text)
    assert [str(story.change), str(story.trigger)] == [change, trigger]


@pytest.mark.parametrize(
    ("text", "change", "trigger"),
    [
        ("We picked Postgres because we like it.", "We picked Postgres", "we like it"),
        (
            "We picked Postgres for the ledger because finance wants row-level history.",
            "We picked Postgres for the ledger",
            "finance wants row-level history",
        ),
        (
            "We moved the ledger to SQLite: one writer was enough and it cost 212 EUR a month.",
            "We moved the ledger to SQLite",
            "one writer was enough and it cost 212 EUR a month",
        ),
        ("I switched to Ninja because Make is slow.", "I switched to Ninja", "Make is slow"),
        ("We adopted Ruff: flake8 took a minute.", "We adopted Ruff", "flake8 took a minute"),
        ("They moved the fair: the hall is let.", "They moved the fair", "the hall is let"),
        ("Let's use pnpm because it is faster.", "Let's use pnpm", "it is faster"),
        ("The disk was full, so we cut the logs.", "we cut the logs", "The disk was full"),
        ("As nobody read it, we dropped it.", "we dropped it", "As nobody read it"),
        ("Since prices rose, we host it.", "we host it", "Since prices rose"),
        ("We dropped IE11: nobody uses it.", "We dropped IE11", "nobody uses it"),
        ("Management cut travel: it cost too much.", "Management cut travel", "it cost too much"),
        ("For staging we use SQLite.", "For staging we use SQLite.", ""),
        ("I picked Tailwind for the page.", "I picked Tailwind for the page.", ""),
        ("Let's keep the monolith.", "Let's keep the monolith.", ""),
        ("Due to costs we cancelled Datadog.", "Due to costs we cancelled Datadog.", ""),
        ("We decided two things: logs go to Loki.", "We decided two things: logs go to Loki.", ""),
        ("Elegimos Kafka porque ya lo hay.", "Elegimos Kafka", "ya lo hay"),
        ("Hemos elegido Go porque es simple.", "Hemos elegido Go", "es simple"),
        ("Cambiamos a Vite: Webpack tardaba.", "Cambiamos a Vite", "Webpack tardaba"),
        ("Wir nutzen Go, weil es einfach ist.", "Wir nutzen Go", "es einfach ist"),
        ("Wir wechseln zu Vite: es ist schneller.", "Wir wechseln zu Vite", "es ist schneller"),
        ("Wir haben Jenkins abgeschafft.", "Wir haben Jenkins abgeschafft.", ""),
        ("Netze: Wir nehmen Pulumi, weil es passt.", "Wir nehmen Pulumi", "es passt"),
        ("2026-03-19 / ledger: moved to SQLite.", "moved to SQLite.", ""),
        ("On-call: rotation changes on Tuesday.", "rotation changes on Tuesday.", ""),
        ("Informe semanal: usaremos Spark 3.5.", "usaremos Spark 3.5.", ""),
        ("Quiet hours: 22 to 7.", "Quiet hours: 22 to 7.", ""),
    ],
)
def test_a_plain_decision_and_its_reason(text, change, trigger):
    story = extract(text)
    assert [str(story.change), str(story.trigger)] == [change, trigger]


@pytest.mark.parametrize(
    ("text", "change", "alternatives", "consequences"),
    [
        ("We compared Vite and Webpack. We chose Vite.", 1, 0, None),
        ("We chose Go. Considered Rust, but nobody knows it.", 0, 1, None),
        ("We tried Redis first. We switched to Valkey.", 1, 0, None),
        ("Elegimos Kafka. Probamos RabbitMQ, pero perdía mensajes.", 0, 1, None),
        ("We moved mail. Clients must be updated by Friday.", 0, None, 1),
        ("Wir ersetzen Pulumi. Alte Module müssen bis Mai migriert werden.", 0, None, 1),
    ],
)
def test_two_plain_sentences(text, change, alternatives, consequences):
    story, sentences = extract(text), [part.rstrip(".") for part in text.split(". ")]
    for spans, at in (
        (story.change, change),
        (story.alternatives_tried, alternatives),
        (story.consequences, consequences),
    ):
        assert str(spans).rstrip(".") == ("" if at is None else sentences[at])


@pytest.mark.parametrize(
    "text",
    [
        "Read today: three papers on overlap. Nothing decided.\n\n1. overlap 128: index 31% larger",
        "No decision yet on the database; both look fine.",
        "We have not decided yet between Postgres and SQLite.",
        "Discussed sharding. Undecided.",
        "Noch nichts entschieden: Kafka oder NATS.",
        "Talked about hosting. Noch keine Entscheidung.",
        "Aún no se ha decidido el proveedor.",
        "Hablamos del proveedor. Sin decisión.",
        "Rien de décidé pour l'hébergeur.",
        "数据库还没决定。",
        "データベースは未決定。",
    ],
)
def test_a_note_that_says_nothing_was_decided_has_no_change(text):
    assert extract(text).change == ()


def test_another_clause_may_decide_though():
    story = extract("No decision on caching. We picked Postgres for the ledger.")
    assert [str(story.change), str(story.trigger)] == ["We picked Postgres for the ledger.", ""]


@pytest.mark.parametrize(
    "text",
    [
        "Why: the pump broke.\nDecision: water by hand.\nTried: a timer.\nConsequences: more work.",
        "Grund: die Pumpe.\nBeschluss: von Hand.\nVersucht: eine Uhr.\nFolgen: mehr Arbeit.",
        "Motivo: la bomba.\nDecisión: a mano.\nProbado: un reloj.\nConsecuencias: más trabajo.",
        "原因\uff1a水泵坏了。\n决定\uff1a手动浇水。\n试过\uff1a定时器。\n影响\uff1a更多工作。",
    ],
)
def test_headings_govern_what_follows_them(text):
    story = extract(text)
    lines = text.splitlines()
    found = [story.trigger, story.change, story.alternatives_tried, story.consequences]
    for spans, line in zip(found, lines, strict=True):
        assert len(spans) == 1
        assert line.rstrip(".。").endswith(str(spans).rstrip(".。"))
        assert ":" not in str(spans)


def test_a_heading_alone_governs_the_list_below_it():
    story = extract(
        "We moved mail to Postfix.\n\n## Consequences\n\n- new MX record\n- one host less"
    )
    assert [span.text for span in story.consequences] == ["new MX record", "one host less"]


def test_alternatives_after_a_heading_are_a_list_of_names():
    story = extract("Decision: we use Vite.\nAlternatives: Webpack, plain esbuild.")
    assert [span.text for span in story.alternatives_tried] == ["Webpack", "plain esbuild"]


@pytest.mark.parametrize(
    "text",
    [
        "Should we move the ledger to SQLite?",
        "User asks whether the cache could be dropped. No answer yet.",
        "¿Deberíamos cambiar de proveedor?",
        "Sollten wir auf Vite wechseln?",
        "タイムアウトを変更しますか\uff1f",
    ],
)
def test_a_question_has_no_fields_and_its_first_sentence_as_summary(text):
    story = extract(text)
    assert all(getattr(story, name) == () for name in FIELDS)
    assert story.summary
    assert text.startswith(story.summary)


@pytest.mark.parametrize(
    "text",
    [
        "We pinned numpy 1.26.4 for all jobs.",
        "Docs live at https://docs.example.org/a.b/c now.",
        "Bring your own mug, e.g. a tin one.",
        "Der Chor probt ab dem 3. Mai im Saal.",
        "Run `make all. then wait` before each release.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(text):
    assert str(extract(text).change) == text


def test_nothing_inside_a_code_fence_is_a_field():
    story = extract("All jobs use the new runner.\n\n```\nWe moved to Jenkins. Tried cron.\n```\n")
    assert "Jenkins" not in "".join(str(getattr(story, name)) for name in FIELDS)


def test_the_summary_is_built_of_spans_and_bounded():
    story = extract("We keep logs for seven days because the disk filled up twice.")
    assert story.summary == "We keep logs for seven days; the disk filled up twice"
    long = extract("All jobs are run " + "on every single host " * 40)
    assert len(long.summary) <= MAX_SUMMARY_CHARS


def test_a_huge_text_is_analysed_in_part_and_says_so():
    text = "All exports are run by systemd timers. " + "x " * MAX_CHARS
    story = extract(text)
    assert str(MAX_CHARS) in story.warnings[0]
    assert max(span.end for name in FIELDS for span in getattr(story, name)) <= MAX_CHARS


def test_a_batch_gives_each_text_what_it_gives_alone():
    texts = ["We moved mail to Postfix.", "", "Why so slow?", "Logs stay for seven days."]
    assert LiteCronista().extract(texts) == [extract(text) for text in texts]
    assert LiteCronista().extract([]) == []


@pytest.mark.promise("fields.verbatim")
@given(TEXTS)
def test_every_span_is_verbatim_in_order_and_apart_from_the_others(text):
    story = extract(text)
    for name in FIELDS:
        spans = getattr(story, name)
        for span in spans:
            assert 0 <= span.start < span.end <= len(text)
            assert text[span.start : span.end] == span.text
            assert 0.3 <= span.confidence <= 0.9
        for before, after in pairwise(spans):
            assert before.end <= after.start
    assert story.verified(text) == story
    assert len(story.summary) <= MAX_SUMMARY_CHARS


@given(TEXTS)
def test_the_same_text_gives_the_same_story(text):
    assert LiteCronista().extract([text, text]) == [extract(text)] * 2


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "\n",
        ".",
        "!x",
        "\"'`(",
        "```\n",
        "a: ",
        " - ",
        "a. ",
        "因为\uff0c",
        " (abcdefgh",
        "- ",
        "* ",
    ],
)
def test_a_mebibyte_of_anything_is_quick(unit):
    text = unit * (MIB // len(unit))
    started = time.process_time()
    extract(text)
    # Tens of milliseconds; a pattern that backtracks takes minutes.
    assert time.process_time() - started < 2


def test_a_first_clause_that_goes_on_from_no_clause_is_read():
    assert extract("; ```\ud83d; We moved the queue to Kafka").cronista == "lite/1"
