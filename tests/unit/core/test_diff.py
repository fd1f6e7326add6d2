import re
import shutil
import subprocess
from collections import deque

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from evomem.domain.diff import MAX_EDITS, unified_diff

PATCH = shutil.which("patch") or ""
GIT = shutil.which("git") or ""
needs_patch = pytest.mark.skipif(not PATCH, reason="the program patch is not installed")
needs_git = pytest.mark.skipif(not GIT, reason="the program git is not installed")

# What other splitters take for the end of a line, and what looks like a part of a diff.
LINES = [
    *("", "a", "b", "a\r", "\r", "\rb", "a\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", " a", "é"),
    *("-- a", "++ b", "@@ -1 +1 @@", "\\ No newline at end of file", "DROP TABLE node;"),
]
ENDS = st.sampled_from(["", "\n"])


def texts(lines=LINES, max_size=15):
    listed = st.lists(st.sampled_from(lines), max_size=max_size)
    return st.tuples(listed.map("\n".join), ENDS).map("".join)


def split(text):
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def diff(old, new, context=3):
    return unified_diff(old, new, "a/note", "b/note", context)


def hunks(diff):
    """Read a diff strictly: where each hunk starts, and its (sign, line) pairs."""
    rest = deque(split(diff)[2:])
    while rest:
        (numbers,) = re.findall(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n$", rest.popleft())
        old, removed, new, added = (int(number or 1) for number in numbers)
        starts = (old - bool(removed), new - bool(added))
        body: list[tuple[str, str]] = []
        while removed or added or (rest and rest[0][0] == "\\"):
            line = rest.popleft()
            if line == "\\ No newline at end of file\n":
                body[-1] = (body[-1][0], body[-1][1].removesuffix("\n"))
                continue
            removed -= line[0] != "+"
            added -= line[0] != "-"
            body.append((line[0], line[1:]))
        yield *starts, body


def applied(diff, old):
    source, result, at = split(old), [], 0
    for old_start, new_start, body in hunks(diff):
        result += source[at:old_start]
        assert len(result) == new_start
        removed = [line for sign, line in body if sign != "+"]
        at = old_start + len(removed)
        assert source[old_start:at] == removed
        result += [line for sign, line in body if sign != "-"]
    return "".join(result + source[at:])


def edits(diff):
    return sum(sign != " " for _, _, body in hunks(diff) for sign, _ in body)


def fewest_edits(old, new):
    """By the table of the longest common subsequence."""
    row = [0] * (len(new) + 1)
    for line in old:
        above, row = row, [0]
        for at, other in enumerate(new):
            row.append(above[at] + 1 if line == other else max(row[at], above[at + 1]))
    return len(old) + len(new) - 2 * row[-1]


def stirred(items):
    """Shuffle with a stride that is prime to the lengths used."""
    return [items[(at + 1) * 7919 % len(items)] for at in range(len(items))]


@given(texts(), texts(), st.integers(0, 4))
@example("", "\n", 3)
@example("a", "a\n", 0)
def test_a_diff_applied_to_the_old_text_gives_the_new_one(old, new, context):
    assert applied(diff(old, new, context), old) == new


@pytest.mark.subprocess
@needs_patch
@given(texts(), texts())
@example("", "a")
@example("a\r\n", "")
@example("a", "a\n")
def test_patch_makes_the_new_text_of_the_old_one(tmp_path_factory, old, new):
    assume(old != new)
    folder = tmp_path_factory.mktemp("patch")
    (folder / "old").write_bytes(old.encode())
    command = [PATCH, "--fuzz=0", "--output=new", "old"]
    done = subprocess.run(
        command, cwd=folder, input=diff(old, new).encode(), capture_output=True, check=True
    )
    assert (folder / "new").read_bytes() == new.encode()
    assert b"offset" not in done.stdout
    assert b"fuzz" not in done.stdout


@pytest.mark.subprocess
@needs_git
@pytest.mark.parametrize("text", ["a\n", "a", "a\r\n\u2028\n\n"])
def test_git_adds_and_removes_what_there_was_not_or_is_no_more(tmp_path, text):
    def apply(change):
        command = [GIT, "apply", "--whitespace=nowarn"]
        subprocess.run(command, cwd=tmp_path, input=change.encode(), check=True)

    apply(diff(None, text))
    assert (tmp_path / "note").read_bytes() == text.encode()
    apply(diff(text, None))
    assert not (tmp_path / "note").exists()


@given(texts("abc", 30), texts("abc", 30))
@example("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n")
def test_no_diff_has_fewer_removed_and_added_lines(old, new):
    assert edits(diff(old, new)) == fewest_edits(split(old), split(new))


@given(texts("abcdefgh", 30), st.lists(st.tuples(st.integers(0, 30), st.sampled_from("aby"))))
def test_an_edited_text_has_no_more_edits_than_were_made(old, insertions):
    new = split(old + "\n")
    for at, line in insertions:
        new.insert(at, f"{line}\n")
    change = diff(old + "\n", "".join(new))
    assert edits(change) == len(insertions)


@given(texts(), texts(), st.integers(0, 4))
def test_a_hunk_shows_the_context_asked_for_and_joins_what_it_would_overlap(old, new, context):
    ends_at = 0
    for number, (start, _, body) in enumerate(hunks(diff(old, new, context))):
        signs = "".join(sign for sign, _ in body)
        lead, trail = len(signs) - len(signs.lstrip(" ")), len(signs) - len(signs.rstrip(" "))
        end = start + signs.count(" ") + signs.count("-")
        assert lead == min(context, start + lead)
        assert trail == min(context, len(split(old)) - end + trail)
        assert max(map(len, re.findall(" +", signs.strip())), default=0) <= 2 * context
        assert not number or start > ends_at
        ends_at = end


@pytest.mark.parametrize(("gap", "count"), [(2, 1), (3, 2)])
def test_hunks_that_touch_are_one(gap, count):
    kept = "same\n" * gap
    change = diff(f"a\n{kept}b\n", f"x\n{kept}y\n", context=1)
    assert len(list(hunks(change))) == count


@pytest.mark.parametrize("text", ["", "a", "a\n", None])
def test_equal_texts_have_no_diff(text):
    assert diff(text, text) == ""


def test_a_changed_line_stands_in_its_context():
    old = "".join(f"{number}\n" for number in range(1, 10))
    assert diff(old, old.replace("5", "five\nfünf")) == (
        "--- a/note\n+++ b/note\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+fünf\n 6\n 7\n 8\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "header"),
    [
        ("", "a\n", "-0,0 +1"),
        ("a\n", "", "-1 +0,0"),
        ("a\nb\n", "a\nc\nd\n", "-2 +2,2"),
        ("a\nb\n", "a\nb\nc\n", "-2,0 +3"),
        ("a\nb\nc\n", "a\nc\n", "-2 +1,0"),
        ("a\nb\n", "x\na\nb\n", "-0,0 +1"),
    ],
)
def test_a_hunk_header_counts_as_diff_does(old, new, header):
    assert f"\n@@ {header} @@\n" in diff(old, new, context=0)


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        ("a", "a\n", "-a\n\\ No newline at end of file\n+a\n"),
        ("a\n", "a", "-a\n+a\n\\ No newline at end of file\n"),
        ("a\nz", "b\nz", "-a\n+b\n z\n\\ No newline at end of file\n"),
        ("", "a", "+a\n\\ No newline at end of file\n"),
        (
            "a",
            "b",
            "-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
        ),
    ],
)
def test_a_missing_final_newline_is_marked(old, new, body):
    assert diff(old, new).partition(" @@\n")[2] == body


def test_a_carriage_return_is_part_of_the_line():
    assert diff("a\r\nb\r\n", "a\r\nb\n").endswith("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n")
    assert diff("a\rb\n", "a\rc\n").endswith("@@ -1 +1 @@\n-a\rb\n+a\rc\n")


def test_a_text_that_does_not_exist_is_dev_null():
    assert diff(None, "a\n") == "--- /dev/null\n+++ b/note\n@@ -0,0 +1 @@\n+a\n"
    assert diff("a\n", None) == "--- a/note\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"


def test_an_empty_text_exists():
    assert diff(None, "") == "--- /dev/null\n+++ b/note\n"
    assert diff("", None) == "--- a/note\n+++ /dev/null\n"
    assert diff("", "a\n").startswith("--- a/note\n+++ b/note\n")


def test_a_label_stays_on_its_line():
    change = unified_diff("a\n", "b\n", "old\n+++ x\tof\r", "new\u2028\x85", 3)
    assert change == "--- old +++ x of \n+++ new  \n@@ -1 +1 @@\n-a\n+b\n"


def test_beyond_the_bound_the_whole_middle_is_replaced():
    middle = [f"{number}\n" for number in range(2 * MAX_EDITS)]
    shuffled = stirred(middle)
    old, new = "".join(["head\n", *middle, "tail"]), "".join(["head\n", *shuffled, "tail"])
    change = diff(old, new)
    assert applied(change, old) == new
    assert edits(change) == 4 * MAX_EDITS
    assert change.endswith("\n tail\n\\ No newline at end of file\n")


def test_a_search_of_too_many_steps_is_given_up(monkeypatch):
    old, new = "".join(["b\n", *["a\n"] * 30, "c\n"]), "".join(["c\n", *["a\n"] * 30, "b\n"])
    assert edits(diff(old, new)) == 4
    monkeypatch.setattr("evomem.domain.diff.MAX_STEPS", 20)
    change = diff(old, new)
    assert applied(change, old) == new
    assert edits(change) == 64


def test_lines_of_one_text_only_do_not_count_towards_the_bound():
    old = "".join(f"kept {number}\nold {number}\n" for number in range(2 * MAX_EDITS))
    assert edits(diff(old, old.replace("old", "new"))) == 4 * MAX_EDITS


def test_a_long_line_is_one_line():
    line = "x" * (1 << 20)
    change = diff(f"a\n{line}", f"a\n{line}y")
    assert change.count("x") == 2 << 20
    assert edits(change) == 2


def test_many_lines_in_another_order_are_replaced():
    letters = ["abcdefghij\r\u2028"[number * number // 7 % 12] + "\n" for number in range(200_000)]
    change = diff("".join(letters), "".join(stirred(letters)))
    signed = split(change)[3:]
    assert [line[1:] for line in signed if line[0] != "+"] == letters
    assert [line[1:] for line in signed if line[0] != "-"] == stirred(letters)
