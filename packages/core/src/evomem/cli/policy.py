"""`evomem policy`: what may be written, by whom and on what evidence."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated

import typer

from evomem.cli.printing import line
from evomem.cli.session import Session
from evomem.config.settings import CONFIG_VARIABLE, VERSION, Settings, load_settings
from evomem.domain.policy import Policy, TrustRule

if TYPE_CHECKING:
    from rich.console import Console

_EXAMPLE = "policy.example.yaml"


@dataclass(frozen=True, slots=True)
class Example:
    """The settings file that holds every key with its default."""

    example: str


def policy(
    ctx: typer.Context,
    example: Annotated[
        bool, typer.Option("--example", help="Print a file to begin with instead.")
    ] = False,
) -> None:
    """Print the policy in force, in the form of a settings file."""
    session: Session = ctx.obj
    if example:
        text = files("evomem").joinpath(_EXAMPLE).read_text("utf-8")
        session.answer(Example(text), lambda out, _: line(out, text.rstrip("\n")))
        return
    settings = load_settings(session.config)
    document = {"path": settings.path, "policy": _as_document(settings.policy)}
    session.answer(document, lambda out, _: _print(out, settings))


def _print(console: Console, settings: Settings) -> None:
    import yaml  # noqa: PLC0415  only who reads settings pays for it

    origin = settings.path or f"the defaults; --config or ${CONFIG_VARIABLE} names a file"
    line(console, f"# {origin}")
    document = {"version": VERSION, "policy": _as_document(settings.policy)}
    line(console, yaml.safe_dump(document, sort_keys=False, allow_unicode=True).rstrip("\n"))


def _as_document(policy: Policy) -> dict[str, object]:
    """Return a policy under the keys of a settings file."""
    return {
        "evidence": {
            "required_for": sorted(map(str, policy.evidence.required_for)),
            "roles": sorted(policy.evidence.roles),
            "max_per_patch": policy.evidence.max_per_patch,
        },
        "operations": {
            "allowed": sorted(map(str, policy.operations)),
            "max_per_patch": policy.max_operations,
        },
        "limits": {
            "max_text_bytes": policy.max_text_bytes,
            "max_event_bytes": policy.max_event_bytes,
        },
        "trust": {
            "default": str(policy.default_trust),
            "rules": [_rule(rule) for rule in policy.trust],
        },
        "permissions": {"purge": list(policy.purge), "rollback": list(policy.rollback)},
        "redaction": str(policy.redaction),
    }


def _rule(rule: TrustRule) -> dict[str, object]:
    return {
        "actor": rule.actor,
        "source": rule.source,
        "scope": rule.scope,
        "roles": sorted(rule.roles),
        "trust": str(rule.trust),
    }
