"""From a description of a tool to a tool of the SDK."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, ToolAnnotations

import evomem
from evomem_mcp.envelope import Answer, success
from evomem_mcp.parameters import Parameter, input_schema, read_arguments
from evomem_mcp.refusals import refused


@dataclass(frozen=True, slots=True)
class Session:
    """What the tools work on.

    Attributes:
        memory: The handle, bound to its namespace.
        max_chars: Bound of an answer, both halves together.
    """

    memory: evomem.Memory
    max_chars: int


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool, before it is bound to a memory.

    Attributes:
        name: As published.
        title: For people.
        description: Purpose, effect, when to use it and when not.
        parameters: In the order in which they are published.
        output: JSON schema of the structured answer.
        annotations: What clients may assume of it.
        handle: Does it.
    """

    name: str
    title: str
    description: str
    parameters: Sequence[Parameter]
    output: dict[str, Any]
    annotations: ToolAnnotations
    handle: Callable[[Session, dict[str, Any]], Answer]


READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def writes(*, destructive: bool, idempotent: bool) -> ToolAnnotations:
    """Return the annotations of a tool that writes."""
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=destructive,
        idempotent_hint=idempotent,
        open_world_hint=False,
    )


class _AsGiven(FuncMetadata):
    """Hands the arguments over as they came: `read_arguments` knows better what they mean.

    The SDK's own reading drops unknown names silently and publishes optional ones as unions.
    """

    def validate_arguments(self, arguments_to_validate: dict[str, Any]) -> dict[str, Any]:
        return {"given": arguments_to_validate}


def bind(spec: ToolSpec, session: Session) -> Tool:
    """Return the tool on a memory; a plain function, so that the SDK runs it on a thread.

    Only refusals of the memory are answered here: anything else is a defect, of which the SDK
    logs the traceback and tells the client nothing but the tool's name.
    """

    def call(given: dict[str, Any]) -> CallToolResult:
        try:
            arguments, warnings = read_arguments(given, spec.parameters)
            return success(spec.handle(session, arguments), warnings)
        except evomem.EvoMemError as error:
            return refused(error, session.max_chars)

    return Tool(
        fn=call,
        name=spec.name,
        title=spec.title,
        description=spec.description,
        parameters=input_schema(spec.parameters),
        fn_metadata=_AsGiven(arg_model=ArgModelBase, output_schema=spec.output),
        is_async=False,
        context_kwarg=None,
        annotations=spec.annotations,
    )
