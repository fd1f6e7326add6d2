import json

import pytest

import evomem_bench.retrieval.fusion
from evomem_bench.retrieval.adr import KINDS, PROJECTS, SERIES, load_adr
from evomem_bench.retrieval.cases import load_cases
from evomem_bench.retrieval.data import VARIABLE, find_data
from evomem_bench.retrieval.facts import LINKED, UNLINKED, load_facts
from evomem_bench.retrieval.fusion import run_fusion
from evomem_bench.retrieval.run import QUICK, run_retrieval
from evomem_bench.retrieval.systems import (
    FLAT,
    LEXICAL,
    RESOLVED,
    Flat,
    Store,
    find_rankings,
)

ALPHA, BETA, GAMMA = "org/alpha", "org/beta", "org/gamma#rfc"

# Group, id, title, what is decided.
DECISIONS = [
    (ALPHA, "a1", "Parcels in Postgres", "Parcels are kept in a Postgres cluster."),
    (ALPHA, "a2", "Parcels in SQLite", "Parcels are kept in one SQLite file beside the depot."),
    (ALPHA, "a3", "One nightly batch", "Invoices and labels leave in one nightly batch."),
    (ALPHA, "a4", "Labels at once", "Labels are printed as soon as a parcel is weighed."),
    (ALPHA, "a5", "Paint the vans green", "Vans are painted green."),
    (ALPHA, "a6", "Invoices weekly", "Invoices leave every Friday."),
    (BETA, "b1", "Kettles descale monthly", "Kettles are descaled every month."),
    (BETA, "b2", "Kettles descale by sensor", "A sensor tells when a kettle needs descaling."),
    (BETA, "b3", "Tea before noon", "Tea is served before noon."),
    (GAMMA, "g1", "Frames of fixed size", "A frame has sixty bytes."),
    (GAMMA, "g2", "Frames of any size", "A frame begins with its length."),
]
# Old, new, kind, shape. The last one runs against the order.
LINKS = [
    (ALPHA, "a1", "a2", "full", "one_to_one"),
    (ALPHA, "a3", "a4", "full", "split"),
    (ALPHA, "a3", "a6", "full", "split"),
    (ALPHA, "a4", "a5", "claimed", "one_to_one"),
    (GAMMA, "g1", "g2", "full", "one_to_one"),
    (BETA, "b2", "b1", "full", "one_to_one"),
]


def adr_question(group, old, new, kind, words):
    return {
        "group": group,
        "kind": kind,
        "expected_heads": [new],
        "obsolete_ids": [old],
        "question": f'What did we decide about "{words}"?',
        "question_body": f"What is our position on {words}?",
        "question_neutral": None if group == BETA else f"What holds for {words}?",
    }


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def write_adr(folder):
    blank = {"context": "", "consequences": "", "status": "superseded", "path": "secret"}
    write_lines(
        folder / "decisions.jsonl",
        [blank | {"group": g, "id": i, "title": t, "decision": d} for g, i, t, d in DECISIONS],
    )
    names = ("group", "old", "new", "kind", "shape")
    write_lines(folder / "links.jsonl", [dict(zip(names, link, strict=True)) for link in LINKS])
    asked = [(*link[:4], f"{old_title(link[1])}") for link in LINKS]
    write_lines(folder / "odr.jsonl", [adr_question(*line) for line in asked])
    groups = dict.fromkeys(group for group, *_ in DECISIONS)
    order = {name: [i for group, i, *_ in DECISIONS if group == name] for name in groups}
    write_lines(folder / "replay.jsonl", [{"group": g, "order": o} for g, o in order.items()])


def old_title(key):
    (title,) = (title for _, i, title, _ in DECISIONS if i == key)
    return title


def write_facts(path):
    # The second question's answer is contradicted later; two facts answer the third equally well.
    facts = [
        "The depot of Brasso was opened by Ada Quill.",
        "Korbin is married to Lena Moss.",
        "The depot of Brasso was opened by Tom Rusk.",
        "Korbin is married to Iva Park.",
        "Delmore lies near the town of Wick.",
        "Delmore lies near the lake of Wick.",
    ]
    single = {
        "context": "\n".join(["Facts:", *(f"{n}. {fact}" for n, fact in enumerate(facts))]),
        "questions": [
            "Who opened the depot of Brasso?",
            "Who is Korbin married to?",
            "What lies Delmore near?",
            "Who swims?",
        ],
        "answers": [["Tom Rusk"], ["Lena Moss"], ["Wick"], ["Nobody Known"]],
        "metadata": {"source": "made_sh_1k"},
    }
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([single, {"metadata": {"source": "made_mh_1k"}}]), "utf-8")


def write_cases(path):
    line: dict[str, object] = {"supersedes": None, "queries": []}
    asked = {"query": "which oven bakes the rye", "want_top": "c2", "never_active": ["c1"]}
    write_lines(
        path,
        [
            line | {"id": "c1", "text": "Rye is baked in the gas oven."},
            line | {"id": "c2", "text": "Now a stone one.", "supersedes": "c1"},
            line | {"id": "c3", "text": "Buns are baked in the gas oven.", "queries": [asked]},
        ],
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_adr(folder / "data/adr")
    write_facts(folder / "data/factconsolidation/Conflict_Resolution.json")
    write_cases(folder / "cases/notes.jsonl")
    return folder


def pool_of(pools, name):
    (found,) = (pool for pool in pools if pool.name == name)
    return found


def test_what_is_missing_is_said_with_what_to_do(data, tmp_path, monkeypatch):
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases/notes.jsonl").touch()
    with pytest.raises(SystemExit) as error:
        run_retrieval(QUICK, 1, tmp_path)
    message = str(error.value)
    assert "odr.jsonl" in message
    assert "notes.jsonl" not in message
    assert VARIABLE in message


def test_the_data_is_as_given_else_by_the_environment_else_beside_the_working_directory(
    data, tmp_path, monkeypatch
):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    assert find_data(data) == data
    monkeypatch.setenv(VARIABLE, str(data))
    assert find_data(None) == data
    monkeypatch.delenv(VARIABLE)
    (tmp_path / "repository").mkdir()
    (tmp_path / "shared").symlink_to(data)
    monkeypatch.chdir(tmp_path / "repository")
    assert find_data(None).resolve() == data.resolve()


def test_a_system_sees_what_was_decided_and_no_label(data):
    alpha = pool_of(load_adr(data), ALPHA)
    texts = {note.key: (note.subject, note.text) for note in alpha.notes}
    assert texts["a5"] == (
        "Paint the vans green",
        "Paint the vans green\n\nVans are painted green.",
    )
    assert "secret" not in str(texts)


def test_full_links_are_given_and_the_successors_of_a_split_share_a_patch(data):
    alpha = pool_of(load_adr(data), ALPHA)
    assert [[note.key for note in patch] for patch in alpha.patches] == [
        ["a1"],
        ["a2"],
        ["a3", "a5"],
        ["a4", "a6"],
    ]
    olds = {note.key: note.supersedes for note in alpha.notes if note.supersedes}
    assert olds == {"a2": ("a1",), "a4": ("a3",), "a6": ("a3",)}


def test_a_link_against_the_order_is_made_when_all_is_written(data):
    beta = pool_of(load_adr(data), BETA)
    assert beta.late == [("b1", "b2")]
    assert not any(note.supersedes for note in beta.notes)


def test_only_full_links_are_scored_and_a_kind_without_text_is_not_asked(data):
    pools = load_adr(data)
    alpha, beta = pool_of(pools, ALPHA), pool_of(pools, BETA)
    assert len(alpha.questions) == 9
    assert [question.kind for question in alpha.probes] == list(KINDS)
    assert not any(question.obsolete for question in alpha.probes)
    assert [question.kind for question in beta.questions] == ["question", "question_body"]
    assert {pool.name: pool.part for pool in pools} == {
        ALPHA: PROJECTS,
        BETA: PROJECTS,
        GAMMA: SERIES,
    }


def test_few_groups_are_the_projects_with_the_most_questions(data):
    assert [pool.name for pool in load_adr(data, groups=1)] == [ALPHA]


def test_a_fact_is_wanted_if_its_answer_is_the_last_word_and_no_other_fits_as_well(data):
    plain, linked = load_facts(data)
    (question,) = plain.questions
    assert question.wanted == {"The depot of Brasso was opened by Tom Rusk."}
    assert question.obsolete == {"The depot of Brasso was opened by Ada Quill."}
    assert (plain.part, linked.part) == (UNLINKED, LINKED)
    assert [note.key for note in linked.notes if note.supersedes] == list(question.wanted)
    assert not any(note.supersedes for note in plain.notes)


@pytest.fixture(scope="module")
def stores(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    pools = [*load_adr(data), *load_cases(data)]
    store, flat = Store(folder / "own.db", pools, [LEXICAL]), Flat(folder / "flat.db", pools)
    yield pools, store, flat
    store.close()
    flat.close()


def ask(store, pool, text):
    return store.keys(pool, store.recall(pool, text, 10))


def test_evomem_answers_with_every_head_and_flat_fts_with_what_matched(stores):
    pools, store, flat = stores
    alpha = pool_of(pools, ALPHA)
    assert set(ask(store, alpha, "nightly batch")) == {"a4", "a6"}
    assert flat.ask(alpha, "nightly batch", 10) == ["a3"]
    assert set(flat.ask_resolved(alpha, "nightly batch", 10)) == {"a4", "a6"}


def test_a_late_link_is_there_and_pools_do_not_see_each_other(stores):
    pools, store, flat = stores
    beta = pool_of(pools, BETA)
    assert ask(store, beta, "kettle sensor") == ["b1"]
    assert flat.ask_resolved(beta, "kettle sensor", 10) == ["b1"]
    assert ask(store, beta, "parcels postgres") == []
    assert flat.ask(beta, "parcels postgres", 10) == []


def test_a_match_is_told_by_the_version_that_matched(stores):
    pools, store, _ = stores
    alpha = pool_of(pools, ALPHA)
    (hit,) = store.recall(alpha, "postgres cluster", 5).hits
    answer = store.answer(alpha, hit)
    assert (answer.key, hit.node.text.split("\n")[0]) == ("a1", "Parcels in SQLite")
    assert answer.score == hit.score


@pytest.fixture(scope="module")
def rows(data):
    return json.loads(run_retrieval(QUICK, 1, data).to_json())["rows"]


def row_of(rows, system, **where):
    wanted = {"system": system, **where}
    (row,) = (row for row in rows if wanted.items() <= row.items())
    return row


def test_the_quick_run_measures_every_set_with_every_system(rows):
    sets = {(row["part"], row["set"]) for row in rows if "mrr" in row}
    assert {part for part, _ in sets} == {PROJECTS, UNLINKED, LINKED, "notes of the cases"}
    assert {kind for part, kind in sets if part == PROJECTS} == set(KINDS)
    for part, kind in sets:
        found = {row["system"] for row in rows if (row["part"], row.get("set")) == (part, kind)}
        assert found >= {FLAT, RESOLVED, LEXICAL}
    assert all(row["p50_ms"] > 0 for row in rows if "mrr" in row)


def test_the_figures_are_those_counted_by_hand(rows):
    plain = row_of(rows, LEXICAL, part=UNLINKED)
    assert (plain["n"], plain["recall@5"], plain["obsolete"]) == (1, 1.0, 1.0)
    linked = row_of(rows, LEXICAL, part=LINKED)
    assert (linked["recall@1"], linked["mrr"], linked["obsolete"]) == (1.0, 1.0, 0.0)
    cases = row_of(rows, LEXICAL, part="notes of the cases")
    assert (cases["recall@1"], cases["misled"]) == (1.0, 0.0)
    # The note in force shares no word with the question.
    flat = row_of(rows, FLAT, part="notes of the cases")
    assert (flat["recall@10"], flat["misled"], flat["obsolete"]) == (0.0, 1.0, 1.0)


def test_a_ranking_that_is_not_there_has_a_row_that_says_why(rows):
    rankings, why = find_rankings()
    assert rankings[0] == LEXICAL
    assert (len(rankings) == 1) == bool(why)
    missing = [row for row in rows if row["part"] == "not measured"]
    assert [row["reason"] for row in missing] == ([why] if why else [])


def test_the_calibration_tells_of_both_halves(rows):
    tables = [row for row in rows if row["part"].startswith("insufficient")]
    assert len({row["part"] for row in tables}) == 3
    assert {row["half"] for row in tables} == {1, 2}
    assert all(0 <= row["kept"] <= 1 and 0 <= row["recall"] <= 1 for row in tables)
    assert all(0 <= row["auc"] <= 1 for row in tables if "threshold" in row)


def test_there_is_nothing_to_fuse_without_vectors(data, monkeypatch):
    rankings = ((LEXICAL,), "no embedder here")
    monkeypatch.setattr(evomem_bench.retrieval.fusion, "find_rankings", lambda: rankings)
    with pytest.raises(SystemExit, match="no embedder here"):
        run_fusion(None, 1, data)
