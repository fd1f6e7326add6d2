import math
import random

import pytest

from evomem_bench.retrieval.calibration import (
    FEW,
    FEW_FOREIGN,
    FEW_OWN,
    FOREIGN,
    OWN,
    REMOVED,
    Asked,
    auc,
    plan,
    refusal,
    tables,
    threshold,
)
from evomem_bench.retrieval.fusion import Ranked, fuse, sweep
from evomem_bench.retrieval.measure import Outcome, figures, judge
from evomem_bench.retrieval.pools import Note, Pool, Question, in_patches, successors
from evomem_bench.retrieval.signals import Answer, Index


def question(text="q", wanted=(), obsolete=()):
    return Question("kind", text, frozenset(wanted), frozenset(obsolete))


def test_an_answer_is_judged_by_the_first_that_was_wanted():
    asked = question(wanted={"x", "y"}, obsolete={"old"})
    assert judge(asked, ["a", "y", "x"]) == Outcome(2, shown=False, misled=False)
    assert judge(asked, ["old", "x"]) == Outcome(2, shown=True, misled=True)
    assert judge(asked, ["a", "old"]) == Outcome(None, shown=True, misled=False)
    assert judge(asked, []) == Outcome(None, shown=False, misled=False)


def test_the_figures_are_shares_of_all_questions():
    ranks = (1, 2, 6, None)
    outcomes = [Outcome(rank, shown=rank != 1, misled=rank == 2) for rank in ranks]
    assert figures(outcomes) == {
        "n": 4,
        "recall@1": 0.25,
        "recall@5": 0.5,
        "recall@10": 0.75,
        "mrr": round((1 + 1 / 2 + 1 / 6) / 4, 4),
        "misled": 0.25,
        "obsolete": 0.75,
    }


def test_auc_is_the_share_of_pairs_in_the_right_order():
    assert auc([3, 4], [1, 2]) == 1
    assert auc([1, 2], [3, 4]) == 0
    assert auc([2, 2], [2]) == 0.5
    assert auc([1, 3], [2, 3]) == (0 + 0 + 1 + 0.5) / 4


def test_a_threshold_keeps_the_share_asked_for_and_no_more_than_it_must():
    assert threshold(range(1, 21), 0.95) == 2
    assert threshold([5.0, 1.0], 0.5) == 5.0
    assert threshold([5.0, 1.0], 1.0) == 1.0
    assert threshold([1, 1, 1, 2], 0.25) == 2


def test_a_refusal_is_told_by_what_it_keeps_and_what_it_finds():
    worth = refusal([True, True, False, False], [True, False, False, False])
    assert worth == {"kept": 0.75, "recall": 0.5, "precision": round(2 / 3, 4)}
    assert refusal([False], [False])["precision"] is None


def asked(half, case, value, *, insufficient=False):
    return Asked(half, case, {"value": value}, insufficient)


def test_a_threshold_is_that_of_the_other_half():
    half = [asked(0, OWN, value) for value in (1.0, 5.0)]
    other = [asked(1, OWN, value) for value in (3.0, 4.0)]
    foreign = [asked(0, FOREIGN, 2.0, insufficient=True), asked(0, FOREIGN, 0.0)]
    flag, signal = tables([*half, *other, *foreign])
    assert (flag["kept"], flag["recall"], flag["precision"]) == (1.0, 0.5, 1.0)
    assert signal["threshold"] == 3.0
    assert signal["auc"] == 0.75
    assert (signal["kept"], signal["recall"], signal["half"]) == (0.5, 1.0, 1)


def pool(name, size):
    notes = [Note(f"{name}{n}", f"{name} text {n}") for n in range(size)]
    replaced = Note(f"{name}-new", f"{name} text new", supersedes=(f"{name}0",))
    about = question(f"{name}?", {f"{name}-new"}, {f"{name}0"})
    return Pool("part", name, in_patches([*notes, replaced], {}), [about])


def test_the_plan_asks_each_group_its_own_and_others_and_its_own_of_what_is_left():
    trials = plan([pool("a", 8), pool("b", 8)], foreign=5, few=1, generator=random.Random(1))  # noqa: S311
    asks = {trial.pool.name: [(q.text, case) for q, case in trial.asks] for trial in trials}
    assert asks["a"] == [("a?", OWN), ("b?", FOREIGN)]
    assert asks["a, less"] == [("a?", REMOVED)]
    assert asks["a, 2"] == [("a?", FEW_OWN), ("b?", FEW_FOREIGN)]
    assert {trial.half for trial in trials} == {0, 1}
    by_name = {trial.pool.name: trial.pool for trial in trials}
    assert by_name["a, less"].keys == [f"a{n}" for n in range(1, 8)]
    few = by_name["a, 2"]
    assert len(few.notes) == FEW
    assert {"a-new", "a0"} < set(few.keys)


def test_a_link_to_a_note_left_out_is_left_out_too():
    some = pool("a", 3).only(frozenset({"a1", "a-new"}))
    assert [(note.key, note.supersedes) for note in some.notes] == [("a1", ()), ("a-new", ())]
    assert successors(some) == {}
    assert successors(pool("a", 3)) == {"a0": ["a-new"]}


def test_notes_that_replace_nothing_share_patches_of_a_bounded_size():
    notes = [Note(str(n), "text") for n in range(450)]
    assert [len(patch) for patch in in_patches(notes, {})] == [200, 200, 50]


@pytest.fixture
def index():
    notes = [Note("x", "red red boat", "red"), Note("y", "blue boat"), Note("z", "green hat")]
    return Index(Pool("part", "name", [notes], []))


def test_signals_are_those_counted_by_hand(index):
    answers = [Answer("x", 4.0), Answer("y", 1.0)]
    signals = index.signals("Red moon boat", answers)
    assert signals["share of terms"] == pytest.approx(2 / 3)
    red, moon, boat = (math.log(1 + (3 - n + 0.5) / (n + 0.5)) for n in (1, 0, 2))
    assert signals["share of idf"] == pytest.approx((red + boat) / (red + moon + boat))
    assert signals["score / idf"] == pytest.approx(4 / (red + moon + boat))
    assert signals["score / capped idf"] == pytest.approx(4 / (red + red + boat))
    assert signals["margin to the second"] == pytest.approx(0.75)


def test_saturation_counts_the_subject_twice(index):
    # Four tokens, of two and two thirds on average; red is in the text twice and in the subject.
    norm = 1.2 * (1 - 0.75 + 0.75 * 4 / (8 / 3))
    parts = [count * 2.2 / (count + norm) for count in (4, 1)]
    signals = index.signals("red boat moon", [Answer("x", 4.0)])
    assert signals["mean saturation"] == pytest.approx(sum(parts) / 3)
    red, boat = (math.log(1 + (13 - n + 0.5) / (n + 0.5)) for n in (1, 2))
    damped = (red * parts[0] + boat * parts[1]) / (red + boat + red)
    assert signals["mean saturation, by damped idf"] == pytest.approx(damped)


def test_no_answer_and_no_word_give_no_signal(index):
    assert index.signals("red", [])["share of terms"] == 0
    assert index.signals("?", [])["score"] == 0


def test_fusion_adds_reciprocal_ranks():
    assert fuse(["a", "b"], ["b", "c"], 10, 1.0) == ["b", "a", "c"]
    # 1/11 for a; 2/12 for c, 1/12 + 2/11 for b.
    assert fuse(["a", "b"], ["b", "c"], 10, 2.0) == ["b", "c", "a"]
    assert fuse(["a", "b"], ["c"], 10, 0.5) == ["a", "b", "c"]
    assert fuse([], [], 10, 1.0) == []


def test_a_setting_chosen_on_one_half_is_shown_on_the_other():
    some, others = [f"s{n}" for n in range(9)], [f"o{n}" for n in range(9)]
    ranked = [
        Ranked(question(wanted={"x"}), 0, {"lexical": some, "vector": ["x", *others]}),
        Ranked(question(wanted={"x"}), 1, {"lexical": ["x", *some], "vector": others}),
    ]
    rows = {row["system"]: row for row in sweep(ranked)}
    assert rows["lexical"]["recall@5, half 1"] == 0
    assert rows["vector"]["recall@5, half 1"] == 1
    assert rows["k=10, vector x 2"]["mrr, half 1"] == 1
    # Half of the best vector rank is less than the last of the nine lexical ones.
    assert rows["k=60, vector x 0.5"]["mrr, half 1"] == round(1 / 10, 4)
    first, second = (row for name, row in rows.items() if name.startswith("best of"))
    assert "mrr, half 1" not in first
    assert set(first) == {"part", "system", "n, half 2", "recall@5, half 2", "mrr, half 2"}
    assert second["n, half 1"] == 1
    assert len(rows) == 2 + 20 + 2
