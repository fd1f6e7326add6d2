"""docs/mcp-patches.md shows what the example prints. Run this file to write it anew."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/mcp-patches.md"
EXAMPLE = ROOT / "examples/patch_conversation.py"
BEGIN = "<!-- begin: written by tests/mcp/test_patch_page.py -->\n"
END = "<!-- end -->\n"
# What is different in every run.
ID = re.compile(r"\b[nmpe][a-z0-9]{11}\b")
TIME = re.compile(r"\b20\d\d-\d\d-\d\d(?:T[\d:.]+\+00:00)?\b")
HASH = re.compile(r"\b[0-9a-f]{64}\b")


def printed():
    command = [sys.executable, str(EXAMPLE), "--full"]
    return subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout


def normalised(text):
    """Number the ids in the order in which they come, so that each still names the same thing."""
    numbers = itertools.count(1)
    names: dict[str, str] = {}

    def name(match):
        if match[0] not in names:
            names[match[0]] = f"{match[0][0]}{next(numbers)}"
        return names[match[0]]

    return HASH.sub("(hash)", TIME.sub("(time)", ID.sub(name, text))).strip()


@pytest.mark.subprocess
def test_the_page_shows_the_conversation_that_the_example_has():
    """If this fails: python tests/mcp/test_patch_page.py."""
    shown = PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0]
    assert normalised(shown) == normalised(printed())


if __name__ == "__main__":
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{printed().strip()}\n\n{END}{rest.split(END)[1]}", "utf-8")
