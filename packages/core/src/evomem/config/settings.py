"""What a settings file may say, and what it means."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from evomem.config.document import Reader, Value, read_document
from evomem.domain.event import ROLES
from evomem.domain.operation import MAX_OPERATIONS
from evomem.domain.patch import Op
from evomem.domain.policy import (
    MAX_EVIDENCE,
    EvidenceRules,
    Policy,
    Redaction,
    Trust,
    TrustRule,
)
from evomem.domain.scope import parse_scope
from evomem.domain.text import MAX_TEXT_BYTES
from evomem.errors import InvalidRequestError

CONFIG_VARIABLE = "EVOMEM_CONFIG"
VERSION = 1

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a settings file says.

    Attributes:
        policy: The rules of the memory.
        path: The absolute path of the file; None if there is none.
    """

    policy: Policy = field(default_factory=Policy)
    path: str | None = None


def load_settings(path: str | os.PathLike[str] | None = None) -> Settings:
    """Read the settings file.

    Args:
        path: The file (`~` and `$VAR` are expanded). None takes `$EVOMEM_CONFIG`, else defaults.

    Raises:
        InvalidRequestError: The file cannot be read, or says something that has no meaning; the
            message and the details name file, line and key.
    """
    chosen = os.environ.get(CONFIG_VARIABLE, "").strip() if path is None else os.fspath(path)
    if path is None and not chosen:
        return Settings()
    file = str(Path(os.path.expandvars(chosen)).expanduser().absolute())
    root = read_document(file)
    read = root.fields({"version": _version, "policy": _policy}) if root else {}
    return Settings(policy=read.get("policy", Policy()), path=file)


def _version(value: Value) -> int:
    if (read := value.number(1_000_000)) != VERSION:
        problem = f"is {read}, but this EvoMem knows version {VERSION} only: upgrade EvoMem"
        value.refuse(problem)
    return read


def _policy(value: Value) -> Policy:
    read = value.fields(
        {
            "evidence": _evidence,
            "operations": _operations,
            "limits": _limits,
            "trust": _trust,
            "permissions": _permissions,
            "redaction": _redaction,
        }
    )
    operations, trust = read.pop("operations", {}), read.pop("trust", {})
    given = {
        "operations": operations.get("allowed"),
        "max_operations": operations.get("max_per_patch"),
        "default_trust": trust.get("default"),
        "trust": trust.get("rules"),
        **read.pop("limits", {}),
        **read.pop("permissions", {}),
        **read,
    }
    return Policy(**{name: item for name, item in given.items() if item is not None})


def _evidence(value: Value) -> EvidenceRules:
    return EvidenceRules(
        **value.fields(
            {
                "required_for": _ops,
                "roles": _roles,
                "max_per_patch": _up_to(MAX_EVIDENCE),
            }
        )
    )


def _operations(value: Value) -> dict[str, object]:
    return value.fields({"allowed": _ops, "max_per_patch": _up_to(MAX_OPERATIONS)})


def _limits(value: Value) -> dict[str, object]:
    size = _up_to(MAX_TEXT_BYTES)
    return value.fields({"max_text_bytes": size, "max_event_bytes": size})


def _trust(value: Value) -> dict[str, object]:
    return value.fields({"default": _one_of(Trust), "rules": _rules})


def _permissions(value: Value) -> dict[str, object]:
    return value.fields({"purge": _globs, "rollback": _globs})


def _redaction(value: Value) -> Redaction:
    # YAML 1.1 reads a bare `off` as false.
    if value.has_tag("bool") and str(value.node.value).lower() == "off":
        return Redaction.OFF
    return Redaction(value.word(Redaction))


def _rules(value: Value) -> tuple[TrustRule, ...]:
    return tuple(_rule(item) for item in value.items())


def _rule(value: Value) -> TrustRule:
    read = value.fields(
        {
            "actor": Value.text,
            "source": Value.text,
            "scope": _scope,
            "roles": _roles,
            "trust": _one_of(Trust),
        }
    )
    if "trust" not in read:
        value.refuse(f"needs the key trust, one of {', '.join(Trust)}")
    return TrustRule(**read)


def _scope(value: Value) -> str | None:
    if value.has_tag("null"):
        return None
    read = value.text()
    if "*" in read:
        value.refuse("is no glob: it covers what lies inside it; leave it out for every scope")
    try:
        return parse_scope(read)
    except InvalidRequestError as error:
        value.refuse(f"is no scope: {error.message.rstrip('.')}")


def _ops(value: Value) -> frozenset[Op]:
    return frozenset(Op(item.word(Op)) for item in value.items())


def _roles(value: Value) -> frozenset[str]:
    return frozenset(item.word(ROLES) for item in value.items())


def _globs(value: Value) -> tuple[str, ...]:
    return tuple(item.text() for item in value.items())


def _one_of(kind: type[Choice]) -> Callable[[Value], Choice]:
    return lambda value: kind(value.word(kind))


def _up_to(high: int) -> Reader:
    return lambda value: value.number(high)
