"""What every test starts from: no settings and no home directory of the person who runs it."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: the first example of a property pays for opening a store.
settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.load_profile("dev")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("EVOMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
