"""The reference pages name everything there is, and their links lead somewhere."""

import dataclasses
import re
from pathlib import Path

import pytest

import evomem
from evomem import errors
from evomem.domain.question import ListOptions, RecallOptions
from evomem.domain.request import RememberOptions
from evomem.domain.result import (
    Explanation,
    ForgetResult,
    Hit,
    LinkResult,
    Page,
    PendingReview,
    RecallResult,
    ReindexResult,
    RememberResult,
    Stats,
)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SKIPPED = {".git", ".hypothesis", ".pytest_cache", ".venv"}
PAGES = [p for p in sorted(ROOT.rglob("*.md")) if not SKIPPED.intersection(p.parts)]
RESULTS = [
    Explanation,
    ForgetResult,
    Hit,
    LinkResult,
    Page,
    PendingReview,
    RecallResult,
    ReindexResult,
    RememberResult,
    Stats,
    evomem.MemoryNode,
]
PROMISE_MARK = re.compile(r"promise\(([^)]*)\)")
QUOTED = re.compile(r"\"([a-z]+\.[a-z-]+)\"")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def words_of(page):
    return set(re.findall(r"\w+", (DOCS / page).read_text("utf-8")))


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def promise_tests():
    """Promise ids, and the folders below tests/ that carry each."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for ids in PROMISE_MARK.findall(path.read_text("utf-8")):
            for promise in QUOTED.findall(ids):
                folder = path.relative_to(ROOT / "tests").parts[0]
                found.setdefault(promise, set()).add(folder)
    return found


def table(begin, end):
    """The rows of the table between two marks, without its heading."""
    text = (DOCS / "data-model.md").read_text("utf-8").split(begin)[1].split(end)[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `")]
    return {cells[0].strip().strip("`"): cells[-1] for cells in rows}


def kept_promises():
    return table("<!-- kept -->", "<!-- /kept -->")


def test_every_public_name_is_in_the_python_reference():
    assert set(evomem.__all__) - words_of("python.md") == set()


def test_every_method_option_and_field_is_in_the_python_reference():
    names = {name for name in dir(evomem.Memory) if not name.startswith("_")}
    for options in (RememberOptions, RecallOptions, ListOptions):
        names |= options.__annotations__.keys()
    for result in RESULTS:
        names |= {field.name for field in dataclasses.fields(result)}
    assert names - words_of("python.md") == set()


def test_every_error_code_and_class_is_in_the_error_reference():
    raised = [e for e in vars(errors).values() if isinstance(e, type)]
    named = {e.__name__ for e in raised if issubclass(e, evomem.EvoMemError)}
    codes = {e.code for e in raised if issubclass(e, evomem.EvoMemError)}
    assert (named | codes) - words_of("errors.md") == set()


def test_every_promise_of_a_test_is_in_the_data_model():
    listed = set(QUOTED.findall((DOCS / "data-model.md").read_text("utf-8").replace("`", '"')))
    assert promise_tests().keys() - listed == set()


def test_every_promise_that_is_kept_has_a_test_where_the_page_says():
    carried = promise_tests()
    for promise, folders in kept_promises().items():
        named = set(re.findall(r"`(\w+)`", folders))
        assert named
        assert named <= carried.get(promise, set()), promise


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_relative_links_lead_to_a_file_and_a_heading(page):
    broken = []
    for target in LINK.findall(page.read_text("utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path) if path else page
        if not file.exists():
            broken.append(target)
        elif fragment:
            headings = {anchor(h) for h in HEADING.findall(file.read_text("utf-8"))}
            if fragment not in headings:
                broken.append(target)
    assert broken == []
