"""Every example and every block of the documentation runs and prints what it says."""

import contextlib
import io
import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "packages/core/README.md",
    "packages/langchain/README.md",
    "docs/cli.md",
    "docs/langchain.md",
    "docs/python.md",
]
RUN = "import sys; from evomem.cli.main import main; sys.argv[0] = 'evomem'; main()"

BLOCK = re.compile(
    r"^(?P<mark><!-- [^\n]* -->\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.M | re.S
)
# What is different in every run: ids and dates.
ID = re.compile(r"\b[nmpe][a-z0-9]{11}\b")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")


def blocks(page):
    text = (ROOT / page).read_text("utf-8")
    return [(match["mark"] or "", match["kind"], match["body"]) for match in BLOCK.finditer(text)]


def masked(text):
    return DATE.sub("(date)", ID.sub("(id)", text)).rstrip("\n")


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_the_python_blocks_of_a_page_run_and_print_what_follows_them(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    found = [*blocks(page), ("", "", "")]
    for (_, kind, body), (mark, following, expected) in itertools.pairwise(found):
        if kind != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(body, page, "exec"), names)  # noqa: S102  our own documentation
        if following == "text" and not mark:
            assert masked(printed.getvalue()) == masked(expected)


@pytest.mark.subprocess
@pytest.mark.parametrize("page", PAGES)
def test_the_console_blocks_of_a_page_print_what_they_show(page):
    real_ids: dict[str, str] = {}
    for _, kind, body in blocks(page):
        if kind != "console":
            continue
        for session in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, expected = session.partition("\n")
            words = shlex.split(ID.sub(lambda m: real_ids.get(m[0], m[0]), command))
            assert words[0] == "evomem"
            printed = run(*words[1:])
            assert masked(printed) == masked(expected)
            real_ids.update(zip(ID.findall(expected), ID.findall(printed), strict=True))


@pytest.mark.subprocess
def test_the_demo_prints_what_the_readme_shows():
    ((expected,),) = [
        [body for mark, _, body in blocks("README.md") if mark == "<!-- evomem demo -->\n"]
    ]
    assert masked(expected) in masked(run("demo"))


@pytest.mark.subprocess
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_an_example_prints_what_its_docstring_says(example):
    done = subprocess.run(
        [sys.executable, example], capture_output=True, check=True, encoding="utf-8"
    )
    shown = example.read_text("utf-8").split("Prints:\n\n")[1].split('"""')[0]
    expected = [line.removeprefix("    ") for line in shown.rstrip().splitlines()]
    assert done.stdout.splitlines() == expected


def test_the_readme_has_the_two_commands():
    commands = [body.strip() for _, kind, body in blocks("README.md") if kind == "sh"]
    assert commands == ["pip install uv && uv run evomem demo", "uv run pytest"]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 200
