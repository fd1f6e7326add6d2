"""The suites of LangChain for tools, on a real memory, for each of the tools."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

import evomem
from langchain_evomem.tools import TOOLS, create_evomem_tools

EXAMPLES: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "remember": lambda node, _: {"text": "Deploys run on Tuesdays.", "supersedes": [node]},
    "recall": lambda *_: {"query": "deploys", "k": 2},
    "history": lambda node, _: {"node_id": node},
    "link": lambda node, other: {"node_id": node, "supersedes": [other]},
    "forget": lambda node, _: {"node_id": node},
}


class OnMemory:
    """A tool on a memory with two notes."""

    name: str

    @pytest.fixture(autouse=True)
    def stored(self):
        with evomem.open(":memory:", linking="off") as self.memory:
            texts = ("Deploys run on Mondays.", "Cats sleep all day.")
            self.ids = [self.memory.remember(text).node.id for text in texts]
            yield

    @property
    def tool_constructor(self):
        (tool,) = create_evomem_tools(self.memory, include=self.name)
        return tool

    @property
    def tool_invoke_params_example(self):
        return EXAMPLES[self.name](*self.ids)


def suite(name: str, base: type) -> type:
    return type(f"Test{name.title()}{base.__name__}", (OnMemory, base), {"name": name})


for tool_name in EXAMPLES:
    for standard in (ToolsUnitTests, ToolsIntegrationTests):
        made = suite(tool_name, standard)
        globals()[made.__name__] = made
del made, standard, ToolsIntegrationTests, ToolsUnitTests


def test_no_tool_is_left_out():
    assert set(EXAMPLES) == set(TOOLS)
