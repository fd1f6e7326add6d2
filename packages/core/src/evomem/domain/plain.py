"""Results as JSON values: the one form that every surface prints."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, cast

from evomem.domain.time import format_time

to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Writes JSON the one way it is stored; made once, as making an encoder costs more than using it."""

to_sorted_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""The same for what is compared as text: equal objects are written alike."""


def to_plain(value: object) -> object:
    """Turn a result into JSON values: dataclasses by field, times as ISO text."""
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Enum):  # a text to json, but a class of ours to other writers
        return value.value
    if dataclasses.is_dataclass(value):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return to_plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value


class Result:
    """A result that can be written as a JSON object."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return cast("dict[str, Any]", to_plain(self))
